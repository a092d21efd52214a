package client

import (
	"context"
	"iter"
	"slices"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/reducer"
)

// Middleware stands between an agent and who runs it. It returns an Agent that runs next and may change the
// input on the way to it and the events on the way back. It sees events before they are judged: frames with
// whatever the producer sent, and chunks (P-PIPE-3), but already in the shapes of AG-UI 1.0.
//
// What a middleware keeps about a run must live in the call of Run, for runs may go on at the same time. An
// event that it drops it replaces by an [event.Notice], so that those behind it keep their place in the count;
// an [event.Notice] from before it passes on.
type Middleware func(next Agent) Agent

// Chain returns agent with middleware around it. The first middleware is outermost: it gets the input first
// and the events last. Between the agent and the middleware stands the compatibility boundary, which converts
// what older producers send; it is there without any middleware too (P-PIPE-1).
func Chain(agent Agent, middleware ...Middleware) Agent {
	chained := Agent(agentFunc(func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
		u := event.NewUpgrader()
		u.Follow(slices.All(in.Messages))
		if th, ok := ctx.Value(historyKey{}).(*reducer.Thread); ok {
			u.Follow(th.Messages.All())
		}
		return mapped(refusingNil(agent.Run(ctx, in)), func() func(event.Event) event.Event { return u.Upgrade })
	}))
	for _, m := range slices.Backward(middleware) {
		chained = m(chained)
	}
	return chained
}

// historyKey is where the context of a session's run holds the thread that it goes on with: middleware may take
// messages out of the input.
type historyKey struct{}

func withHistory(ctx context.Context, th *reducer.Thread) context.Context {
	return context.WithValue(ctx, historyKey{}, th)
}

// refusingNil spares everything behind it events that are not there.
func refusingNil(events iter.Seq2[event.Event, error]) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for ev, err := range events {
			if ev == nil && err == nil {
				err = errNilEvent
			}
			if !yield(ev, err) || err != nil {
				return
			}
		}
	}
}

// agentFunc is a function that keeps the contract of Agent by itself.
type agentFunc func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error]

func (f agentFunc) Run(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
	return f(ctx, in)
}

// mapEvents returns a middleware that passes the input on and every event, but no notice, through a function
// that begin makes for each run.
func mapEvents(begin func() func(event.Event) event.Event) Middleware {
	return func(next Agent) Agent {
		return agentFunc(func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
			return mapped(next.Run(ctx, in), begin)
		})
	}
}

func mapped(events iter.Seq2[event.Event, error], begin func() func(event.Event) event.Event) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		convert := begin()
		for ev, err := range events {
			if err == nil && !isNotice(ev) {
				ev = convert(ev)
			}
			if !yield(ev, err) || err != nil {
				return
			}
		}
	}
}

func isNotice(ev event.Event) bool {
	f, ok := ev.(event.Frame)
	return ok && f.IsNotice()
}

// dropped returns what stands in for an event that is dropped: its own warnings, and more.
func dropped(f event.Frame, more ...event.Warning) event.Event {
	return event.Notice(slices.Concat(f.Warnings(), more)...)
}
