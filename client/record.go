package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/recording"
)

// Record returns a middleware that writes runs to w as they happen: the input, every event with the time since the
// run's start, and the error that the stream ends with. [recording.Fold] and [recording.NewReplay] read them back.
// The caller closes w.
//
// It records the events at its place in the chain: as the last argument of [Chain], what the agent sent. An event that
// an inner middleware has dropped is not recorded. Concurrent runs each need their own Record and w.
//
// A write that fails does not fail the run: the recording of that run ends, a warning with the rule "recording" comes with
// the next event, and w's Close returns the error. If w is nil, every run returns an error.
func Record(w *recording.Writer) Middleware {
	if w == nil {
		return unusableMiddleware(errors.New("there is nothing to record to: the recording.Writer is nil"))
	}
	return func(next Agent) Agent {
		return runFunc(func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
			return func(yield func(event.Event, error) bool) {
				start := time.Now()
				failure := w.Head(&in, start)
				warned := false
				for ev, err := range next.Run(ctx, in) {
					switch {
					case failure != nil:
					case err != nil:
						_ = w.Error(err, time.Since(start)) // no event follows that could carry a warning
					case ev != nil:
						failure = w.Event(ev, time.Since(start))
					}
					if err == nil && failure != nil && !warned {
						warned = true
						ev = event.FrameOfEvent(ev).WithWarnings(event.Warning{
							Rule: "recording", Text: fmt.Sprintf("the rest of the run is not recorded: %v", failure),
						})
					}
					if !yield(ev, err) || err != nil {
						return
					}
				}
			}
		})
	}
}
