package serve

import (
	"github.com/agfold/agfold/client"
)

// start starts a turn of the thread's session, or says why it is refused. The turn outlives the request, and the thread is
// stored after it. acting is held.
func (t *Threads) start(e *entry, o *client.RunOptions) error {
	t.mu.Lock()
	t.using(e)
	t.mu.Unlock()
	turn, err := e.session.Start(t.ctx, o)
	if err != nil {
		t.release(e)
		return err
	}
	go func() {
		defer t.release(e)
		<-turn.Done()
		_ = t.save(e) // it has logged the error, and is tried again when the thread is dropped
	}()
	return nil
}
