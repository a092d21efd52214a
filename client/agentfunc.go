package client

import (
	"context"
	"errors"
	"iter"
	"runtime/debug"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/oneshot"
)

// AgentFunc is an [Agent] written in Go as a function that returns the run's events. Run adds what the function may
// leave out of the contract of Agent: the end of ctx ends the sequence, it can be iterated only once, and a panic
// becomes a [*PanicError].
type AgentFunc func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error]

// Run returns the events of one run.
func (f AgentFunc) Run(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
	return emitted(ctx, func(emit emitFunc) error {
		for ev, err := range f(ctx, in) {
			if err != nil {
				return err
			}
			if err := emit(ev); err != nil {
				return err
			}
		}
		return nil
	})
}

// Emit returns an agent written in Go as a function that calls emit with its events, one or several at a time, and
// returns an error or nil when the run is over. emit returns an error once the run is to stop, because ctx is done or
// the reader has left; f should then return. Only f's own goroutine may call emit, and only until f returns. A panic
// in f becomes a [*PanicError].
//
// The ids of messages and calls must be new in each run, made from in.RunID for instance: a message or call whose id
// the thread holds continues that one (P-TXT-1, P-TOL-2).
func Emit(f func(ctx context.Context, in event.RunInput, emit func(...event.Event) error) error) Agent {
	return runFunc(func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
		return emitted(ctx, func(emit emitFunc) error { return f(ctx, in, emit) })
	})
}

type emitFunc = func(...event.Event) error

var errNilEvent = errors.New("the agent emitted a nil event")

// emitted returns the events that f emits.
func emitted(ctx context.Context, f func(emitFunc) error) iter.Seq2[event.Event, error] {
	return oneshot.Run(func(yield func(event.Event, error) bool) error {
		e := emission{ctx: ctx, yield: yield}
		err := e.call(f)
		switch {
		case e.stopped != nil: // whatever f returned
			return e.stopped
		case err == nil && ctx.Err() != nil:
			return oneshot.Canceled(ctx)
		}
		return err
	})
}

// emission is one run of a function that emits events.
type emission struct {
	ctx      context.Context
	yield    func(event.Event, error) bool
	stopped  error // why no more events may be emitted
	yielding bool  // a panic is the reader's
}

func (e *emission) emit(events ...event.Event) error {
	for _, ev := range events {
		switch {
		case e.stopped != nil:
		case e.ctx.Err() != nil:
			e.stopped = oneshot.Canceled(e.ctx)
		case ev == nil:
			e.stopped = errNilEvent
		default:
			e.yielding = true
			if !e.yield(ev, nil) {
				e.stopped = oneshot.ErrBreak
			}
			e.yielding = false
		}
	}
	return e.stopped
}

// call calls f and turns a panic of f, but not one of the reader, into an error.
func (e *emission) call(f func(emitFunc) error) (err error) {
	defer func() {
		if e.yielding {
			return
		}
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	if e.ctx.Err() != nil {
		return oneshot.Canceled(e.ctx)
	}
	return f(e.emit)
}
