package spans

import (
	"context"
	"log/slog"
	"time"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// Observe returns an observer for [client.SessionOptions] that makes the spans of a session as they happen and hands them to sink.
// Several sessions may share it.
func Observe(sink Sink, o *Options) client.Observer {
	return &observer{sink: sink, o: o.completed()}
}

// observer is also the key under which the contexts of a turn hold its span.
type observer struct {
	sink Sink
	o    Options
}

// Turn begins the span of a turn.
func (o *observer) Turn(ctx context.Context, threadID string) (context.Context, func(error)) {
	s := &Span{Kind: Turn, Name: "turn", Start: time.Now(), Attrs: []slog.Attr{str("gen_ai.conversation.id", threadID)}}
	s.ctx = context.WithValue(o.sink.Began(ctx, s), o, s)
	return s.ctx, func(err error) {
		s.endTurn(err)
		s.End = time.Now()
		o.sink.Ended(s)
	}
}

// endTurn says how a turn ended.
func (s *Span) endTurn(err error) {
	switch {
	case err == nil:
		s.Outcome = "ended"
	case outcomeOf(err, true) == reducer.Stopped.String():
		s.Outcome = reducer.Stopped.String()
	default:
		s.Outcome = "failed"
		s.fail(err.Error(), errorType(err))
	}
	s.set(slog.String("agfold.turn.outcome", s.Outcome))
}

// Stream begins the span of a run.
func (o *observer) Stream(ctx context.Context, in *event.RunInput) (context.Context, client.StreamObserver) {
	turn, _ := ctx.Value(o).(*Span)
	st := newStream(ctx, o.o, o.sink, time.Now, turn, in)
	return st.send(), st
}

// Deliver takes the next delivery.
func (st *stream) Deliver(d reducer.Delivery) { st.deliver(d) }

// End ends the stream.
func (st *stream) End(err error) { st.end(err) }

// Tool begins the span of a tool that the session calls.
func (o *observer) Tool(ctx context.Context, call *messages.ToolCall) (context.Context, func(messages.Content, error)) {
	turn, _ := ctx.Value(o).(*Span)
	s := clientTool(turn, call, time.Now(), o.o.ContentBytes)
	s.ctx = o.sink.Began(ctx, s)
	return s.ctx, func(answer messages.Content, err error) {
		s.endTool(answer, err, ctx.Err() != nil, o.o.ContentBytes)
		s.End = time.Now()
		o.sink.Ended(s)
	}
}

// clientTool is the span of a tool that the client calls.
func clientTool(turn *Span, call *messages.ToolCall, start time.Time, content int) *Span {
	s := &Span{Kind: Tool, Name: named("execute_tool", call.Name), Parent: turn, Start: start,
		Attrs: append([]slog.Attr{slog.String("gen_ai.operation.name", "execute_tool"), slog.String("agfold.tool.by", "client")}, toolAttrs(call.Name, call.ID)...)}
	if content > 0 {
		s.set(slog.String("gen_ai.tool.call.arguments", clip(call.Arguments, content)))
	}
	return s
}

// endTool says how a tool that the client called ended. The text of an error is what the agent is told, and counts as content.
func (s *Span) endTool(answer messages.Content, err error, stopped bool, content int) {
	switch {
	case stopped:
		s.Outcome = reducer.Stopped.String()
	case err != nil:
		s.Outcome = "failed"
		text := "the tool failed"
		if content > 0 {
			text = err.Error()
		}
		s.fail(text, errorType(err))
	default:
		s.Outcome = "answered"
		answerAttrs(s, answer, content)
	}
}
