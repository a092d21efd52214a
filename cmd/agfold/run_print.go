package main

import (
	"bufio"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/agfold/agfold/cmd/agfold/internal/transcript"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// printer writes a thread once, line by line, as it becomes complete. Text is written as it streams, of one
// message at a time: whatever else becomes complete meanwhile waits until that message is closed.
type printer struct {
	out   *bufio.Writer
	style transcript.Style
	draw  *transcript.Excerpt // draws while the thread grows, without a pass over it
	err   error

	messages map[[2]string]bool // that were written, if only in part
	written  map[[2]string]int  // bytes of text, of messages that streamed
	calls    map[string]bool    // that were written: true if with their results
	names    map[messages.Owner]string
	index    callIndex
	dirty    map[string]activity // that were patched since
	revision uint64              // of the thread, since a run ended in it
	length   int                 // of its messages then
	open     bool                // a message streams:
	speaker  [2]string           // which
	prefix   string              // what stands before its lines
	inLine   bool                // its last line has begun
	waiting  []func()
}

func newPrinter(w io.Writer, style transcript.Style) *printer {
	return &printer{
		out: bufio.NewWriterSize(w, 32<<10), style: style, draw: style.Excerpt(),
		messages: map[[2]string]bool{}, written: map[[2]string]int{}, calls: map[string]bool{},
		names: map[messages.Owner]string{}, dirty: map[string]activity{},
	}
}

func (p *printer) write(text string) {
	if _, err := p.out.WriteString(text); err != nil && p.err == nil {
		p.err = err
	}
}

// put writes a text as soon as no message streams.
func (p *printer) put(text string) { p.later(func() { p.write(text) }) }

// note puts one line with a blank one before it.
func (p *printer) note(text string) { p.put("\n" + transcript.CleanLine(text) + "\n") }

// flush hands on what was written and returns the first error.
func (p *printer) flush() error {
	if err := p.out.Flush(); err != nil && p.err == nil {
		p.err = err
	}
	return p.err
}

// skip takes all of a thread as written, which may be nil.
func (p *printer) skip(th *reducer.Thread) {
	if th == nil {
		return
	}
	p.restate(th)
	results := answers(th)
	for _, m := range th.Messages.All() {
		p.messages[key(m)] = true
		p.written[key(m)] = len(m.Text())
		for _, c := range m.ToolCalls.All() {
			p.calls[c.ID] = results[c.ID]
		}
	}
}

// answers returns which calls of a thread have results.
func answers(th *reducer.Thread) map[string]bool {
	ids := map[string]bool{}
	for _, m := range th.Messages.All() {
		if m.Role == messages.RoleTool {
			ids[m.ToolCallID] = true
		}
	}
	return ids
}

// later writes something as soon as no message streams.
func (p *printer) later(write func()) {
	if p.open {
		p.waiting = append(p.waiting, write)
		return
	}
	write()
}

// step writes what a step completes; thread gives the thread as it is behind the step. Its cost does not grow
// with the thread, but when a run begins that the client had a part in, or the conversation was restated.
func (p *printer) step(step reducer.Delivery, thread func() *reducer.Thread) {
	if step.Event != nil {
		p.revision++
	}
	switch ch := step.Change; ch.Kind {
	case reducer.RunBegan:
		p.release()
		p.began(thread())
	case reducer.RunEnded:
		p.release()
		th := thread()
		p.activities()
		p.revision, p.length = th.Revision, th.Messages.Len()
	case reducer.TextAppended:
		p.text(ch, thread)
	case reducer.MessageClosed:
		p.closed(ch, thread)
	case reducer.MessageAdded, reducer.MessageReplaced:
		p.added(ch, thread())
	case reducer.ActivityPatched:
		p.dirty[ch.MessageID] = activity{thread().Messages.At(ch.Index), ch.Index}
	case reducer.MessageReopened:
		if _, dirty := p.dirty[ch.MessageID]; dirty && ch.MessageKind == messages.KindActivity {
			p.dirty[ch.MessageID] = activity{thread().Messages.At(ch.Index), ch.Index}
		}
	case reducer.ToolCallAdded, reducer.ToolCallReopened, reducer.ArgumentsAppended, reducer.ToolCallClosed,
		reducer.EncryptedValueSet:
		if ch.ToolCallID != "" || ch.Kind != reducer.EncryptedValueSet {
			p.index.follow(ch, thread())
		}
	case reducer.ConversationRestated:
		p.index.stale = true
		if len(p.dirty) > 0 {
			p.redirty(thread())
		}
	case reducer.StepBegan:
		if step.Event.Owner().IsParent() {
			p.note("step " + ch.StepName)
		}
	case reducer.SubagentBegan, reducer.SubagentEnded:
		p.subagent(step.Event)
	}
}

// subagent writes that one has begun or ended.
func (p *printer) subagent(ev event.Event) {
	id := ev.Owner()
	switch e := ev.(type) {
	case *event.SubagentStarted:
		p.draw.Began(e)
		p.names[id] = e.Name
		p.note("subagent " + e.Name + " started")
		return
	case *event.SubagentFinished:
		status := reducer.SubagentSucceeded
		if e.Outcome.Type == event.SubagentSuspended {
			status = reducer.SubagentSuspended
			p.draw.Suspended(id)
		}
		p.note("subagent " + p.names[id] + " " + status.String())
	case *event.SubagentError:
		p.note("subagent " + p.names[id] + " " + reducer.SubagentFailed.String() + ": " + e.Message)
	}
	delete(p.names, id)
}

// restate takes up a thread of which more has changed than steps tell.
func (p *printer) restate(th *reducer.Thread) {
	p.draw.Restate(th)
	p.index.fill(th)
}

// began writes what was said since the run before. What the run's own input adds stands at the end.
func (p *printer) began(th *reducer.Thread) {
	if th.Revision != p.revision {
		p.restate(th)
		p.said(th)
		return
	}
	results := map[string][]*messages.Message{}
	for _, m := range th.Messages.From(p.length) {
		p.index.hold(m)
		if m.Role == messages.RoleTool {
			results[m.ToolCallID] = append(results[m.ToolCallID], m)
		}
	}
	for _, m := range th.Messages.From(p.length) {
		switch m.Role {
		case messages.RoleUser, messages.RoleSystem, messages.RoleDeveloper:
			p.whole(p.draw, m)
		case messages.RoleTool:
			if !p.calls[m.ToolCallID] && p.index.find(m.ToolCallID, th) != nil {
				p.answered(m.ToolCallID, results[m.ToolCallID]...)
			}
		}
	}
}

// said writes what the user and the client said since.
func (p *printer) said(th *reducer.Thread) {
	view := p.style.View(th)
	results := answers(th)
	for _, m := range th.Messages.All() {
		switch m.Role {
		case messages.RoleUser, messages.RoleSystem, messages.RoleDeveloper:
			p.whole(view, m)
		case messages.RoleAssistant:
			for _, c := range m.ToolCalls.All() {
				if results[c.ID] && !p.calls[c.ID] {
					p.call(view, m, c, true)
				}
			}
		}
	}
}

// text writes what was appended to the message that streams. If none does, this one begins to, with what it
// said before.
func (p *printer) text(ch reducer.Change, thread func() *reducer.Thread) {
	k := [2]string{ch.MessageKind.String(), ch.MessageID}
	delta := ch.Delta
	if !p.open {
		th := thread()
		m := th.Messages.At(ch.Index)
		if text := m.Text(); !m.Content.IsParts() && p.written[k] <= len(text) {
			delta = text[p.written[k]:]
		}
		p.begin(m)
	}
	if p.speaker == k {
		p.stream(delta)
	}
}

// stream writes text of the message that streams.
func (p *printer) stream(text string) {
	p.written[p.speaker] += len(text)
	for i, part := range strings.Split(transcript.Clean(text), "\n") {
		if i > 0 {
			p.write("\n")
			p.inLine = false
		}
		if part != "" && !p.inLine {
			p.write(p.prefix)
			p.inLine = true
		}
		p.write(part)
	}
}

// begin writes the heading of a message that streams.
func (p *printer) begin(m *messages.Message) {
	bare := *m
	bare.Content, bare.ToolCalls, bare.EncryptedValue = messages.Content{}, messages.List[*messages.ToolCall]{}, messages.Opt[string]{}
	p.write("\n" + p.draw.Message(&bare))
	p.prefix = p.indent(m.Owner)
	p.speaker, p.open, p.inLine = key(m), true, false
	p.messages[key(m)] = true
}

// indent returns what stands before the lines of an owner's messages.
func (p *printer) indent(owner messages.Owner) string {
	const mark = "x"
	drawn := p.draw.Message(&messages.Message{Role: messages.RoleAssistant, Owner: owner, Content: messages.Text(mark)})
	lines := strings.Split(strings.TrimSuffix(drawn, "\n"), "\n")
	return strings.TrimSuffix(lines[len(lines)-1], mark)
}

func (p *printer) closed(ch reducer.Change, thread func() *reducer.Thread) {
	k := [2]string{ch.MessageKind.String(), ch.MessageID}
	if p.open && p.speaker == k {
		p.release()
		return
	}
	if ch.Index >= 0 {
		m := thread().Messages.At(ch.Index)
		p.later(func() { p.rest(m) })
	}
}

// rest writes what was not written yet of a message's text.
func (p *printer) rest(m *messages.Message) {
	if text := m.Text(); !m.Content.IsParts() && p.written[key(m)] < len(text) {
		p.begin(m)
		p.stream(text[p.written[key(m)]:])
		p.release()
	}
}

// release ends the message that streams and writes what has waited for that.
func (p *printer) release() {
	if !p.open {
		return
	}
	if p.inLine {
		p.write("\n")
	}
	p.open = false
	waiting := p.waiting
	p.waiting = nil
	for _, write := range waiting {
		write()
	}
}

// added writes activities, and tool calls when their results come.
func (p *printer) added(ch reducer.Change, th *reducer.Thread) {
	switch m := th.Messages.At(ch.Index); m.Role {
	case messages.RoleActivity:
		if _, dirty := p.dirty[m.ID]; dirty {
			p.dirty[m.ID] = activity{m, ch.Index}
		}
		p.messages[key(m)] = false
		p.whole(p.draw, m)
	case messages.RoleTool:
		if p.index.find(m.ToolCallID, th) != nil {
			p.answered(m.ToolCallID, m)
		} else {
			p.whole(p.draw, m)
		}
	}
}

// whole writes a message that was not written yet.
func (p *printer) whole(view interface {
	Message(*messages.Message) string
}, m *messages.Message) {
	if p.messages[key(m)] {
		return
	}
	if text := view.Message(m); text != "" {
		p.messages[key(m)] = true
		p.written[key(m)] = len(m.Text())
		p.put("\n" + text)
	}
}

// answered writes a call, which the index knows, with new results. What it was called with is written once.
func (p *printer) answered(id string, results ...*messages.Message) {
	known := p.index.calls[id]
	c := *known.call
	c.Status = messages.ToolCallAnswered
	if p.calls[id] {
		c = messages.ToolCall{ID: id, Name: c.Name, Status: c.Status}
	}
	holder := p.index.holders[known.holder]
	p.calls[id] = true
	p.messages[key(holder)] = true
	p.put("\n" + p.draw.Call(holder, &c, results...))
}

// call writes a tool call with its results.
func (p *printer) call(view *transcript.View, holder *messages.Message, c *messages.ToolCall, answered bool) {
	p.calls[c.ID] = answered
	p.messages[key(holder)] = true
	m := *holder
	m.Content, m.ToolCalls = messages.Content{}, messages.NewList(c)
	p.write("\n" + view.Message(&m))
}

// activity is an activity message and where it stood when it was last seen.
type activity struct {
	message *messages.Message
	place   int
}

// redirty finds the patched activities in a thread that was restated.
func (p *printer) redirty(th *reducer.Thread) {
	current := map[string]activity{}
	for i, m := range th.Messages.All() {
		if _, dirty := p.dirty[m.ID]; dirty && m.Role == messages.RoleActivity {
			current[m.ID] = activity{m, i}
		}
	}
	p.dirty = current
}

// activities writes those anew that were patched since they were written.
func (p *printer) activities() {
	for _, a := range slices.SortedFunc(maps.Values(p.dirty), func(a, b activity) int { return a.place - b.place }) {
		p.messages[key(a.message)] = false
		p.whole(p.draw, a.message)
	}
	clear(p.dirty)
}

// settle writes all of the thread that was not written yet, complete or not.
func (p *printer) settle(th *reducer.Thread) {
	p.release()
	p.activities()
	view := p.style.View(th)
	results := answers(th)
	for _, m := range th.Messages.All() {
		if !p.messages[key(m)] {
			p.whole(view, m)
			for _, c := range m.ToolCalls.All() {
				p.calls[c.ID] = results[c.ID]
			}
			continue
		}
		if m.Role == messages.RoleAssistant || m.Role == messages.RoleReasoning {
			p.rest(m)
		}
		for _, c := range m.ToolCalls.All() {
			if with, written := p.calls[c.ID]; !written || results[c.ID] && !with {
				p.call(view, m, c, results[c.ID])
			}
		}
	}
}

// close writes what stands at the end of a thread.
func (p *printer) close(th *reducer.Thread) {
	view := p.style.View(th)
	for _, section := range []string{view.Subagents(), view.State(), view.Interrupts(), view.Runs()} {
		if section != "" {
			p.write("\n" + section)
		}
	}
}

// key tells the messages of a thread apart (P-ID-1).
func key(m *messages.Message) [2]string { return [2]string{m.Kind().String(), m.ID} }
