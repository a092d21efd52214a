package demo

import (
	"context"
	"time"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/emit"
)

// Agent returns the agent. pace scales its pauses: 1 is the pace of a model, 2 is twice as slow, 0 or less is without any
// pause.
func Agent(pace float64) client.Agent {
	return emit.Agent(func(ctx context.Context, run *emit.Run) error {
		start, clock := time.Now(), time.Duration(0)
		s := &script{Scope: &run.Scope, ids: run.Input().RunID, pause: func(d time.Duration) {
			clock += d
			until(ctx, start.Add(time.Duration(float64(clock)*max(pace, 0))))
		}}
		return s.tell(run)
	}, nil)
}

// until waits until a time or the end of ctx.
func until(ctx context.Context, at time.Time) {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
