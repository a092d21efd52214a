package event

import (
	"bytes"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// Upgrader is the compatibility boundary: it converts what peers older than AG-UI 1.0 send (P-CMP-1 to 3).
// It belongs to one stream and one goroutine. The zero Upgrader is ready for use. It works on events before
// anything is judged, so it leaves alone what it does not understand.
//
// The retired THINKING_* events carry no ids. The Upgrader generates them from the id of the run and a counter of
// each such id, "<runId>-thinking-1" and so on, so that a replay gives the same ids (D-3). The counter continues
// after the ids of this form that the stream has used for reasoning messages, and after those of the messages
// that the stream follows, see [Upgrader.Follow]: an agent may give all its runs one id.
type Upgrader struct {
	runID   string
	used    map[string]int // the last number used, by run id
	history []iter.Seq2[int, *messages.Message]
	span    messages.Opt[string] // the open THINKING_START
	message messages.Opt[string] // the open THINKING_TEXT_MESSAGE_START
}

// Follow tells u which messages the thread holds before the stream, so that it generates no id that one of them
// has. It is called before the first event. The messages are iterated when the first id is generated, if one
// ever is.
func (u *Upgrader) Follow(history iter.Seq2[int, *messages.Message]) {
	u.history = append(u.history, history)
}

// Upgrade returns a stream of the events of one stream, upgraded. Errors pass through: one comes alone and
// last. Breaking off releases events; the result can be iterated as often as events can.
func Upgrade(events iter.Seq2[Event, error]) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		u := new(Upgrader)
		for ev, err := range events {
			if err == nil {
				ev = u.Upgrade(ev)
			}
			if !yield(ev, err) || err != nil {
				return
			}
		}
	}
}

// Upgrade returns ev, a Frame or a typed event, in the shape that AG-UI 1.0 gives it. What needs no
// conversion comes back as it is. What does comes back as a Frame that carries a warning for each
// conversion.
func (u *Upgrader) Upgrade(ev Event) Event {
	f, ok := ev.(Frame)
	if !ok {
		return u.upgradeTyped(ev)
	}
	p := f.p
	if p == nil || p.notice {
		return ev
	}
	switch p.typ {
	case TypeRunStarted:
		id, _ := f.text("runId")
		u.runStarted(id)
	case TypeReasoningMessageStart, TypeReasoningMessageChunk:
		if p.value.Exists() || bytes.Contains(p.data, []byte(thinking)) {
			id, _ := f.text("messageId")
			u.uses(id)
		}
	case TypeThinkingStart, TypeThinkingEnd, TypeThinkingTextMessageStart, TypeThinkingTextMessageContent,
		TypeThinkingTextMessageEnd:
		return u.upgradeFrame(f)
	}
	if !mayBeLegacy(p) {
		return ev
	}
	g := u.upgradeFrame(f)
	if g == f {
		return ev
	}
	return g
}

// mayBeLegacy reports whether the event, which is not of a retired type, has to be looked into: whether
// some member is null, or it may hold content parts or a run input with something legacy in them.
func mayBeLegacy(p *frame) bool {
	if p.found.nulls || p.value.Exists() {
		return true
	}
	switch p.typ {
	case TypeRunStarted, TypeMessagesSnapshot, TypeToolCallResult:
		return bytes.Contains(p.data, []byte("null")) || bytes.Contains(p.data, []byte("binary")) ||
			bytes.Contains(p.data, []byte(`\u`))
	}
	return false
}

func (u *Upgrader) upgradeTyped(ev Event) Event {
	switch e := ev.(type) {
	case *ReasoningMessageStart:
		if e != nil {
			u.uses(e.MessageID)
		}
	case *ReasoningMessageChunk:
		if e != nil {
			u.uses(e.MessageID.Or(""))
		}
	}
	if isNil(ev) {
		return ev
	}
	legacy := ev.Type().IsRetired() || ev.(typed).base().RawEvent.Kind() == state.KindNull
	switch e := ev.(type) {
	case *RunStarted:
		u.runStarted(e.RunID)
		legacy = legacy || e.Input != nil
	case *RunFinished:
		legacy = legacy || e.Result.Kind() == state.KindNull
	case *SubagentFinished:
		legacy = legacy || e.Result.Kind() == state.KindNull
	}
	if !legacy {
		return ev
	}
	f := FrameOfEvent(ev)
	if g := u.upgradeFrame(f); g != f {
		return g
	}
	return ev
}

func (u *Upgrader) runStarted(id string) {
	u.runID = id
	u.span, u.message = messages.Opt[string]{}, messages.Opt[string]{}
}

// thinking is the text between a run's id and the counter in the generated ids.
const thinking = "-thinking-"

func (u *Upgrader) mint() string {
	for _, history := range u.history {
		for _, m := range history {
			if m.Role == messages.RoleReasoning {
				u.uses(m.ID)
			}
		}
	}
	u.history = nil
	n := u.used[u.runID] + 1
	u.use(u.runID, n)
	return u.runID + thinking + strconv.Itoa(n)
}

// uses notes an id in use that could otherwise be generated.
func (u *Upgrader) uses(id string) {
	i := strings.LastIndex(id, thinking)
	if i < 0 {
		return
	}
	n, err := strconv.ParseInt(id[i+len(thinking):], 10, 31)
	if err == nil && int(n) > u.used[id[:i]] {
		u.use(strings.Clone(id[:i]), int(n))
	}
}

func (u *Upgrader) use(runID string, n int) {
	if u.used == nil {
		u.used = make(map[string]int)
	}
	u.used[runID] = n
}

// upgradeFrame returns f converted, f itself if there is nothing to convert.
func (u *Upgrader) upgradeFrame(f Frame) Frame {
	c := conversion{typ: f.p.name}
	was := f.Value()
	v := c.omitNull(was, "rawEvent", "")
	switch f.p.typ {
	case TypeThinkingStart:
		id := u.mint()
		u.span = messages.Some(id)
		v = c.retired(v, TypeReasoningStart, id)
		if title := v.Get("title"); title.Exists() {
			text, ok := title.AsString()
			if !ok {
				text = title.String()
			}
			c.warn("P-CMP-1", "/title", "the title "+codec.Quote(text)+" is lost: "+TypeReasoningStart.String()+" has none")
			v = v.Without("title")
		}
	case TypeThinkingEnd:
		v = c.retired(v, TypeReasoningEnd, u.open(&c, &u.span))
		u.span = messages.Opt[string]{}
	case TypeThinkingTextMessageStart:
		id := u.mint()
		u.message = messages.Some(id)
		v = c.retired(v, TypeReasoningMessageStart, id).With("role", state.String(string(messages.RoleReasoning)))
	case TypeThinkingTextMessageContent:
		v = c.retired(v, TypeReasoningMessageContent, u.open(&c, &u.message))
	case TypeThinkingTextMessageEnd:
		v = c.retired(v, TypeReasoningMessageEnd, u.open(&c, &u.message))
		u.message = messages.Opt[string]{}
	case TypeTextMessageStart:
		v = c.omitNull(v, "role", "")
	case TypeToolCallStart, TypeToolCallChunk:
		v = c.omitNull(v, "parentMessageId", "")
	case TypeRunFinished:
		v = c.omitNull(c.omitNull(v, "result", ""), "outcome", "")
	case TypeSubagentFinished:
		v = c.omitNull(v, "result", "")
	case TypeMessagesSnapshot:
		v = c.each(v, "messages", "", c.message)
	case TypeToolCallResult:
		v = c.message(v, "")
	case TypeRunStarted:
		if in := v.Get("input"); in.Exists() {
			if upgraded := c.input(in, "/input"); !state.Same(in, upgraded) {
				v = v.With("input", upgraded)
			}
		}
	}
	g := f
	if !state.Same(was, v) {
		g = f.edited(v)
	}
	return g.WithWarnings(c.warnings...)
}

// open returns the id of what a continuation or an end belongs to, a new one if nothing is open.
func (u *Upgrader) open(c *conversion, id *messages.Opt[string]) string {
	if id, ok := id.Get(); ok {
		return id
	}
	minted := u.mint()
	c.warn("P-CMP-1", "/messageId", "nothing that this could belong to was opened, so the id "+codec.Quote(minted)+
		" is made up, and the event will be rejected")
	return minted
}

// UpgradeInput returns a run input with what is legacy in it converted (P-CMP-2, P-CMP-3), v itself if
// there is nothing, and a warning for each conversion.
func UpgradeInput(v state.Value) (state.Value, []Warning) {
	c := conversion{typ: runInputName}
	return c.input(v, ""), c.warnings
}

// conversion collects the warnings about one event or run input.
type conversion struct {
	typ      string
	warnings []Warning
	more     int // conversions beyond the bound
}

func (c *conversion) warn(rule, path, text string) {
	if c.more > 0 || len(c.warnings) == defaultMaxWarnings {
		if c.more++; c.more == 1 {
			c.warnings = append(c.warnings, Warning{Rule: rule, Type: c.typ})
		}
		c.warnings[defaultMaxWarnings].Text = fmt.Sprintf("%d more were converted, which are not listed", c.more)
		return
	}
	c.warnings = append(c.warnings, Warning{Rule: rule, Type: c.typ, Path: path, Text: text})
}

// retired gives v, an event of a retired type, another type and an id.
func (c *conversion) retired(v state.Value, to Type, id string) state.Value {
	c.warn("P-CMP-1", "", "a retired type, converted to "+to.String())
	return v.With("type", state.String(to.String())).With("messageId", state.String(id))
}

// omitNull removes the member key of v, which lies at path, if it is null.
func (c *conversion) omitNull(v state.Value, key, path string) state.Value {
	if v.Get(key).Kind() != state.KindNull {
		return v
	}
	c.warn("P-CMP-2", path+"/"+key, "null is a legacy way to say that there is none: removed")
	return v.Without(key)
}

// each converts the elements of the list in the member key of v, which lies at path.
func (c *conversion) each(v state.Value, key, path string, convert func(v state.Value, path string) state.Value) state.Value {
	list := v.Get(key)
	if list.Kind() != state.KindArray {
		return v
	}
	var elements []state.Value // nil until one differs
	for i, was := range list.Elements() {
		is := was
		if was.Kind() == state.KindObject {
			is = convert(was, path+"/"+key+"/"+strconv.Itoa(i))
		}
		if elements == nil && !state.Same(was, is) {
			elements = make([]state.Value, 0, list.Len())
			for k, same := range list.Elements() {
				if k == i {
					break
				}
				elements = append(elements, same)
			}
		}
		if elements != nil {
			elements = append(elements, is)
		}
	}
	if elements == nil {
		return v
	}
	return v.With(key, state.Array(elements...))
}

func (c *conversion) input(v state.Value, path string) state.Value {
	v = c.each(v, "messages", path, c.message)
	v = c.each(v, "tools", path, func(tool state.Value, path string) state.Value {
		return c.omitNull(tool, "parameters", path)
	})
	v = c.omitNull(v, "forwardedProps", path)
	return c.each(v, "resume", path, func(entry state.Value, path string) state.Value {
		return c.omitNull(entry, "payload", path)
	})
}
