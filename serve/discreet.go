package serve

import (
	"context"
	"errors"
	"iter"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
)

// discreet is a middleware that logs the error that an agent's run ends with, and puts into the thread, which browsers see,
// only what a client of [Agent] would be told: the text may hold what is not theirs.
func (t *Threads) discreet(id string) client.Middleware {
	return func(next client.Agent) client.Agent {
		return client.AgentFunc(func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
			return func(yield func(event.Event, error) bool) {
				for ev, err := range next.Run(ctx, in) {
					if err != nil && ctx.Err() == nil {
						t.log().ErrorContext(ctx, "the agent failed", "thread", id, "run", in.RunID, "error", err)
						err = errors.New(runError(ctx, err).Message)
					}
					if !yield(ev, err) {
						return
					}
				}
			}
		})
	}
}
