package emit

import (
	"context"
	"iter"
	"runtime/debug"
	"sync"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/oneshot"
)

// Stream returns an agent written in Go as a function that calls send with its events, as [client.Emit] does; but send may be
// called from several goroutines, and f runs in one of its own. Nothing is checked. send returns when the reader has taken
// the events, and an error once ctx is done, the reader has left or f has returned. A panic in f becomes a
// [*client.PanicError]. Use [Agent] unless the stream is to hold what a [Run] would not send, or comes from elsewhere.
func Stream(f func(ctx context.Context, in event.RunInput, send func(...event.Event) error) error) client.Agent {
	return client.AgentFunc(func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
		return oneshot.Run(func(yield func(event.Event, error) bool) error {
			inner, cancel := context.WithCancelCause(ctx)
			p := &pipe{ctx: inner, events: make(chan event.Event), taken: make(chan struct{}), err: errExit}
			done := make(chan struct{})
			go func() {
				defer close(done)
				defer func() {
					if v := recover(); v != nil {
						p.err = &client.PanicError{Value: v, Stack: debug.Stack()}
					}
				}()
				p.err = f(inner, in, p.send)
			}()
			defer func() { // also if the reader panics
				cancel(oneshot.ErrBreak)
				<-done
			}()
			for {
				select {
				case ev := <-p.events:
					if !yield(ev, nil) {
						return oneshot.ErrBreak
					}
					select {
					case p.taken <- struct{}{}:
					case <-inner.Done():
					}
				case <-done:
					if ctx.Err() != nil {
						return oneshot.Canceled(ctx)
					}
					return p.err
				}
			}
		})
	})
}

// pipe brings events from any goroutine to the one that iterates the sequence.
type pipe struct {
	ctx    context.Context
	mu     sync.Mutex
	events chan event.Event
	taken  chan struct{} // the reader has done with the event
	err    error         // of the function, once it has returned
}

func (p *pipe) send(events ...event.Event) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, ev := range events {
		if p.ctx.Err() != nil {
			return oneshot.Canceled(p.ctx)
		}
		select {
		case p.events <- ev:
		case <-p.ctx.Done():
			return oneshot.Canceled(p.ctx)
		}
		select {
		case <-p.taken:
		case <-p.ctx.Done():
			return oneshot.Canceled(p.ctx)
		}
	}
	return nil
}
