package demo

import (
	"context"
	"time"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
)

// Agent returns the agent. pace scales its pauses: 1 is the pace of a model, 2 is twice as slow, 0 or less is without any
// pause.
func Agent(pace float64) client.Agent {
	return client.Emit(func(ctx context.Context, in event.RunInput, emit func(...event.Event) error) error {
		start := time.Now()
		for _, b := range tell(&in) {
			if err := until(ctx, start.Add(time.Duration(float64(b.at)*max(pace, 0)))); err != nil {
				return err
			}
			if err := emit(b.ev); err != nil {
				return err
			}
		}
		return nil
	})
}

// until waits until a time. If ctx ends first, it returns the error of ctx.
func until(ctx context.Context, at time.Time) error {
	wait := time.Until(at)
	if wait <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
