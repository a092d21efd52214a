package recording

import (
	"crypto/sha256"
	"encoding/binary"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// A Redactor replaces what agents and users said, so that a recording can be shown to others: texts, arguments, results,
// strings and member names of the state and of all other open values, and ids. It keeps what a fold depends on. Equal
// strings become equal ones, and those that differ stay different, if they are ASCII; the length in characters, upper
// and lower case, digits, spaces and punctuation stay; JSON stays JSON of the same shape; a text becomes the same
// whether it is streamed or restated by a snapshot.
//
// What stays: numbers, true, false and null, the names of tools, steps, activity types, subagents and custom events, the
// codes of errors, the reasons and dates of interrupts, media types, models and providers. So does the shape of texts:
// two that begin alike still do.
//
// Who does not know the key cannot undo it. With the same key the same is replaced by the same. A Redactor is for one
// goroutine at a time.
type Redactor struct {
	key   [sha256.Size]byte
	texts map[entity]*cipher
	lanes map[lane]string
}

// lane is where chunks without an id belong (P-CHK-1).
type lane struct {
	kind  messages.Kind
	owner messages.Owner
}

// NewRedactor returns a Redactor with a key, which should be random unless the result must be repeatable.
func NewRedactor(key []byte) *Redactor {
	return &Redactor{key: sha256.Sum256(key), texts: make(map[entity]*cipher), lanes: make(map[lane]string)}
}

// Entries yields the entries redacted. The texts of errors that streams ended with are redacted too.
func (r *Redactor) Entries(entries iter.Seq2[Entry, error]) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for e, err := range entries {
			switch {
			case err != nil:
			case e.Head != nil:
				head := *e.Head
				head.Input, head.Warnings = r.Input(head.Input), nil
				e.Head = &head
				clear(r.texts)
				clear(r.lanes)
			case e.Err != nil:
				if failed, ok := e.Err.(*StreamError); ok {
					e.Err = &StreamError{Text: r.string(failed.Text), Truncated: failed.Truncated}
				}
			default:
				e.Event = r.Frame(e.Event)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// Input returns a run input redacted; nil of nil.
func (r *Redactor) Input(in *event.RunInput) *event.RunInput {
	if in == nil {
		return nil
	}
	v, err := state.ParseDepth(in.AppendJSON(nil), state.DefaultMaxDepth+8)
	if err != nil {
		return nil
	}
	redacted, _, err := event.DecodeRunInput(r.object(v, ""), nil)
	if err != nil {
		return nil
	}
	return redacted
}

// Frame returns an event redacted. Deltas are redacted as parts of their texts, so the events of a stream must be
// given in their order.
func (r *Redactor) Frame(f event.Frame) event.Frame {
	if f.Err() != nil {
		var framer event.Framer
		return framer.Frame([]byte(r.string(string(f.Data()))))
	}
	if f.IsNotice() {
		return f
	}
	v := f.Value()
	out := r.object(v, "")
	if delta, ok := v.Get("delta").AsString(); ok {
		out = out.With("delta", state.String(r.delta(f, v, delta)))
	}
	r.ended(f, v)
	redacted, err := event.FrameOf(out)
	if err != nil {
		return f.With("type", state.String(f.TypeName()))
	}
	return redacted
}

// delta redacts a piece of a text or of arguments.
func (r *Redactor) delta(f event.Frame, v state.Value, delta string) string {
	kind, member := messages.KindNone, "toolCallId"
	switch f.Type() {
	case event.TypeTextMessageContent, event.TypeTextMessageChunk:
		kind, member = messages.KindText, "messageId"
	case event.TypeReasoningMessageContent, event.TypeReasoningMessageChunk:
		kind, member = messages.KindReasoning, "messageId"
	case event.TypeToolCallArgs, event.TypeToolCallChunk:
	default:
		return r.string(delta)
	}
	at := lane{kind, f.Owner()}
	id, named := v.Get(member).AsString()
	if !named {
		id = r.lanes[at]
	} else if f.Type() == event.TypeTextMessageChunk || f.Type() == event.TypeReasoningMessageChunk || f.Type() == event.TypeToolCallChunk {
		if last, ok := r.lanes[at]; ok && last != id {
			delete(r.texts, entity{kind, last})
		}
		r.lanes[at] = id
	}
	key := entity{kind, id}
	c := r.texts[key]
	if c == nil {
		c = r.cipher(kind == messages.KindNone)
		r.texts[key] = c
	}
	return c.next(delta)
}

// ended forgets a text that is complete.
func (r *Redactor) ended(f event.Frame, v state.Value) {
	kind, member := messages.KindText, "messageId"
	switch f.Type() {
	case event.TypeTextMessageEnd:
	case event.TypeReasoningMessageEnd:
		kind = messages.KindReasoning
	case event.TypeToolCallEnd:
		kind, member = messages.KindNone, "toolCallId"
	case event.TypeRunStarted:
		clear(r.texts)
		clear(r.lanes)
		return
	default:
		return
	}
	id, _ := v.Get(member).AsString()
	delete(r.texts, entity{kind, id})
}

// kept are the members of protocol objects whose strings say nothing about people, and on which a fold depends.
var kept = map[string]bool{
	"type": true, "role": true, "op": true, "subtype": true, "status": true, "protocolVersion": true, "mimeType": true,
	"toolCallName": true, "stepName": true, "activityType": true, "code": true, "reason": true, "expiresAt": true,
	"provider": true, "model": true,
}

// open are the members that hold any JSON value.
var open = map[string]bool{
	"snapshot": true, "value": true, "event": true, "rawEvent": true, "result": true, "metadata": true, "state": true,
	"forwardedProps": true, "payload": true, "responseSchema": true, "parameters": true,
}

// object redacts an object that the protocol describes, or a list of them. in is the member that holds it.
func (r *Redactor) object(v state.Value, in string) state.Value {
	switch v.Kind() {
	case state.KindString:
		s, _ := v.AsString()
		return state.String(r.string(s))
	case state.KindArray:
		var items []state.Value
		for _, item := range v.Elements() {
			items = append(items, r.object(item, in))
		}
		return state.Array(items...)
	case state.KindObject:
	default:
		return v
	}
	var members []state.Member
	for key, value := range v.Members() {
		s, isString := value.AsString()
		switch {
		case isString && (kept[key] || key == "name" && namesThing(v, in)):
		case key == "metadata":
			value = r.metadata(value)
		case isString && (key == "path" || key == "from") && v.Get("op").Exists():
			value = state.String(r.pointer(s))
		case isString && key == "arguments", isString && key == "content" && looksLikeJSON(s):
			value = state.String(r.cipher(true).next(s))
		case open[key], key == "content" && value.Kind() == state.KindObject:
			value = r.any(value)
		default:
			value = r.object(value, key)
		}
		members = append(members, state.Member{Key: key, Value: value})
	}
	return state.Object(members...)
}

// namesThing reports whether the member name of an object is that of a tool, a subagent or a custom event, not of a person.
func namesThing(v state.Value, in string) bool {
	typ, _ := v.Get("type").AsString()
	return in == "function" || in == "tools" || typ == "CUSTOM" || typ == "SUBAGENT_STARTED"
}

// looksLikeJSON reports whether a text is a JSON object or array, as tool results often are.
func looksLikeJSON(s string) bool {
	s = strings.TrimSpace(s)
	if !strings.HasPrefix(s, "{") && !strings.HasPrefix(s, "[") {
		return false
	}
	_, err := state.Parse([]byte(s))
	return err == nil
}

const clientMember = "@ag-ui/client"

// metadata is any for metadata, of which the fold reads one member (P-MSG-2).
func (r *Redactor) metadata(v state.Value) state.Value {
	out := r.any(v)
	if own := v.Get(clientMember); own.Exists() {
		out = out.With(r.string(clientMember), state.Value{}).With(clientMember, own)
	}
	return out
}

// any redacts any JSON value.
func (r *Redactor) any(v state.Value) state.Value {
	switch v.Kind() {
	case state.KindString:
		s, _ := v.AsString()
		return state.String(r.string(s))
	case state.KindArray:
		var items []state.Value
		for _, item := range v.Elements() {
			items = append(items, r.any(item))
		}
		return state.Array(items...)
	case state.KindObject:
		var members []state.Member
		for key, value := range v.Members() {
			members = append(members, state.Member{Key: r.name(key), Value: r.any(value)})
		}
		return state.Object(members...)
	}
	return v
}

// name redacts the name of a member. One that could be an index of an array stays, because a pointer does not say which
// of the two it means.
func (r *Redactor) name(key string) string {
	if _, err := strconv.ParseUint(key, 10, 20); err == nil || key == "-" {
		return key
	}
	return r.string(key)
}

// pointer redacts the names in a JSON pointer.
func (r *Redactor) pointer(p string) string {
	tokens := strings.Split(p, "/")
	for i, token := range tokens {
		if i > 0 {
			name := r.name(strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
			tokens[i] = strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
		}
	}
	return strings.Join(tokens, "/")
}

// string redacts a whole string.
func (r *Redactor) string(s string) string { return r.cipher(false).next(s) }

// cipher returns one for the beginning of a text, or of a text in JSON.
func (r *Redactor) cipher(json bool) *cipher { return &cipher{r: r, state: r.key, json: json} }

// cipher replaces the characters of a text one by one. What takes a character's place depends on the key and on all
// characters before it, so a text can be redacted piece by piece.
type cipher struct {
	r     *Redactor
	state [sha256.Size]byte // after the characters so far
	json  bool              // only what is in strings is replaced
	in    bool              // a string of the JSON text
	esc   int               // characters of an escape that are still to come; -1: the one after the backslash
}

func (c *cipher) next(s string) string {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		ch, n := utf8.DecodeRuneInString(s[i:])
		if ch == utf8.RuneError && n == 1 && i+3 <= len(s) && s[i] == 0xED { // half of a surrogate pair
			n = 3
		}
		i += n
		if c.json {
			out = c.token(out, ch)
		} else {
			out = utf8.AppendRune(out, c.replace(ch))
		}
	}
	return string(out)
}

// token replaces a character of a JSON text.
func (c *cipher) token(out []byte, ch rune) []byte {
	switch {
	case c.esc == -1:
		c.esc = 0
		if ch == 'u' {
			c.esc = 4
		}
		return utf8.AppendRune(out, ch)
	case c.esc > 0: // any escaped character becomes an x
		out = append(out, "0078"[4-c.esc])
		c.esc--
		if c.esc == 0 {
			c.advance(ch)
		}
		return out
	case !c.in:
		if c.in = ch == '"'; c.in {
			c.state = c.r.key
		}
		return utf8.AppendRune(out, ch)
	case ch == '"':
		c.in = false
		return append(out, '"')
	case ch == '\\':
		c.esc = -1
		return append(out, '\\')
	}
	return utf8.AppendRune(out, c.replace(ch))
}

// replace returns what takes a character's place.
func (c *cipher) replace(ch rune) rune {
	by := binary.LittleEndian.Uint32(c.state[:])
	c.advance(ch)
	shift := func(first, count uint32) rune { // never by nothing
		return rune(first + (uint32(ch)-first+1+by%(count-1))%count)
	}
	switch {
	case ch >= 'a' && ch <= 'z':
		return shift('a', 26)
	case ch >= 'A' && ch <= 'Z':
		return shift('A', 26)
	case ch >= '0' && ch <= '9':
		return shift('0', 10)
	case ch < utf8.RuneSelf:
		return ch
	}
	return rune(0xE0 + (by^uint32(ch))%23) // à to ö
}

func (c *cipher) advance(ch rune) {
	var block [sha256.Size + 4 + 16]byte // hashed as one block
	copy(block[:], c.state[:])
	binary.LittleEndian.PutUint32(block[sha256.Size:], uint32(ch))
	copy(block[sha256.Size+4:], c.r.key[:])
	c.state = sha256.Sum256(block[:])
}
