package wire

import (
	"strconv"
	"strings"

	"github.com/agfold/agfold/state"
)

// Fault says what is malformed (P-ENF-4).
type Fault struct {
	Path  string // a JSON pointer in the document
	Want  string // what belongs there, such as "a string"
	Found string // what is there, such as "null" or "nothing"
}

// Removal says what unrecognised material was left out.
type Removal struct {
	Rule string // P-ENF-2, P-ENF-3 or P-ENF-5
	Path string // a JSON pointer in the document: the place that was removed
	Text string // a sentence for people
}

// Reader reads one document. The zero Reader is ready for use, by one goroutine at a time.
type Reader struct {
	path     []step
	fault    *Fault
	removals []Removal
	gone     *unrecognised
}

// step is one token of a path: a member's key, or an element's index if the key is empty and index is not
// negative.
type step struct {
	key   string
	index int
}

// unrecognised is a value on its way outwards to a place that may be removed.
type unrecognised struct {
	rule  string
	depth int    // the length of the path of the value that was not recognised
	path  []step // that path
	value string
}

// Reset makes r ready for another document. Removals that were handed out stay valid.
func (r *Reader) Reset() { *r = Reader{path: r.path[:0]} }

// Fault returns what is malformed, nil if nothing is.
func (r *Reader) Fault() *Fault { return r.fault }

// Removals returns what was left out, in document order as far as members were asked for in that order.
func (r *Reader) Removals() []Removal { return r.removals }

// Document reads a whole document and reports whether anything is left of it: it is the outermost place
// that may be removed.
func (r *Reader) Document(read func()) (kept bool) {
	m := r.mark()
	read()
	return r.settle(m)
}

// Malformed notes that v, at the current place, is not what is wanted. The first note counts.
func (r *Reader) Malformed(want string, v state.Value) { r.fail(want, describe(v)) }

func (r *Reader) fail(want, found string) {
	if r.fault == nil {
		r.fault = &Fault{pointer(r.path), want, found}
	}
}

func (r *Reader) failAt(key, want string, v state.Value) {
	if r.fault != nil {
		return
	}
	r.push(key)
	r.Malformed(want, v)
	r.pop()
}

// unknown notes that the value of the member key of the current place is not in its closed set.
func (r *Reader) unknown(rule, key, value string) {
	if r.gone != nil {
		return
	}
	path := append(append([]step(nil), r.path...), step{key: key, index: -1})
	r.gone = &unrecognised{rule: rule, depth: len(path), path: path, value: value}
}

// mark is what was noted before a removable place is read.
type mark struct {
	fault    *Fault
	removals int
	gone     *unrecognised
}

func (r *Reader) mark() mark {
	m := mark{r.fault, len(r.removals), r.gone}
	r.gone = nil
	return m
}

// settle is called at a removable place after what it holds was read. If that is unrecognised, the place
// takes it along: what was noted inside since m is forgotten, and the place is noted as removed.
func (r *Reader) settle(m mark) (kept bool) {
	g := r.gone
	r.gone = m.gone
	if g == nil {
		return true
	}
	text := Quote(g.value) + " is not recognised"
	if inner := g.path[min(len(r.path), g.depth):]; len(inner) > 0 {
		text = pointer(inner) + " is " + Quote(g.value) + ", which is not recognised"
	}
	r.fault = m.fault
	r.removals = append(r.removals[:m.removals], Removal{g.rule, pointer(r.path), text})
	return false
}

func (r *Reader) push(key string)     { r.path = append(r.path, step{key, -1}) }
func (r *Reader) pushIndex(index int) { r.path = append(r.path, step{"", index}) }
func (r *Reader) pop()                { r.path = r.path[:len(r.path)-1] }

var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

func pointer(path []step) string {
	var b strings.Builder
	for _, s := range path {
		b.WriteByte('/')
		if s.index >= 0 {
			b.WriteString(strconv.Itoa(s.index))
		} else {
			b.WriteString(pointerEscaper.Replace(s.key))
		}
	}
	return b.String()
}

// maxQuoted bounds, in bytes, how much of a value an error or a warning shows.
const maxQuoted = 64

// Quote returns s in quotes for an error or a warning, cut short if it is long.
func Quote(s string) string {
	if len(s) > maxQuoted {
		return strconv.Quote(strings.ToValidUTF8(s[:maxQuoted], "")) + "…"
	}
	return strconv.Quote(s)
}

// describe names what v is: its kind, and for a number the number.
func describe(v state.Value) string {
	switch v.Kind() {
	case state.KindAbsent:
		return "nothing"
	case state.KindNumber:
		n, _ := v.AsNumber()
		if len(n) > maxQuoted {
			return "number " + string(n[:maxQuoted]) + "…"
		}
		return "number " + string(n)
	}
	return v.Kind().String()
}
