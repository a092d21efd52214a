package client

import (
	"context"
	"errors"
	"iter"
	"runtime/debug"

	"github.com/agfold/agfold/event"
)

// Func is an agent written in Go as a function that returns the run's events, under the contract of
// [Agent]: an error comes alone and last. Ranging over it adds what a function may leave out: the end of
// ctx ends the sequence, and a panic in the function becomes a *PanicError.
type Func func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error]

// Run returns the events of one run.
func (f Func) Run(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
	return run(ctx, func(emit func(event.Event) error) error {
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

// Emit returns an agent written in Go as a function that calls emit for each event and returns when the run
// is over, with an error or nil. emit returns an error when the run is to stop, because ctx has ended or
// nobody reads any more; the function should then return. It must be called by the function's own goroutine
// and not after the function has returned. A panic in the function becomes a *PanicError.
//
// Ids must be new in each run, made from in.RunID for instance: a message or call whose id the thread holds
// goes on where it stands (P-TXT-1, P-TOL-2).
func Emit(f func(ctx context.Context, in event.RunInput, emit func(event.Event) error) error) Agent {
	return emitter(f)
}

type emitter func(ctx context.Context, in event.RunInput, emit func(event.Event) error) error

func (f emitter) Run(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
	return run(ctx, func(emit func(event.Event) error) error { return f(ctx, in, emit) })
}

var errNilEvent = errors.New("the agent emitted a nil event")

// run turns a function that emits events into a sequence.
func run(ctx context.Context, f func(emit func(event.Event) error) error) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		r := emission{ctx: ctx, yield: yield}
		err := r.guard(f)
		if r.stop != nil { // however f took it
			err = r.stop
		}
		if err != nil && err != errBreak {
			yield(nil, err)
		}
	}
}

// emission is one run of a function that emits events.
type emission struct {
	ctx     context.Context
	yield   func(event.Event, error) bool
	stop    error // why no more events may be emitted
	reading bool  // the reader has the event, and a panic is the reader's
}

func (r *emission) emit(ev event.Event) error {
	switch {
	case r.stop != nil:
	case r.ctx.Err() != nil:
		r.stop = canceled(r.ctx)
	case ev == nil:
		r.stop = errNilEvent
	default:
		r.reading = true
		if !r.yield(ev, nil) {
			r.stop = errBreak
		}
		r.reading = false
	}
	return r.stop
}

// guard calls f and turns a panic of f, not of the reader, into an error.
func (r *emission) guard(f func(emit func(event.Event) error) error) (err error) {
	defer func() {
		if r.reading {
			return
		}
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	if r.ctx.Err() != nil {
		return canceled(r.ctx)
	}
	return f(r.emit)
}
