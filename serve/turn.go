package serve

import (
	"context"

	"github.com/agfold/agfold/client"
)

// start starts a turn of the thread's session, or says why it is refused. The turn outlives the request, and the thread is
// stored after it. acting is held.
func (t *Threads) start(e *entry, o *client.RunOptions) error {
	t.mu.Lock()
	t.using(e)
	t.mu.Unlock()
	done, err := begin(t.ctx, e.session, o)
	if err != nil {
		t.release(e)
		return err
	}
	go func() {
		defer t.release(e)
		<-done
		_ = t.save(e) // it has logged the error, and is tried again when the thread is dropped
	}()
	return nil
}

// begin starts a turn and returns once it is accepted, or refused with an error. done is closed when it is over.
func begin(ctx context.Context, s *client.Session, o *client.RunOptions) (done <-chan struct{}, err error) {
	if s.Snapshot().Phase.Busy() {
		return nil, client.ErrBusy
	}
	watch, cancel := context.WithCancel(ctx)
	defer cancel()
	before := s.Result()
	over := make(chan struct{})
	go func() {
		defer close(over)
		for _, failed := range s.Run(ctx, o) {
			err = failed
		}
	}()
	snapshots := s.Subscribe(watch)
	for {
		select {
		case <-over:
			if s.Result() == before {
				return nil, err
			}
			return over, nil
		case snapshot, ok := <-snapshots:
			if ok && snapshot.Phase.Busy() {
				return over, nil
			}
			if !ok {
				snapshots = nil
			}
		}
	}
}
