package subscribe

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
)

// Hub joins one producer, which changes something under a lock, to any number of
// subscriptions to snapshots of it. Latest, Every, Flush and Close are safe for concurrent
// use and are called without the producer's lock; Changed is called with it.
//
// A hub and a subscription with nothing to do hold no goroutine. S should be immutable and
// cheap to copy, a pointer for instance: one snapshot is handed to many goroutines.
type Hub[S any] struct {
	lock     sync.Locker
	snapshot func() S

	// Guarded by lock, the producer's own.
	revision uint64          // how often Changed was called
	armed    bool            // an idle subscription waits for the next change
	closed   bool            // revision stays as it is
	fresh    bool            // current is the snapshot of revision
	current  S               // shared by all who need the snapshot of one revision
	every    []*Revisions[S] // replaced, never changed in place

	owed atomic.Bool // a member of every may have a backlog

	// subs guards what follows. It is taken before lock, never while lock is held, so
	// that serving a thousand subscriptions does not keep the producer waiting.
	subs   sync.Mutex
	idle   []*latest[S] // hold the newest revision: served by pump
	behind []*latest[S] // their consumer has not taken an older one: each has a chaser
}

// NewHub returns a hub for what lock guards. The hub calls snapshot with lock held, at most
// once a revision, and only when a subscription needs it; snapshot must not lock it again.
func NewHub[S any](lock sync.Locker, snapshot func() S) *Hub[S] {
	return &Hub[S]{lock: lock, snapshot: snapshot}
}

// Changed says that what the snapshot shows has changed: one more revision. The producer
// calls it once for each change, holding the lock under which it made the change. Changed
// never blocks. While no subscription waits for a change it does not allocate and costs a
// few plain reads and writes, no atomic operation; otherwise it starts a goroutine that
// serves all of them, and takes a snapshot itself only for an Every. After Close it does
// nothing.
func (h *Hub[S]) Changed() {
	if h.closed {
		return
	}
	h.revision++
	if h.fresh || h.armed || len(h.every) > 0 {
		h.spread()
	}
}

// spread is the part of Changed for a change that concerns somebody.
func (h *Hub[S]) spread() {
	if h.fresh { // an old snapshot is not kept alive for nobody
		var none S
		h.current, h.fresh = none, false
	}
	if h.armed {
		h.armed = false
		go h.pump()
	}
	if len(h.every) > 0 {
		s := h.take()
		for _, r := range h.every {
			r.backlog = append(r.backlog, s)
		}
		h.owed.Store(true)
	}
}

// Flush hands the revisions made since the last Flush to the Every subscriptions, and is
// where a full one with the Block policy holds the producer back. The producer calls it
// after each change, or after each small batch of them, without its lock. With nothing to
// hand over it costs one atomic load.
//
// When ctx ends first, Flush returns an error that matches ctx.Err(); no revision is lost:
// a later Flush or Close goes on where it stopped.
func (h *Hub[S]) Flush(ctx context.Context) error {
	if !h.owed.Load() {
		return nil
	}
	h.lock.Lock()
	h.owed.Store(false)
	every := h.every
	h.lock.Unlock()

	var stopped error
	for _, r := range every {
		if err := r.flush(ctx); err != nil {
			stopped = err
		}
	}
	if stopped != nil {
		h.owed.Store(true)
		return fmt.Errorf("subscribe: waiting for a slow subscription: %w", stopped)
	}
	return nil
}

// Close ends every subscription once it has got the final snapshot, the one of the last
// change before Close. It does not wait for consumers: the final snapshot of a Latest lies
// in its channel when Close returns or soon after, and no goroutine stays for it even if
// nobody ever receives it. An Every whose consumer is behind keeps a goroutine until the
// consumer has taken the rest or its context ends. Closing again does nothing.
func (h *Hub[S]) Close() {
	h.subs.Lock()
	h.lock.Lock()
	if h.closed {
		h.lock.Unlock()
		h.subs.Unlock()
		return
	}
	final := h.take()
	h.closed, h.armed = true, false
	every := h.every
	h.every = nil
	h.lock.Unlock()

	ended := append(h.idle, h.behind...)
	for _, l := range h.idle {
		l.place = gone
		l.end(final, h.revision)
	}
	for _, l := range h.behind {
		l.place = gone
		close(l.stop)
	}
	h.idle, h.behind = nil, nil
	h.subs.Unlock()

	for _, l := range ended {
		l.unhook()
	}
	for _, r := range every {
		go r.finish()
	}
}

// take returns the snapshot of the current revision; lock is held.
func (h *Hub[S]) take() S {
	if !h.fresh {
		h.current, h.fresh = h.snapshot(), true
	}
	return h.current
}
