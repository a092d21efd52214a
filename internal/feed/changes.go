package feed

import (
	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// AppendChanges appends the operations that turn the view of older into the view of newer, a JSON array. The two are
// snapshots of one conversation, in either order. The cost depends on what differs, but: the arguments of a call that
// changed are read again, what a message or run that changed has besides its texts, calls and steps is encoded
// again, and a change of subagents takes a pass over them.
func AppendChanges(dst []byte, older, newer Snapshot, mode Mode) []byte {
	o := ops{out: append(dst, '['), mode: mode}
	a, b := older.thread(), newer.thread()
	c := b.ChangesSince(a)
	if a.ID != b.ID || len(c.Runs) > 0 || c.RunsGone > 0 || c.Interrupts {
		o.values("", "", head(a), head(b))
	}
	o.values("/phase", "", phase(older), phase(newer))
	if !sameQueue(older.Queued, newer.Queued) {
		o.values("/queued", "", queue(older.Queued), queue(newer.Queued))
	}
	o.rows(&c, b)
	shift := c.Rows.Inserted - c.Rows.Removed
	for _, i := range c.Messages {
		was := i
		if i >= c.Rows.At {
			was -= shift
		}
		o.message(element("/messages", i), a.Messages.At(was), b.Messages.At(i))
	}
	if b.State.Exists() {
		o.patch("/state", orEmpty(a.State), c.State)
	} else {
		o.values("/state", "", orEmpty(a.State), state.Object())
	}
	o.runs(&c, a, b)
	if len(c.Subagents) > 0 || c.SubagentsGone > 0 {
		o.subagents(a.Subagents, b.Subagents)
	}
	return append(o.out, ']')
}

func phase(s Snapshot) state.Value {
	if s.Phase == "" {
		return state.Value{}
	}
	return state.String(s.Phase)
}

func queue(list []*messages.Message) state.Value {
	items := make([]state.Value, len(list))
	for i, m := range list {
		items[i] = parse(m.AppendJSON(nil))
	}
	return state.Array(items...)
}

func orEmpty(v state.Value) state.Value {
	if !v.Exists() {
		return state.Object()
	}
	return v
}

// rows removes and adds messages.
func (o *ops) rows(c *reducer.Changes, newer *reducer.Thread) {
	at := element("/messages", c.Rows.At)
	for range c.Rows.Removed {
		o.remove(at)
	}
	for i := range c.Rows.Inserted {
		i += c.Rows.At
		o.put(state.OpAdd, element("/messages", i), func(dst []byte) []byte { return appendMessage(dst, newer.Messages.At(i)) })
	}
}

// message changes a message into another one with its key.
func (o *ops) message(at string, a, b *messages.Message) {
	if a.Role != b.Role {
		o.put(state.OpReplace, at, func(dst []byte) []byte { return appendMessage(dst, b) })
		return
	}
	if a.ID != b.ID || a.Owner != b.Owner || a.Name != b.Name || a.ToolCallID != b.ToolCallID || a.Error != b.Error ||
		a.ActivityType != b.ActivityType || a.EncryptedValue != b.EncryptedValue {
		o.values(at, "", bareMessage(a), bareMessage(b))
	}
	if a.Role == messages.RoleActivity {
		o.values(at, "/content", a.Activity, b.Activity)
	} else {
		o.content(at, a.Content, b.Content)
	}
	o.values(at, "/metadata", a.Metadata.Value(), b.Metadata.Value())
	o.text(at, "/status", messageStatus(a), messageStatus(b))
	if a.Role == messages.RoleAssistant && !messages.Same(a.ToolCalls, b.ToolCalls) {
		o.calls(at+"/toolCalls", a.ToolCalls, b.ToolCalls)
	}
}

// bareMessage returns the message without what grows: that is compared by itself.
func bareMessage(m *messages.Message) state.Value {
	bare := *m
	bare.Content, bare.Activity, bare.Metadata = messages.Content{}, state.Value{}, messages.Metadata{}
	bare.ToolCalls = messages.List[*messages.ToolCall]{}
	return parse(bare.AppendJSON(nil))
}

func (o *ops) content(at string, a, b messages.Content) {
	if !a.IsParts() && !b.IsParts() && a.Exists() && b.Exists() {
		o.text(at, "/content", a.Text(), b.Text())
		return
	}
	at += "/content"
	switch {
	case !a.Exists() && !b.Exists():
	case !b.Exists():
		o.remove(at)
	case !a.Exists():
		o.put(state.OpAdd, at, func(dst []byte) []byte { return appendJSON(dst, b) })
	case a.IsParts() && b.IsParts():
		o.parts(at, a.Parts(), b.Parts())
	default:
		o.put(state.OpReplace, at, func(dst []byte) []byte { return appendJSON(dst, b) })
	}
}

func (o *ops) parts(at string, a, b []messages.Part) {
	for i := range min(len(a), len(b)) {
		p, q := a[i], b[i]
		text := p.Text
		p.Text = q.Text
		if !samePart(p, q) {
			o.put(state.OpReplace, element(at, i), func(dst []byte) []byte { return appendJSON(dst, b[i]) })
		} else if q.Type == messages.PartText {
			o.text(element(at, i), "/text", text, q.Text)
		}
	}
	for i := len(a) - 1; i >= len(b); i-- {
		o.remove(element(at, i))
	}
	for i := len(a); i < len(b); i++ {
		o.put(state.OpAdd, element(at, i), func(dst []byte) []byte { return appendJSON(dst, b[i]) })
	}
}

func samePart(p, q messages.Part) bool {
	return p.Type == q.Type && p.ID == q.ID && p.Text == q.Text && p.Source == q.Source &&
		state.Same(p.Metadata.Value(), q.Metadata.Value())
}

func (o *ops) calls(at string, a, b messages.List[*messages.ToolCall]) {
	switch {
	case b.Len() == 0:
		o.remove(at)
		return
	case a.Len() == 0:
		o.put(state.OpAdd, at, func(dst []byte) []byte { return appendCalls(dst, b) })
		return
	}
	for i := range messages.Diff(a, b) {
		o.call(element(at, i), a.At(i), b.At(i))
	}
	for i := a.Len() - 1; i >= b.Len(); i-- {
		o.remove(element(at, i))
	}
	for i := a.Len(); i < b.Len(); i++ {
		o.put(state.OpAdd, element(at, i), func(dst []byte) []byte { return appendCall(dst, b.At(i)) })
	}
}

func (o *ops) call(at string, a, b *messages.ToolCall) {
	if a.ID != b.ID {
		o.put(state.OpReplace, at, func(dst []byte) []byte { return appendCall(dst, b) })
		return
	}
	if a.Name != b.Name || a.EncryptedValue != b.EncryptedValue || !state.Same(a.Metadata.Value(), b.Metadata.Value()) {
		o.values(at, "", bareCall(a), bareCall(b))
	}
	o.text(at, "/status", a.Status.String(), b.Status.String())
	if len(a.Arguments) != len(b.Arguments) || a.Arguments != b.Arguments {
		o.text(at, "/function/arguments", a.Arguments, b.Arguments)
		o.values(at, "/args", a.PartialArgs(), b.PartialArgs())
	}
}

func bareCall(c *messages.ToolCall) state.Value {
	bare := *c
	bare.Arguments = ""
	return parse(appendJSON(nil, &bare))
}

func (o *ops) runs(c *reducer.Changes, a, b *reducer.Thread) {
	for i := range c.RunsGone {
		o.remove(element("/runs", a.Runs.Len()-1-i))
	}
	for _, i := range c.Runs {
		at := element("/runs", i)
		if i >= a.Runs.Len() {
			o.put(state.OpAdd, at, func(dst []byte) []byte { return appendJSON(dst, b.Runs.At(i)) })
			continue
		}
		older, newer := a.Runs.At(i), b.Runs.At(i)
		o.values(at, "", bareRun(older), bareRun(newer))
		o.values(at, "/result", older.Result, newer.Result)
		o.steps(at+"/steps", older.Steps, newer.Steps)
	}
}

func bareRun(run *reducer.Run) state.Value {
	bare := *run
	bare.Steps, bare.Result = messages.List[reducer.Step]{}, state.Value{}
	return parse(appendJSON(nil, &bare))
}

func (o *ops) steps(at string, a, b messages.List[reducer.Step]) {
	for i := a.Len() - 1; i >= b.Len(); i-- {
		o.remove(element(at, i))
	}
	put := func(kind state.OpKind, i int) {
		o.put(kind, element(at, i), func(dst []byte) []byte { return appendStep(dst, b.At(i)) })
	}
	for i := range messages.Diff(a, b) {
		put(state.OpReplace, i)
	}
	for i := a.Len(); i < b.Len(); i++ {
		put(state.OpAdd, i)
	}
}

// appendStep appends a step as the JSON of its run holds it.
func appendStep(dst []byte, s reducer.Step) []byte {
	dst = codec.AppendString(append(dst, '{'), "stepName", s.Name)
	if id, ok := s.Owner.RunID(); ok {
		dst = codec.AppendString(dst, "subagentRunId", id)
	}
	return append(codec.AppendBool(dst, "finished", s.Finished), '}')
}

// leaf is an invocation where the view holds it.
type leaf struct {
	node  *reducer.Subagent
	depth int
}

func walk(s reducer.Subagents) []leaf {
	list := make([]leaf, 0, s.Len())
	for depth, n := range s.Walk() {
		list = append(list, leaf{n, depth})
	}
	return list
}

func (l leaf) value() state.Value {
	return parse(appendJSON(nil, l.node)).With("depth", state.Int(int64(l.depth)))
}

// subagents changes the invocations between the first and the last that differ.
func (o *ops) subagents(a, b reducer.Subagents) {
	older, newer := walk(a), walk(b)
	front := 0
	for front < min(len(older), len(newer)) && older[front] == newer[front] {
		front++
	}
	back := 0
	for back < min(len(older), len(newer))-front && older[len(older)-1-back] == newer[len(newer)-1-back] {
		back++
	}
	older, newer = older[front:len(older)-back], newer[front:len(newer)-back]
	both := min(len(older), len(newer))
	for i := range both {
		if older[i] != newer[i] {
			o.values(element("/subagents", front+i), "", older[i].value(), newer[i].value())
		}
	}
	for range older[both:] {
		o.remove(element("/subagents", front+both))
	}
	for i, l := range newer[both:] {
		o.value(state.OpAdd, element("/subagents", front+both+i), l.value())
	}
}
