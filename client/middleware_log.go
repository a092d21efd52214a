package client

import (
	"context"
	"iter"
	"log/slog"
	"time"

	"github.com/agfold/agfold/event"
)

// Log returns a middleware that logs runs: begin and end at level Info, an end with an error at Error, and each event's type,
// ordinal and size in bytes at Debug. Contents are not logged. A nil logger means slog.Default().
func Log(logger *slog.Logger) Middleware {
	if logger == nil {
		logger = slog.Default()
	}
	return func(next Agent) Agent {
		return runFunc(func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
			return func(yield func(event.Event, error) bool) {
				log := logger.With("threadId", in.ThreadID, "runId", in.RunID)
				log.InfoContext(ctx, "run begins", "messages", len(in.Messages))
				start := time.Now()
				n := 0
				var failure error
				broken := true // until the end is seen
				defer func() {
					log := log.With("events", n, "duration", time.Since(start))
					switch {
					case failure != nil:
						log.ErrorContext(ctx, "run ends", "error", failure)
					case broken:
						log.InfoContext(ctx, "run is broken off")
					default:
						log.InfoContext(ctx, "run ends")
					}
				}()
				for ev, err := range next.Run(ctx, in) {
					if err != nil {
						failure = err
						yield(nil, err)
						return
					}
					n++
					if log.Enabled(ctx, slog.LevelDebug) {
						f := event.FrameOfEvent(ev)
						log.DebugContext(ctx, "event", "type", f.TypeName(), "ordinal", n, "bytes", len(f.Data()))
					}
					if !yield(ev, nil) {
						return
					}
				}
				broken = false
			}
		})
	}
}
