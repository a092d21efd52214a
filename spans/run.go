package spans

import (
	"log/slog"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/reducer"
)

// started takes RUN_STARTED: the run that was asked for, or another one on the same stream (P-RUN-3).
func (st *stream) started(e *event.RunStarted) {
	if st.run == nil {
		st.beginRun(e.RunID)
	}
	st.id, st.thread = e.RunID, e.ThreadID
	st.run.set(str("gen_ai.conversation.id", e.ThreadID), str("agfold.run.id", e.RunID))
	if id, ok := e.ParentRunID.Get(); ok {
		st.run.set(str("agfold.run.parent_id", id))
	}
	if v, ok := e.ProtocolVersion.Get(); ok {
		st.run.set(str("agfold.protocol.version", v))
	}
}

// finished takes RUN_FINISHED.
func (st *stream) finished(e *event.RunFinished) {
	switch e.Outcome.Type {
	case event.OutcomeInterrupt:
		st.run.Outcome = reducer.Interrupted.String()
	case event.OutcomeCancelled:
		st.run.Outcome = reducer.Cancelled.String()
	default:
		st.run.Outcome = reducer.Succeeded.String()
	}
	st.failure = nil
	for _, in := range e.Outcome.Interrupts {
		attrs := []slog.Attr{str("agfold.interrupt.id", in.ID), str("agfold.interrupt.reason", in.Reason)}
		attrs = opt(attrs, "gen_ai.tool.call.id", in.ToolCallID)
		attrs = opt(attrs, "agfold.interrupt.expires_at", in.ExpiresAt)
		if id, ok := in.SubagentRunID.RunID(); ok {
			attrs = append(attrs, str("agfold.subagent.run_id", id))
		}
		if text, ok := in.Message.Get(); ok && st.o.ContentBytes > 0 {
			attrs = append(attrs, slog.String("agfold.interrupt.message", clip(text, st.o.ContentBytes)))
		}
		st.note(st.run, "agfold.interrupt", attrs...)
	}
	if n := len(e.Outcome.PendingToolCallIDs); n > 0 {
		st.run.set(slog.Int64("agfold.run.pending_tool_calls", int64(n)))
	}
	st.endRun(e.Usage)
}

// failed takes RUN_ERROR.
func (st *stream) failed(e *event.RunError) {
	st.failure = &reducer.AgentError{Message: e.Message, Code: e.Code}
	st.run.Outcome = reducer.Failed.String()
	st.run.fail(e.Message, codeOf(e.Code))
	st.endRun(e.Usage)
}

// end ends the stream, with the error of the run that it left unfinished.
func (st *stream) end(err error) {
	if st.run == nil {
		return
	}
	st.run.end(err, st.any)
	st.endRun(nil)
}

// endRun ends the run, and before it what is still open in it.
func (st *stream) endRun(usage []event.TokenUsage) {
	now := st.now()
	for key := range st.texts {
		st.endText(key, "cut")
	}
	for _, c := range st.calls {
		st.endPiece(&c.piece, "cut")
	}
	for i := len(st.open) - 1; i >= 0; i-- {
		if i >= len(st.open) || st.open[i] == nil {
			continue
		}
		outcome := "unfinished"
		switch s := st.open[i]; {
		case s.Kind == Subagent && s.Attr("agfold.subagent.announced").Bool():
			outcome = reducer.SubagentAbandoned.String()
		case s.Kind == Subagent && st.run.Outcome == reducer.Succeeded.String():
			outcome = reducer.SubagentSucceeded.String() // nobody announced it, so nobody says when it ends
		}
		st.finish(st.open[i], outcome, now)
	}
	s := st.run
	s.set(slog.String("agfold.run.outcome", s.Outcome), slog.Int64("agfold.run.deliveries", int64(st.seen.deliveries)))
	if st.seen.dropped > 0 {
		s.set(slog.Int64("agfold.spans.dropped", int64(st.seen.dropped)))
	}
	if len(usage) > 0 {
		s.Usage = usage
		s.set(usageAttrs(total(usage))...)
	}
	if len(usage) > 1 {
		for _, u := range usage {
			st.note(s, "agfold.usage", usageAttrs(u)...)
		}
	}
	st.finish(s, "", now)
	st.run = nil
}
