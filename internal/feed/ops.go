package feed

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/internal/jsontext"
	"github.com/agfold/agfold/state"
)

// Mode says which operations changes are made of.
type Mode uint8

// The modes.
const (
	Append  Mode = iota // those of RFC 6902, and append for strings
	RFC6902             // those of RFC 6902 alone
)

// opAppend appends the string in value to the string at path.
const opAppend state.OpKind = "append"

// ops is a JSON array of operations that is being written.
type ops struct {
	out  []byte
	mode Mode
}

// begin begins an operation, for its value to follow; end ends it.
func (o *ops) begin(kind state.OpKind, at string) {
	if o.out[len(o.out)-1] != '[' {
		o.out = append(o.out, ',')
	}
	o.out = codec.AppendString(append(o.out, '{'), "op", string(kind))
	o.out = codec.AppendString(o.out, "path", at)
}

func (o *ops) end() { o.out = append(o.out, '}') }

// put adds an operation whose value write appends.
func (o *ops) put(kind state.OpKind, at string, write func(dst []byte) []byte) {
	o.begin(kind, at)
	o.out = write(codec.AppendKey(o.out, "value"))
	o.end()
}

func (o *ops) value(kind state.OpKind, at string, v state.Value) { o.put(kind, at, v.AppendJSON) }

func (o *ops) remove(at string) {
	o.begin(state.OpRemove, at)
	o.end()
}

// text changes the string key of a place.
func (o *ops) text(at, key, older, newer string) {
	if len(older) == len(newer) && older == newer {
		return
	}
	at += key
	switch {
	case o.extends(older, newer):
		o.put(opAppend, at, func(dst []byte) []byte { return jsontext.AppendString(dst, newer[len(older):]) })
	default:
		o.put(state.OpReplace, at, func(dst []byte) []byte { return jsontext.AppendString(dst, newer) })
	}
}

// extends reports whether an append leads from older to newer. It costs nothing if they share their bytes. A text that
// ends in half of a character cannot be appended to: it is U+FFFD, or an escape of its own, on the wire.
func (o *ops) extends(older, newer string) bool {
	if o.mode != Append || !strings.HasPrefix(newer, older) {
		return false
	}
	r, size := utf8.DecodeLastRuneInString(older)
	return r != utf8.RuneError || size != 1
}

// values changes the member key of a place; an absent value is a missing member. It costs what differs.
func (o *ops) values(at, key string, older, newer state.Value) {
	if state.Same(older, newer) {
		return
	}
	at += key
	switch {
	case !older.Exists():
		o.value(state.OpAdd, at, newer)
		return
	case !newer.Exists():
		o.remove(at)
		return
	}
	o.patch(at, older, state.Diff(older, newer))
}

// patch adds the operations of a patch that [state.Diff] made for the value at a place.
func (o *ops) patch(at string, older state.Value, patch state.Patch) {
	moved := false // elements of an array have other places than in older
	for _, op := range patch {
		path := at + op.Path
		if op.Kind == state.OpRemove {
			o.remove(path)
			moved = true
			continue
		}
		if text, ok := op.Value.AsString(); ok && op.Kind == state.OpReplace && !moved {
			if was, err := older.Lookup(op.Path); err == nil {
				if before, ok := was.AsString(); ok {
					o.text(path, "", before, text)
					continue
				}
			}
		}
		moved = moved || op.Kind == state.OpAdd
		o.value(op.Kind, path, op.Value)
	}
}

// element returns the place of element i of the list at a place.
func element(list string, i int) string { return list + "/" + strconv.Itoa(i) }
