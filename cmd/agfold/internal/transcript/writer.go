package transcript

import (
	"strings"

	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// Writer writes a thread while it grows. [Writer.Deliver] writes what one delivery completed, [Writer.Settle] writes
// everything not yet written. The text of one message at a time is written as it streams; anything else that becomes
// complete meanwhile waits until that message is closed. The cost of a delivery does not grow with the thread. A Writer is for one goroutine
// at a time.
type Writer struct {
	out    *term.Writer
	stream bool
	view   *View // knows the subagents that passed, and the calls that were written

	written map[messages.Key]int  // the messages that were written, if only in part, and how many bytes of text
	open    map[messages.Key]bool // the messages that are not closed yet
	length  int                   // of the thread's messages when a run last ended
	notes   []term.Text           // events that leave no trace in the thread

	patched map[string]*messages.Message // activities that changed since they were written
	order   []string                     // of their first changes

	speaking bool         // a message streams:
	speaker  messages.Key // which
	indent   term.Text    // what precedes its lines
	inLine   bool         // its last line has begun
	column   int          // where that ends
	carriage bool         // its text ends with a carriage return, which may belong to a line feed
	waiting  []func()

	lastCall *messages.ToolCall // was written, and nothing after it
}

// maxNotes bounds the notes that are kept for the end.
const maxNotes = 100

// NewWriter returns a Writer to out. If stream is false, it writes nothing until Settle.
func NewWriter(out *term.Writer, style Style, stream bool) *Writer {
	return &Writer{
		out: out, stream: stream, view: style.emptyView(),
		written: map[messages.Key]int{}, open: map[messages.Key]bool{}, patched: map[string]*messages.Message{},
	}
}

// Skip marks all of a thread as written.
func (w *Writer) Skip(th *reducer.Thread) {
	w.view.learn(th)
	w.length = th.Messages.Len()
	for _, m := range th.Messages.All() {
		w.written[m.Key()] = len(m.Text())
		for _, c := range m.ToolCalls.All() {
			w.wroteCall(c)
		}
	}
}

// Print writes something between the messages, as soon as no message streams.
func (w *Writer) Print(text term.Text) { w.later(func() { w.write(newLine, text) }) }

// note puts a short text between the messages.
func (w *Writer) note(parts ...term.Text) {
	p := w.view.page()
	p.wrap(parts...)
	w.Print(p.b.Text())
}

func (w *Writer) write(parts ...term.Text) {
	w.out.Print(parts...)
	w.lastCall = nil
}

// later writes something as soon as no message streams.
func (w *Writer) later(write func()) {
	if w.speaking {
		w.waiting = append(w.waiting, write)
		return
	}
	write()
}

// Deliver writes what a delivery completes. thread returns the thread right after the delivery.
func (w *Writer) Deliver(d reducer.Delivery, thread func() *reducer.Thread) {
	switch e := d.Event.(type) {
	case *event.Custom:
		w.custom(e)
	case *event.SubagentStarted, *event.SubagentFinished, *event.SubagentError:
		w.subagent(d.Event)
	}
	ch := d.Change
	k := messages.Key{Kind: ch.MessageKind, ID: ch.MessageID}
	switch ch.Kind {
	case reducer.RunBegan:
		w.began(thread())
	case reducer.RunEnded:
		w.ended(d.Event, thread())
	case reducer.MessageAdded, reducer.MessageReopened:
		if ch.MessageKind == messages.KindText || ch.MessageKind == messages.KindReasoning {
			w.open[k] = true
			delete(w.view.cut, k)
		}
	case reducer.MessageClosed:
		delete(w.open, k)
	}
	if !w.stream {
		return
	}
	switch ch.Kind {
	case reducer.TextAppended:
		w.text(k, ch, thread)
	case reducer.MessageClosed:
		w.closed(k, thread().Messages.At(ch.Index))
	case reducer.MessageAdded:
		w.added(thread().Messages.At(ch.Index))
	case reducer.MessageReplaced:
		m := thread().Messages.At(ch.Index)
		delete(w.written, m.Key())
		delete(w.patched, ch.MessageID)
		w.added(m)
	case reducer.ActivityPatched:
		if _, again := w.patched[ch.MessageID]; !again {
			w.order = append(w.order, ch.MessageID)
		}
		w.patched[ch.MessageID] = thread().Messages.At(ch.Index)
	case reducer.ToolCallClosed:
		w.call(thread().Messages.At(ch.Index), ch.Call)
	case reducer.StepBegan:
		if d.Event.Owner().IsParent() {
			w.note(term.Lit("step "), name(ch.StepName))
		}
	}
}

// custom shows a CUSTOM event that names an interrupt: no snapshot of the thread holds it.
func (w *Writer) custom(e *event.Custom) {
	if !namesInterrupt(e) {
		return
	}
	p := w.view.page()
	p.wrap(w.view.paint(term.Yellow, term.Lit("? ")), term.Lit("custom event "), name(e.Name), term.Lit(" "), p.brief(e.Value))
	if w.stream {
		w.Print(p.b.Text())
	} else if len(w.notes) < maxNotes {
		w.notes = append(w.notes, p.b.Text())
	}
}

// subagent follows the subagents and writes when one begins or ends.
func (w *Writer) subagent(ev event.Event) {
	id := ev.Owner()
	what := ""
	switch e := ev.(type) {
	case *event.SubagentStarted:
		w.place(e)
		what = "started"
	case *event.SubagentFinished:
		what = reducer.SubagentSucceeded.String()
		if e.Outcome.Type == event.SubagentSuspended {
			what = reducer.SubagentSuspended.String()
			pl := w.view.place(id)
			pl.suspended = true
			w.view.places[id] = pl
		}
	case *event.SubagentError:
		what = reducer.SubagentFailed.String() + ": " + e.Message
	}
	if w.stream {
		w.note(term.Sprintf("subagent %s %s", w.view.place(id).name, what))
	}
}

// place finds the place of a subagent that begins or continues (P-SUB-1).
func (w *Writer) place(e *event.SubagentStarted) {
	pl := place{name: subagentName(e.Name, e.SubagentRunID), depth: 1}
	switch old := w.view.places[e.SubagentRunID]; {
	case old.suspended:
		pl.depth = old.depth
	case !e.ParentSubagentRunID.IsParent():
		pl.depth = min(w.view.place(e.ParentSubagentRunID).depth+1, maxGutter)
	}
	w.view.places[e.SubagentRunID] = pl
}

// began writes the messages that were added since the previous run: by the user, by the client, and in the input of
// RUN_STARTED. All of them are at the end of the thread.
func (w *Writer) began(th *reducer.Thread) {
	w.release()
	if !w.stream {
		return
	}
	for _, m := range th.Messages.From(min(w.length, th.Messages.Len())) {
		for _, c := range m.ToolCalls.All() {
			w.wroteCall(c)
		}
		w.added(m)
	}
}

// ended writes the final form of the activities.
func (w *Writer) ended(ev event.Event, th *reducer.Thread) {
	w.length = th.Messages.Len()
	if _, failed := ev.(*event.RunError); failed {
		w.breakOff()
	}
	clear(w.open)
	w.release()
	w.activities()
}

// breakOff marks the messages that are open as cut off.
func (w *Writer) breakOff() {
	for k := range w.open {
		w.view.cut[k] = true
	}
}

// text writes what was appended to the message that streams. If none streams, this message does from now on, and the
// text that it has already is written first.
func (w *Writer) text(k messages.Key, ch reducer.Change, thread func() *reducer.Thread) {
	delta := ch.Delta
	if !w.speaking {
		m := thread().Messages.At(ch.Index)
		if text := m.Text(); !m.Content.IsParts() && w.written[k] <= len(text) {
			delta = text[w.written[k]:]
		}
		w.begin(m)
	}
	if w.speaker == k {
		w.say(delta)
	}
}

// begin writes the heading of a message that streams.
func (w *Writer) begin(m *messages.Message) {
	w.write(newLine, w.view.under(m, func(p *page) { w.indent = p.indent }))
	w.speaker, w.speaking, w.inLine = m.Key(), true, false
	w.written[w.speaker] += 0
}

// say writes text of the message that streams, wrapped on a terminal.
func (w *Writer) say(text string) {
	w.written[w.speaker] += len(text)
	if w.carriage {
		text = "\r" + text
	}
	if w.carriage = strings.HasSuffix(text, "\r"); w.carriage {
		text = text[:len(text)-1]
	}
	if text == "" {
		return
	}
	room := 1 << 30
	if w.view.Width > 0 {
		room = max(w.view.width()-w.indent.Columns(), minWidth)
	}
	more := false
	for part := range strings.SplitSeq(term.Clean(text).String(), "\n") {
		if more {
			w.write(newLine)
			w.inLine = false
		}
		more = true
		for rest := term.Clean(part); !rest.Empty(); {
			if !w.inLine {
				w.write(w.indent)
				w.inLine, w.column = true, 0
			}
			var head term.Text
			head, rest = rest.Split(room - w.column)
			w.write(head)
			if w.column += head.Columns(); !rest.Empty() {
				w.write(newLine)
				w.inLine = false
			}
		}
	}
}

// closed writes the rest of a message.
func (w *Writer) closed(k messages.Key, m *messages.Message) {
	if w.speaking && w.speaker == k {
		w.release()
		return
	}
	w.later(func() { w.rest(m) })
}

// rest writes what was not written yet of a message's text.
func (w *Writer) rest(m *messages.Message) {
	if text := m.Text(); !m.Content.IsParts() && w.written[m.Key()] < len(text) {
		w.begin(m)
		w.say(text[w.written[m.Key()]:])
		w.release()
	}
}

// release ends the message that streams and writes what waited for its end.
func (w *Writer) release() {
	if !w.speaking {
		return
	}
	if w.carriage {
		w.carriage = false
		w.write(term.Clean("\r"))
		w.inLine = true
	}
	if w.inLine {
		w.write(newLine)
	}
	if w.view.cut[w.speaker] {
		p := w.view.page()
		p.deeper(w.indent, p.cutOff)
		w.write(p.b.Text())
	}
	w.speaking = false
	waiting := w.waiting
	w.waiting = nil
	for _, write := range waiting {
		write()
	}
}

// added writes a message that was not streamed.
func (w *Writer) added(m *messages.Message) {
	if m.Streaming {
		return
	}
	w.later(func() {
		if _, known := w.written[m.Key()]; known {
			return
		}
		if m.Role == messages.RoleTool && w.lastCall != nil && w.lastCall.ID == m.ToolCallID {
			p := w.view.page()
			p.deeper(w.indent.Plus(tab), func() { p.answer(m) })
			w.wrote(m)
			w.write(p.b.Text())
			return
		}
		w.whole(w.view, m)
	})
}

// whole writes a message.
func (w *Writer) whole(view *View, m *messages.Message) {
	w.wrote(m)
	w.write(newLine, view.message(m))
}

// wroteCall notes that a call was written.
func (w *Writer) wroteCall(c *messages.ToolCall) { w.view.calls[c.ID] = callInfo{name: name(c.Name)} }

func (w *Writer) isWritten(callID string) bool {
	_, known := w.view.calls[callID]
	return known
}

func (w *Writer) wrote(m *messages.Message) { w.written[m.Key()] = len(m.Text()) }

// call writes a call whose arguments have come, under the heading of the message that holds it.
func (w *Writer) call(m *messages.Message, at int) {
	c := m.ToolCalls.At(at)
	view := w.view
	if w.isWritten(c.ID) && view.Full { // it was opened again: its arguments are not written in full each time
		short := *view
		short.Full = false
		view = &short
	}
	w.wroteCall(c)
	w.written[m.Key()] += 0
	w.later(func() {
		var indent term.Text
		w.write(newLine, view.under(m, func(p *page) {
			indent = p.indent
			view.call(p, c)
		}))
		w.indent, w.lastCall = indent, c
	})
}

// activities writes again, shortened, the activities that were patched since they were written.
func (w *Writer) activities() {
	short := *w.view
	short.Full = false
	for _, id := range w.order {
		if m := w.patched[id]; m != nil {
			w.whole(&short, m)
		}
	}
	clear(w.patched)
	w.order = w.order[:0]
}

// Settle writes all of the thread that was not written yet, complete or not. It costs a pass over the thread.
func (w *Writer) Settle(th *reducer.Thread) {
	view := w.view.Style.View(th)
	if view.over() {
		w.breakOff()
	}
	clear(w.open)
	view.cut = w.view.cut
	w.release()
	w.activities()
	for _, m := range th.Messages.All() {
		_, known := w.written[m.Key()]
		switch {
		case !known && view.nested[m] && !w.isWritten(m.ToolCallID):
			w.wrote(m) // with its call
		case !known:
			w.whole(view, m)
		case m.Role == messages.RoleAssistant || m.Role == messages.RoleReasoning:
			w.rest(m)
		}
		for _, c := range m.ToolCalls.All() {
			if known && !w.isWritten(c.ID) {
				w.write(newLine, view.under(m, func(p *page) { view.call(p, c) }))
			}
		}
	}
	for _, m := range th.Messages.All() {
		for _, c := range m.ToolCalls.All() {
			w.wroteCall(c)
		}
	}
	w.length = th.Messages.Len()
}

// Close writes the end of a thread: the notes of its events, and its sections.
func (w *Writer) Close(th *reducer.Thread) {
	for _, note := range w.notes {
		w.write(newLine, note)
	}
	for _, section := range w.view.Style.View(th).Sections() {
		w.write(newLine, section)
	}
}

// Thread writes a complete thread, and the notes of the deliveries before it.
func (w *Writer) Thread(th *reducer.Thread) {
	w.write(w.view.Style.View(th).Title())
	w.Settle(th)
	w.Close(th)
}
