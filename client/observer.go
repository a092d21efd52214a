package client

import (
	"context"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// Observer sees what a session does, from the beginning to the end of each part, for traces and metrics: see
// [SessionOptions.Observers], and package spans, which makes one. It changes nothing but the contexts.
//
// The context that a method returns must be derived from the one that it got. It is the context of what begins: that of a turn
// is the parent of its streams and tools, and that of a stream is passed to the agent, so a value in it reaches middleware and
// [HTTPOptions.Prepare]. The methods and the functions that they return are called without a lock, and what they are about waits
// for them, so they should be quick. They must not wait for the session, and must not panic. An Observer that several sessions
// share must be safe for concurrent use; in one session the tools of a round are called concurrently.
type Observer interface {
	// Turn is called when a turn begins, after it has waited in a queue. The function that it returns is called once, when the
	// turn ends, with the error of its [Result].
	Turn(ctx context.Context, threadID string) (context.Context, func(err error))
	// Stream is called before the input of a run is sent.
	Stream(ctx context.Context, in *event.RunInput) (context.Context, StreamObserver)
	// Tool is called before a tool's function is called, after it was approved. The function that it returns is called once, with
	// the content of the answer, or with why there is none, which is the text of the answer unless the turn was stopped.
	Tool(ctx context.Context, call *messages.ToolCall) (context.Context, func(answer messages.Content, err error))
}

// StreamObserver sees one stream of events: the run that was asked for, and what the agent adds on the same stream. Its
// methods are called by one goroutine at a time.
type StreamObserver interface {
	// Deliver is called with each delivery. What the delivery holds, texts included, is valid until Deliver returns.
	Deliver(d reducer.Delivery)
	// End is called once, after the last delivery, with the error of a run that the stream left unfinished or was rejected in:
	// that of [reducer.Reducer.Err]. A run that has ended by itself has said so in its delivery. While a stream lingers
	// ([SessionOptions.Linger]), its end may come after that of its turn.
	End(err error)
}

// observers are those of a session. Without any, nothing is called and contexts stay as they are.
type observers []Observer

// turn tells them that a turn begins. The function that it returns tells them of its end, in reverse order.
func (all observers) turn(ctx context.Context, threadID string) (context.Context, func(error)) {
	ends := make([]func(error), len(all))
	for i, o := range all {
		ctx, ends[i] = o.Turn(ctx, threadID)
	}
	return ctx, func(err error) {
		for i := len(ends) - 1; i >= 0; i-- {
			ends[i](err)
		}
	}
}

// stream tells them that a stream begins.
func (all observers) stream(ctx context.Context, in *event.RunInput) (context.Context, streamObservers) {
	if len(all) == 0 {
		return ctx, nil
	}
	streams := make(streamObservers, len(all))
	for i, o := range all {
		ctx, streams[i] = o.Stream(ctx, in)
	}
	return ctx, streams
}

// tool tells them that a tool is called.
func (all observers) tool(ctx context.Context, call *messages.ToolCall) (context.Context, func(messages.Content, error)) {
	ends := make([]func(messages.Content, error), len(all))
	for i, o := range all {
		ctx, ends[i] = o.Tool(ctx, call)
	}
	return ctx, func(answer messages.Content, err error) {
		for i := len(ends) - 1; i >= 0; i-- {
			ends[i](answer, err)
		}
	}
}

// streamObservers are those of one stream.
type streamObservers []StreamObserver

func (all streamObservers) deliver(d reducer.Delivery) {
	for _, o := range all {
		o.Deliver(d)
	}
}

func (all streamObservers) end(err error) {
	for i := len(all) - 1; i >= 0; i-- {
		all[i].End(err)
	}
}
