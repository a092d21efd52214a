package emit

import (
	"strings"
	"unicode/utf8"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

// maxDelta is the most bytes of text in one event; a longer write makes several.
const maxDelta = 1 << 20

// TextOptions configures [Scope.Text] and [Scope.Reasoning]; nil means defaults.
type TextOptions struct {
	// ID is the message's id. If it is "", or a message or call of the thread has it, an id is made.
	ID string
	// Role is the role of a text: assistant, user, system or developer. "" means assistant.
	Role messages.Role
	// Name is the name of whoever speaks in a text, "" for none.
	Name     string
	Metadata messages.Metadata
	// Chunks sends chunk events, which mean the same as start, content and end and are fewer. The message begins with the first
	// of them, or when it is closed. It is opened again if its owner does something else between two writes.
	Chunks bool
}

// A Text is a text or reasoning message that is written piece by piece: each Write is a delta. It is an io.Writer and an
// io.StringWriter, and may be used from several goroutines.
type Text struct {
	scope  *Scope
	part   part
	id     string
	o      TextOptions
	thinks bool
	told   bool // of chunks: the message has begun
	rest   []byte
}

// Text begins a text message.
func (s *Scope) Text(o *TextOptions) *Text { return s.text("message", o, false) }

// Reasoning begins a reasoning message, in a reasoning span of its own.
func (s *Scope) Reasoning(o *TextOptions) *Text { return s.text("reasoning", o, true) }

func (s *Scope) text(kind string, o *TextOptions, thinks bool) *Text {
	t := &Text{scope: s, thinks: thinks}
	if o != nil {
		t.o = *o
	}
	if !validRole(t.o.Role) {
		t.o.Role = ""
	}
	r := s.r
	r.mu.Lock()
	defer r.mu.Unlock()
	t.id = r.newID(r.ids, t.o.ID, kind)
	var first event.Event
	switch {
	case thinks:
		first = &event.ReasoningStart{Attribution: s.by(), MessageID: t.id}
	case !t.o.Chunks:
		first = &event.TextMessageStart{
			Base: event.Base{Metadata: t.o.Metadata}, Attribution: s.by(), MessageID: t.id, Role: t.role(), Name: optional(t.o.Name),
		}
	}
	if s.open(&t.part, first, t.end) == nil && thinks && !t.o.Chunks {
		_ = r.emit(&event.ReasoningMessageStart{Base: event.Base{Metadata: t.o.Metadata}, Attribution: s.by(), MessageID: t.id})
	}
	return t
}

func validRole(role messages.Role) bool {
	switch role {
	case messages.RoleAssistant, messages.RoleUser, messages.RoleSystem, messages.RoleDeveloper:
		return true
	}
	return false
}

func (t *Text) role() messages.Role {
	if t.o.Role == "" {
		return messages.RoleAssistant
	}
	return t.o.Role
}

func optional(s string) messages.Opt[string] {
	if s == "" {
		return messages.Opt[string]{}
	}
	return messages.Some(s)
}

// ID returns the message's id.
func (t *Text) ID() string { return t.id }

// Write sends a delta, more than one if p is longer than a MiB, and none if it is empty. A character that p has only the
// beginning of is held back until the rest of it is written; bytes that are not UTF-8 become U+FFFD.
func (t *Text) Write(p []byte) (int, error) { return write(t, p) }

// WriteString is Write of a string.
func (t *Text) WriteString(s string) (int, error) { return write(t, s) }

func write[P string | []byte](t *Text, p P) (int, error) {
	r := t.scope.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if t.part.isClosed() {
		return 0, r.over(&t.part)
	}
	var text string
	text, t.rest = whole(t.rest, p)
	if err := eachDelta(text, func(delta string) error { return r.emit(t.delta(delta)) }); err != nil {
		return 0, err
	}
	return len(p), nil
}

// delta returns the event that appends a text.
func (t *Text) delta(delta string) event.Event {
	by := t.scope.by()
	switch {
	case t.o.Chunks:
		return t.chunk(messages.Some(delta))
	case t.thinks:
		return &event.ReasoningMessageContent{Attribution: by, MessageID: t.id, Delta: delta}
	}
	return &event.TextMessageContent{Attribution: by, MessageID: t.id, Delta: delta}
}

// chunk returns the next chunk.
func (t *Text) chunk(delta messages.Opt[string]) event.Event {
	by, id := t.scope.by(), messages.Some(t.id)
	var base event.Base
	first := !t.told
	if first {
		t.told, base.Metadata = true, t.o.Metadata
	}
	switch {
	case t.thinks:
		return &event.ReasoningMessageChunk{Base: base, Attribution: by, MessageID: id, Delta: delta}
	case first:
		return &event.TextMessageChunk{Base: base, Attribution: by, MessageID: id, Delta: delta, Role: t.o.Role, Name: optional(t.o.Name)}
	}
	return &event.TextMessageChunk{Base: base, Attribution: by, MessageID: id, Delta: delta}
}

// begin makes sure that the message exists.
func (t *Text) begin() error {
	if t.o.Chunks && !t.told {
		return t.scope.r.emit(t.chunk(messages.Opt[string]{}))
	}
	return nil
}

// Close ends the message. Closing it again does nothing.
func (t *Text) Close() error { return t.scope.r.closePart(&t.part) }

func (t *Text) end() {
	r, by := t.scope.r, t.scope.by()
	if len(t.rest) > 0 {
		_ = r.emit(t.delta(valid(t.rest)))
	}
	_ = t.begin()
	switch {
	case !t.thinks && !t.o.Chunks:
		_ = r.emit(&event.TextMessageEnd{Attribution: by, MessageID: t.id})
	case t.thinks && !t.o.Chunks:
		_ = r.emit(&event.ReasoningMessageEnd{Attribution: by, MessageID: t.id})
	}
	if t.thinks {
		_ = r.emit(&event.ReasoningEnd{Attribution: by, MessageID: t.id})
	}
}

// Encrypted attaches an opaque value of the model's provider to the message, which goes back to the provider as it is. The
// message may be closed.
func (t *Text) Encrypted(value string) error {
	r := t.scope.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if t.part.close == nil { // never opened
		return r.over(&t.part)
	}
	if err := t.begin(); err != nil {
		return err
	}
	return r.emit(&event.ReasoningEncryptedValue{
		Attribution: t.scope.by(), Subtype: event.EncryptedMessage, EntityID: t.id, EncryptedValue: value,
	})
}

// Call begins a tool call in this message, which may be closed. The call is open in the scope that the message was
// opened in. Only a text of the assistant can hold calls; of any other message it is [Scope.Call].
func (t *Text) Call(tool string, o *CallOptions) *Call {
	if t.thinks || t.role() != messages.RoleAssistant {
		return t.scope.Call(tool, o)
	}
	return t.scope.call(tool, t, o)
}

// eachDelta calls send with a text in pieces of at most maxDelta bytes, cut between characters.
func eachDelta(text string, send func(string) error) error {
	for text != "" {
		n := len(text)
		if n > maxDelta {
			for n = maxDelta; !utf8.RuneStart(text[n]); n-- {
			}
		}
		if err := send(text[:n]); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}

// whole returns what is complete of rest and p, as valid UTF-8, and the beginning of a character that is left.
func whole[P string | []byte](rest []byte, p P) (string, []byte) {
	text := string(p)
	if len(rest) > 0 {
		text = string(rest) + text
	}
	end := len(text)
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if last := text[len(text)-n:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRuneInString(last) {
				end -= n
			}
			break
		}
	}
	return valid(text[:end]), []byte(text[end:])
}

// valid returns text with U+FFFD for each byte that is not UTF-8, as encoding does it.
func valid[P string | []byte](text P) string {
	s := string(text)
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		b.WriteRune(r)
	}
	return b.String()
}
