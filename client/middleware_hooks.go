package client

import (
	"context"
	"errors"
	"iter"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/reducer"
)

// OnInput returns a middleware that has f change the input of each run before it is sent. f gets a copy of the input and
// sets its fields; it must not change what they refer to, and be safe for concurrent use. If it returns an error, nothing is
// sent and the run ends with a [*PrepareError]. What f changes is sent, and does not change the thread.
func OnInput(f func(ctx context.Context, in *event.RunInput) error) Middleware {
	if f == nil {
		return unusableMiddleware(errNoHook)
	}
	return func(next Agent) Agent {
		return runFunc(func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
			return func(yield func(event.Event, error) bool) {
				if err := f(ctx, &in); err != nil {
					yield(nil, &PrepareError{err})
					return
				}
				next.Run(ctx, in)(yield)
			}
		})
	}
}

// OnEvent returns a middleware that has f see each event before it is judged, with the thread as it was before the event, and
// decide what becomes of it: pass hands on the event itself, another one in its place, or several; an event that is not
// passed is dropped. f must be safe for concurrent use, as runs are; pass is for f's goroutine and must not be called after
// f has returned.
//
// The thread is what the run's input says and what the run has done to it so far, with what f has passed. The middleware
// folds the run for that, so events cost about twice as much; events that make the fold fail are passed to f with the
// thread before them.
//
// Events that f adds are the client's changes. Outside of [Record], that is, before it in [SessionOptions.Middleware], they
// are recorded as such: the next run's input has them. An added event takes an ordinal of its own, so the ordinals in later
// warnings and errors of the run are higher than on the wire.
func OnEvent(f func(before *reducer.Thread, ev event.Event, pass func(...event.Event))) Middleware {
	if f == nil {
		return unusableMiddleware(errNoHook)
	}
	return func(next Agent) Agent {
		return runFunc(func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
			return func(yield func(event.Event, error) bool) {
				fold := reducer.New(&reducer.Options{Input: &in})
				for ev, err := range next.Run(ctx, in) {
					if err != nil || isNotice(ev) {
						if !yield(ev, err) || err != nil {
							return
						}
						continue
					}
					passed, left := false, false
					f(fold.Thread(), ev, func(events ...event.Event) {
						for _, ev := range events {
							if left {
								return
							}
							passed = true
							if ev == nil {
								left = true
								yield(nil, errNilEvent)
								return
							}
							for _, err := range fold.Deliver(ev) {
								if err != nil {
									break // the reader of the stream reports it
								}
							}
							left = !yield(ev, nil)
						}
					})
					if !passed {
						left = !yield(dropped(event.FrameOfEvent(ev)), nil)
					}
					if left {
						return
					}
				}
			}
		})
	}
}

var errNoHook = errors.New("there is no function to call: it is nil")
