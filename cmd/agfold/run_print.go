package main

import (
	"bufio"
	"io"
	"strings"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/transcript"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// printer writes a thread once, line by line, as it becomes complete. Text is written as it streams, of one
// message at a time: whatever else becomes complete meanwhile waits until that message is closed.
type printer struct {
	out   *bufio.Writer
	style transcript.Style
	err   error

	messages map[[2]string]bool // that were written, if only in part
	written  map[[2]string]int  // bytes of text, of messages that streamed
	calls    map[string]bool    // that were written: true if with their results
	dirty    map[string]bool    // activities that were patched since
	open     bool               // a message streams:
	speaker  [2]string          // which
	prefix   string             // what stands before its lines
	inLine   bool               // its last line has begun
	waiting  []func()
}

func newPrinter(w io.Writer, style transcript.Style) *printer {
	return &printer{
		out: bufio.NewWriterSize(w, 32<<10), style: style,
		messages: map[[2]string]bool{}, written: map[[2]string]int{}, calls: map[string]bool{}, dirty: map[string]bool{},
	}
}

func (p *printer) write(text string) {
	if _, err := p.out.WriteString(text); err != nil && p.err == nil {
		p.err = err
	}
}

// note writes one line with a blank one before it.
func (p *printer) note(text string) { p.write("\n" + transcript.CleanLine(text) + "\n") }

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

// step writes what a step completes; thread gives the thread as it is behind the step.
func (p *printer) step(step reducer.Step, thread func() *reducer.Thread) {
	switch ch := step.Change; ch.Kind {
	case reducer.RunBegan:
		p.release()
		p.said(thread())
	case reducer.RunEnded:
		p.release()
		p.activities(thread())
	case reducer.TextAppended:
		p.text(ch, thread)
	case reducer.MessageClosed:
		p.closed(ch, thread)
	case reducer.MessageAdded, reducer.MessageReplaced:
		p.added(ch, thread())
	case reducer.ActivityPatched:
		p.dirty[ch.MessageID] = true
	case reducer.StepBegan:
		if step.Event.Owner().IsParent() {
			p.later(func() { p.note("step " + ch.StepName) })
		}
	case reducer.SubagentBegan, reducer.SubagentEnded:
		if node := thread().Subagents.Find(step.Event.Owner()); node != nil {
			p.later(func() { p.subagent(node) })
		}
	}
}

func (p *printer) subagent(n *reducer.Subagent) {
	text := n.Name + " " + n.Status.String()
	if n.Status == reducer.SubagentRunning {
		text = n.Name + " started"
	}
	if n.Err != nil {
		text += ": " + n.Err.Message
	}
	p.note("subagent " + text)
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
		p.begin(th, m)
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
func (p *printer) begin(th *reducer.Thread, m *messages.Message) {
	view := p.style.View(th)
	bare := *m
	bare.Content, bare.ToolCalls, bare.EncryptedValue = messages.Content{}, messages.List[*messages.ToolCall]{}, event.Opt[string]{}
	p.write("\n" + view.Message(&bare))
	p.prefix = indent(view, m.Owner)
	p.speaker, p.open, p.inLine = key(m), true, false
	p.messages[key(m)] = true
}

// indent returns what stands before the lines of an owner's messages.
func indent(view *transcript.View, owner event.Owner) string {
	const mark = "x"
	drawn := view.Message(&messages.Message{Role: messages.RoleAssistant, Owner: owner, Content: messages.Text(mark)})
	lines := strings.Split(strings.TrimSuffix(drawn, "\n"), "\n")
	return strings.TrimSuffix(lines[len(lines)-1], mark)
}

func (p *printer) closed(ch reducer.Change, thread func() *reducer.Thread) {
	k := [2]string{ch.MessageKind.String(), ch.MessageID}
	if p.open && p.speaker == k {
		p.release()
		return
	}
	if th := thread(); ch.Index >= 0 {
		p.later(func() { p.rest(th, th.Messages.At(ch.Index)) })
	}
}

// rest writes what was not written yet of a message's text.
func (p *printer) rest(th *reducer.Thread, m *messages.Message) {
	if text := m.Text(); !m.Content.IsParts() && p.written[key(m)] < len(text) {
		p.begin(th, m)
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
		p.later(func() {
			p.messages[key(m)] = false
			p.whole(p.style.View(th), m)
		})
	case messages.RoleTool:
		if call, holder := th.ToolCall(m.ToolCallID); call != nil {
			p.later(func() { p.call(p.style.View(th), holder, call, true) })
		} else {
			p.later(func() { p.whole(p.style.View(th), m) })
		}
	}
}

// whole writes a message that was not written yet.
func (p *printer) whole(view *transcript.View, m *messages.Message) {
	if p.messages[key(m)] {
		return
	}
	if text := view.Message(m); text != "" {
		p.messages[key(m)] = true
		p.written[key(m)] = len(m.Text())
		p.write("\n" + text)
	}
}

// call writes a tool call with its results.
func (p *printer) call(view *transcript.View, holder *messages.Message, c *messages.ToolCall, answered bool) {
	p.calls[c.ID] = answered
	p.messages[key(holder)] = true
	m := *holder
	m.Content, m.ToolCalls = messages.Content{}, messages.NewList(c)
	p.write("\n" + view.Message(&m))
}

// activities writes those anew that were patched since they were written.
func (p *printer) activities(th *reducer.Thread) {
	view := p.style.View(th)
	for _, m := range th.Messages.All() {
		if m.Role == messages.RoleActivity && p.dirty[m.ID] {
			p.messages[key(m)] = false
			p.whole(view, m)
		}
	}
	clear(p.dirty)
}

// settle writes all of the thread that was not written yet, complete or not.
func (p *printer) settle(th *reducer.Thread) {
	p.release()
	p.activities(th)
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
			p.rest(th, m)
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
