package serve

import (
	"context"
	"fmt"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/reducer"
)

// A Store keeps threads while no session holds them. All methods may be called concurrently. [NewMemory] and [NewDir] make
// one; others may keep threads in a database or a log.
type Store interface {
	// Open takes a thread for this process until the Stored is closed, and returns what is stored of it. A thread that is not
	// stored is empty, and nothing need be stored of it before Save or a run. If another process holds it, the error is a
	// *HeldError. Open is not called again for a thread before its Stored was closed.
	Open(ctx context.Context, threadID string) (Stored, error)
}

// Stored is a thread of a [Store] that this process holds. Its methods are called by one goroutine at a time, but those of
// the middleware of Record while Save is not called.
type Stored interface {
	// Thread returns the thread as it was stored, nil if it was not. What a process received of a run before it crashed is part
	// of it, as far as the store promises; that run is then truncated.
	Thread() *reducer.Thread
	// Record returns a middleware that stores runs as they happen, outermost in the session's chain; nil if the store does not.
	Record() client.Middleware
	// Save stores what thread returns, which it calls once. What Record had stored before that call is part of the thread; what it
	// stores later may not be, because a stream can outlive its run.
	Save(ctx context.Context, thread func() *reducer.Thread) error
	// Lost is closed once another process may have taken the thread, because a lease has expired. The run is then stopped, and
	// nothing more is saved. Nil means never.
	Lost() <-chan struct{}
	// Close gives the thread up.
	Close() error
}

// An Attacher is a [Stored] that is told the session of its thread, right after that was made and before anything runs: for a
// store that keeps what the session does between runs too, or that can stop it. The session is the handler's to close.
type Attacher interface {
	Stored
	Attach(s *client.Session)
}

// A Stopper is a [Store] that can have the process that holds a thread stop its run. POST /ID/stop then works in every
// process.
type Stopper interface {
	Store
	// Stop asks the holder to stop the run in progress, and returns once it has been told. A thread that nobody holds has none.
	Stop(ctx context.Context, threadID string) error
}

// A Follower is a [Store] whose threads can be watched while another process holds them. Tabs of such a thread get what
// Follow delivers.
type Follower interface {
	Store
	// Follow returns snapshots of the thread, the newest of which wins, until ctx ends. It closes the channel when the holder
	// gives the thread up: tabs then connect again, and this process tries to take it.
	Follow(ctx context.Context, threadID string) (<-chan client.Snapshot, error)
}

// HeldError says that another process holds a thread. Requests that would change the thread are answered with 409, with the
// holder's name.
type HeldError struct {
	Holder string // who holds it, in words for people; "" if that is not known
}

// Error names the holder.
func (e *HeldError) Error() string {
	if e.Holder == "" {
		return "the thread is held by another process"
	}
	return fmt.Sprintf("the thread is held by %q", e.Holder)
}
