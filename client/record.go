package client

import (
	"context"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/recording"
)

// Record returns a middleware that writes runs to w as they happen: the input, and every event with the time
// since the run's start, one line of JSON each, and the text of an error that the stream ends with. [recording.NewReplay]
// and [recording.Fold] read it back. Each line is one call of w's Write, followed by w's Flush if it has one, so that
// a crash loses no more than the last line; a file that is not empty is gone on with. Closing w stays with the
// caller.
//
// It records what passes where it stands: as the last argument of [Chain], what the agent sent. An event that
// a middleware inside has dropped is not recorded. Runs at the same time need a Record and a w of their own.
//
// A failing w does not fail the run: the run's recording ends, and a warning with the rule "recording" comes
// with the next event.
func Record(w io.Writer) Middleware {
	rec := recording.NewWriter(w)
	return func(next Agent) Agent {
		return runFunc(func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
			return func(yield func(event.Event, error) bool) {
				start := time.Now()
				failure := rec.Head(&in, start)
				told := false
				for ev, err := range next.Run(ctx, in) {
					switch {
					case failure != nil:
					case err != nil:
						_ = rec.Error(err, time.Since(start)) // no event follows that could carry a warning
					case ev != nil:
						failure = rec.Event(ev, time.Since(start))
					}
					if err == nil && failure != nil && !told {
						told = true
						ev = event.FrameOfEvent(ev).WithWarnings(event.Warning{
							Rule: "recording", Text: fmt.Sprintf("the run is not recorded from here on: %v", failure),
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
