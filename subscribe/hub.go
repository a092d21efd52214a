package subscribe

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
)

// Hub connects one producer, which changes something under a lock, with any number of subscriptions to
// snapshots of it. Latest, Every, Flush and Close are safe for concurrent use and must be called without the
// producer's lock; Changed must be called with it.
//
// S should be immutable and cheap to copy, for example a pointer: one snapshot is sent to many goroutines.
type Hub[S any] struct {
	lock     sync.Locker
	snapshot func() S
	done     chan struct{} // closed by Close

	// Guarded by lock, the producer's own.
	revision uint64          // number of calls of Changed
	changed  chan struct{}   // closed at the next change; nil if no Latest waits for one
	closed   bool            // revision does not change any more
	fresh    bool            // current is the snapshot of revision
	current  S               // shared by all that need the snapshot of one revision
	every    []*Revisions[S] // replaced, never changed in place

	owed atomic.Bool // a member of every may have a backlog
}

// NewHub returns a hub for what lock guards. The hub calls snapshot with lock held, at most once a revision,
// and only when a subscription needs it. snapshot must not lock it again.
func NewHub[S any](lock sync.Locker, snapshot func() S) *Hub[S] {
	return &Hub[S]{lock: lock, snapshot: snapshot, done: make(chan struct{})}
}

// Changed tells the hub that the snapshot is out of date: one more revision. The producer calls it once for
// each change, holding the lock under which it made the change. Changed never blocks. It costs a few plain
// reads and writes while no Latest waits for a change, and otherwise wakes those that do. It takes a snapshot
// only for an Every. After Close it does nothing.
func (h *Hub[S]) Changed() {
	if h.closed {
		return
	}
	h.revision++
	if h.fresh || h.changed != nil || len(h.every) > 0 {
		h.spread()
	}
}

// spread is the part of Changed for a change that a subscription needs.
func (h *Hub[S]) spread() {
	if h.fresh { // do not keep an old snapshot alive
		var none S
		h.current, h.fresh = none, false
	}
	if h.changed != nil {
		close(h.changed)
		h.changed = nil
	}
	if len(h.every) > 0 {
		s := h.take()
		for _, r := range h.every {
			r.backlog = append(r.backlog, s)
		}
		h.owed.Store(true)
	}
}

// Flush sends the revisions since the last Flush to the Every subscriptions. This is where a
// full one with the Block policy makes the producer wait. The producer calls Flush after each
// change, or after each small batch of changes, without its lock. If there is nothing to send
// it costs one atomic load.
//
// When ctx ends first, Flush returns an error that wraps ctx.Err(). No revision is lost: a
// later Flush or Close continues where it stopped.
func (h *Hub[S]) Flush(ctx context.Context) error {
	if !h.flush(ctx.Done()) {
		return fmt.Errorf("waiting for a slow subscription: %w", ctx.Err())
	}
	return nil
}

// TryFlush is Flush without waiting: it sends what the Every subscriptions have room for and reports whether that was
// everything. The rest is not lost: a later Flush or Close sends it.
func (h *Hub[S]) TryFlush() bool { return h.flush(noWait) }

// noWait is closed: what may wait until it is closed does not wait.
var noWait = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// flush is Flush, which waits at most until stop is closed. It reports whether it sent everything.
func (h *Hub[S]) flush(stop <-chan struct{}) bool {
	if !h.owed.Load() {
		return true
	}
	h.lock.Lock()
	h.owed.Store(false)
	every := h.every
	h.lock.Unlock()

	all := true
	for _, r := range every {
		all = r.flush(stop) && all
	}
	if !all {
		h.owed.Store(true)
	}
	return all
}

// Close ends every subscription after the final snapshot, the one of the last change before Close. It does
// not wait for consumers: the final snapshot of a Latest is in its channel soon after Close returns, and no
// goroutine stays for it even if it is never received. An Every whose consumer is slow keeps a goroutine
// until the consumer has received the rest or its context ends. Closing again does nothing.
func (h *Hub[S]) Close() {
	h.lock.Lock()
	if h.closed {
		h.lock.Unlock()
		return
	}
	h.closed = true
	close(h.done)
	if h.changed != nil {
		close(h.changed)
	}
	every := h.every
	h.every = nil
	h.lock.Unlock()
	for _, r := range every {
		go r.finish()
	}
}

// take returns the snapshot of the current revision. The caller holds lock.
func (h *Hub[S]) take() S {
	if !h.fresh {
		h.current, h.fresh = h.snapshot(), true
	}
	return h.current
}
