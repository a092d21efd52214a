package client

import (
	"context"
	"iter"
	"slices"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/oneshot"
	"github.com/agfold/agfold/reducer"
)

// Middleware wraps an agent. It returns an Agent that runs next and may change the input before it and the events after it.
// A changed input is a copy with new slices: the inputs of a session share what they hold.
// It sees events before they are judged: frames with whatever the producer sent, and chunks (P-PIPE-3), but already in the
// shapes of AG-UI 1.0.
//
// What a middleware keeps about a run must live in the call of Run, because runs may be concurrent. It replaces an event
// that it drops by an [event.Notice], so that later events keep their ordinals, and passes on each Notice that it gets.
type Middleware func(next Agent) Agent

// Chain returns agent with middleware around it. The first middleware is outermost: it gets the input first and the events
// last. Innermost is the compatibility boundary, which converts what older producers send, even if there is no middleware
// (P-PIPE-1). If agent or a middleware is nil, every run returns an error; so it does if NewHTTP or a middleware of this
// package got an argument that it cannot use.
//
// What agent declares ([Declarer]), the result declares, unless a middleware declares something else.
func Chain(agent Agent, middleware ...Middleware) Agent { return chained(agent, nil, middleware) }

// chained is Chain for a session, whose thread says which ids are taken even if middleware takes messages out of the
// input.
func chained(agent Agent, thread func() *reducer.Thread, middleware []Middleware) Agent {
	if err := unusableError(agent); err != nil {
		return unusable{err}
	}
	outer := Agent(runFunc(func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
		return upgraded(withoutNil(agent.Run(ctx, in)), in, thread)
	}))
	outer = declaringAs(outer, agent)
	for _, m := range slices.Backward(middleware) {
		inner := outer
		if m != nil {
			outer = m(inner)
		}
		if m == nil || outer == nil {
			return unusable{errNoMiddleware}
		}
		if err := unusableError(outer); err != nil {
			return unusable{err}
		}
		outer = declaringAs(outer, inner)
	}
	return outer
}

// upgraded passes the events of a run through the compatibility boundary.
func upgraded(events iter.Seq2[event.Event, error], in event.RunInput, thread func() *reducer.Thread) iter.Seq2[event.Event, error] {
	u := new(event.Upgrader)
	u.Follow(slices.All(in.Messages))
	if thread != nil {
		u.Follow(thread().Messages.All())
	}
	return mapped(events, func() func(event.Event) event.Event { return u.Upgrade })
}

// withoutNil makes a nil event an error, so that code outside need not check for one.
func withoutNil(events iter.Seq2[event.Event, error]) iter.Seq2[event.Event, error] {
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

// runFunc is an Agent whose sequences can be iterated only once; the rest of the contract is the function's.
type runFunc func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error]

func (f runFunc) Run(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
	return oneshot.Seq(f(ctx, in))
}

// mapEvents returns a middleware that passes each event, except notices, through a function that begin makes for each run.
func mapEvents(begin func() func(event.Event) event.Event) Middleware {
	return func(next Agent) Agent {
		return runFunc(func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
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

// dropped returns what replaces an event that is dropped: a notice with its own warnings, and more.
func dropped(f event.Frame, more ...event.Warning) event.Event {
	return event.Notice(slices.Concat(f.Warnings(), more)...)
}
