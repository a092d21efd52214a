package client

import (
	"context"
	"errors"
	"iter"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/oneshot"
)

// unusable is an agent that the arguments of its constructor have made useless: every run is its error.
type unusable struct{ error }

func (u unusable) Run(context.Context, event.RunInput) iter.Seq2[event.Event, error] {
	return oneshot.Seq(func(yield func(event.Event, error) bool) { yield(nil, u.error) })
}

// unusableMiddleware returns a middleware that makes every agent unusable.
func unusableMiddleware(err error) Middleware { return func(Agent) Agent { return unusable{err} } }

var (
	errNoAgent      = errors.New("there is no agent: it is nil")
	errNoMiddleware = errors.New("a middleware is nil, or returned a nil agent")
)

// unusableError returns why no run of agent can begin, nil if one may.
func unusableError(agent Agent) error {
	switch a := agent.(type) {
	case nil:
		return errNoAgent
	case unusable:
		return a.error
	}
	return nil
}
