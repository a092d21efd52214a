package spans

import (
	"context"
	"log/slog"
	"time"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// stream makes the spans of one stream of events: a run, and what the agent adds on the same stream. One goroutine at a time uses
// it.
type stream struct {
	o      Options
	sink   Sink
	now    func() time.Time
	ctx    context.Context // of the runs' parent
	parent *Span           // the turn
	in     *event.RunInput // nil if it is not known

	run     *Span // nil between runs
	runs    int
	id      string // of the run
	thread  string // its id, if the run has said so
	any     bool   // something was delivered
	count   int    // of spans, of all runs
	seen    run
	failure error // that the last run reported

	open   []*Span // in the run, in the order of their beginnings; nil where one has ended
	texts  map[textKey]*piece
	calls  map[string]*call
	steps  map[messages.Owner][]*Span
	agents map[messages.Owner]*Span
}

// run counts what a run comes to.
type run struct {
	deliveries int
	dropped    int  // spans
	spoken     bool // the first piece of anything has come
}

type textKey struct {
	kind Kind
	id   string
}

// piece is a text or the arguments of a call that arrive.
type piece struct {
	span   *Span
	last   time.Time // when the last piece came
	chunks int64
	bytes  int64
	text   []byte // at most Options.ContentBytes
}

// call is a tool call of the run.
type call struct {
	piece          // while its arguments arrive; its span is that of the call
	name    string // of the tool
	owner   messages.Owner
	scope   *Span
	closed  time.Time // when the arguments were complete, zero before
	tool    *Span     // at work, nil if nothing says so
	offered bool      // by the client, which may be who calls it
}

// newStream returns a stream in a turn. Its first run begins with send, or when it says so.
func newStream(ctx context.Context, o Options, sink Sink, now func() time.Time, parent *Span, in *event.RunInput) *stream {
	return &stream{ctx: ctx, o: o, sink: sink, now: now, parent: parent, in: in}
}

// begin begins a span in another one. It returns nil if there are too many: then nothing is recorded of what it is about.
func (st *stream) begin(kind Kind, name string, parent *Span, start time.Time, attrs ...slog.Attr) *Span {
	if st.count >= st.o.MaxSpans && kind != Run {
		st.seen.dropped++
		return nil
	}
	st.count++
	s := &Span{Kind: kind, Name: name, Parent: parent, Start: start, Attrs: attrs, at: len(st.open)}
	ctx := st.ctx
	if kind != Run {
		ctx = parent.ctx
		st.open = append(st.open, s)
	}
	if parent != nil && start.Before(parent.Start) {
		s.Start = parent.Start
	}
	s.ctx = st.sink.Began(ctx, s)
	return s
}

// finish ends a span now, unless it has ended, or was never begun.
func (st *stream) finish(s *Span, outcome string, at time.Time) {
	if s == nil || !s.End.IsZero() {
		return
	}
	if s.Outcome == "" {
		s.Outcome = outcome
	}
	s.End = at
	if at.Before(s.Start) {
		s.End = s.Start
	}
	if s.Kind != Run {
		st.open[s.at] = nil
		for n := len(st.open); n > 0 && st.open[n-1] == nil; n-- {
			st.open = st.open[:n-1]
		}
	}
	st.sink.Ended(s)
}

// note adds an event to a span.
func (st *stream) note(s *Span, name string, attrs ...slog.Attr) {
	if s == nil || !s.End.IsZero() {
		return
	}
	if len(s.Events) >= st.o.MaxEvents {
		s.dropped++
		s.set(slog.Int64("agfold.events.dropped", s.dropped))
		return
	}
	s.Events = append(s.Events, Event{Name: name, Time: st.now(), Attrs: attrs})
}

// send begins the span of the run that the input asks for.
func (st *stream) send() context.Context {
	st.beginRun(st.in.RunID)
	st.run.set(slog.Int64("agfold.run.messages", int64(len(st.in.Messages))), slog.Int64("agfold.run.tools", int64(len(st.in.Tools))))
	if id, ok := st.in.ParentRunID.Get(); ok {
		st.run.set(str("agfold.run.parent_id", id))
	}
	if n := len(st.in.Resume); n > 0 {
		st.run.set(slog.Int64("agfold.run.resumed_interrupts", int64(n)))
	}
	if st.o.ContentBytes > 0 {
		st.run.set(inputMessages(st.in, st.o.ContentBytes)...)
	}
	return st.run.ctx
}

// beginRun begins the span of a run.
func (st *stream) beginRun(id string) {
	st.runs++
	st.seen, st.open, st.texts, st.calls, st.steps, st.agents = run{}, nil, nil, nil, nil, nil
	st.id = id
	attrs := []slog.Attr{slog.String("gen_ai.operation.name", "invoke_agent")}
	if st.o.Agent != "" {
		attrs = append(attrs, str("gen_ai.agent.name", st.o.Agent))
	}
	if st.in != nil && st.in.ThreadID != "" {
		attrs = append(attrs, str("gen_ai.conversation.id", st.in.ThreadID))
	}
	if id != "" {
		attrs = append(attrs, str("agfold.run.id", id))
	}
	st.run = st.begin(Run, named("invoke_agent", st.o.Agent), st.parent, st.now(), attrs...)
}

// deliver takes the next delivery.
func (st *stream) deliver(d reducer.Delivery) {
	if e, ok := d.Event.(*event.RunStarted); ok {
		st.started(e)
	}
	if d.Event != nil {
		st.any = true
		st.seen.deliveries++
	}
	for _, w := range d.Warnings {
		st.warn(w)
	}
	if st.run == nil {
		if e, ok := d.Event.(*event.RunError); ok { // a late one, which says that the run has failed after all
			st.beginRun(st.id)
			st.run.set(slog.Bool("agfold.run.late", true))
			st.failed(e)
		}
		return
	}
	switch e := d.Event.(type) {
	case *event.TextMessageStart:
		role := e.Role
		if role == "" {
			role = messages.RoleAssistant
		}
		st.beginText(Message, "message "+string(role), e.MessageID, e.Owner())
	case *event.TextMessageContent:
		st.append(st.texts[textKey{Message, e.MessageID}], e.Delta)
	case *event.TextMessageEnd:
		st.endText(textKey{Message, e.MessageID}, "complete")
	case *event.ReasoningMessageStart:
		st.beginText(Reasoning, "reasoning", e.MessageID, e.Owner())
	case *event.ReasoningMessageContent:
		st.append(st.texts[textKey{Reasoning, e.MessageID}], e.Delta)
	case *event.ReasoningMessageEnd:
		st.endText(textKey{Reasoning, e.MessageID}, "complete")
	case *event.ToolCallStart:
		st.beginCall(e)
	case *event.ToolCallArgs:
		if c := st.calls[e.ToolCallID]; c != nil {
			st.append(&c.piece, e.Delta)
		}
	case *event.ToolCallEnd:
		st.endCall(e.ToolCallID)
	case *event.ToolCallResult:
		st.result(e)
	case *event.StepStarted:
		st.beginStep(e.StepName, e.Owner())
	case *event.StepFinished:
		st.endStep(e.StepName, e.Owner())
	case *event.SubagentStarted:
		st.beginSubagent(e)
	case *event.SubagentFinished:
		st.endSubagent(e.Owner(), &e.Outcome, nil)
	case *event.SubagentError:
		st.endSubagent(e.Owner(), nil, &reducer.AgentError{Message: e.Message, Code: e.Code})
	case *event.RunFinished:
		st.finished(e)
	case *event.RunError:
		st.failed(e)
	}
}

// scope returns the span that something of an owner is in: its innermost step, itself, or the run.
func (st *stream) scope(owner messages.Owner) *Span {
	if steps := st.steps[owner]; len(steps) > 0 {
		return steps[len(steps)-1]
	}
	if owner.IsParent() {
		return st.run
	}
	s, known := st.agents[owner]
	if !known { // its events are tagged, and nobody announced it in this run (P-SUB-1)
		s = st.addAgent(owner, "", st.run, slog.Bool("agfold.subagent.announced", false))
	}
	if s == nil || !s.End.IsZero() {
		return st.run
	}
	return s
}

// warn notes a warning with its rule and place. Its text may quote what the agent said.
func (st *stream) warn(w event.Warning) {
	attrs := []slog.Attr{str("agfold.warning.rule", w.Rule), slog.Int64("agfold.event.ordinal", int64(w.Ordinal))}
	if w.Type != "" {
		attrs = append(attrs, str("agfold.event.type", w.Type))
	}
	if w.Path != "" {
		attrs = append(attrs, str("agfold.event.path", w.Path))
	}
	if st.o.ContentBytes > 0 {
		attrs = append(attrs, str("agfold.warning.text", w.Text))
	}
	st.note(st.run, "agfold.warning", attrs...)
}
