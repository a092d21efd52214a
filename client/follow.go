package client

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/agfold/agfold/internal/feed"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/subscribe"
)

// FollowOptions configures [Follow]; nil means the defaults.
type FollowOptions struct {
	// HTTPClient makes the requests; nil is a client without a timeout. Its Timeout ends each connection, and a new one
	// follows.
	HTTPClient *http.Client
	// Header is added to every request, for example for authorization.
	Header http.Header
	// MaxBytes is the most bytes that the thread may have as JSON, and an event of the feed. 0 means 64 MiB
	// ([state.DefaultMaxSize]). Beyond it the error matches [state.ErrLimit] and following ends.
	MaxBytes int
	// Silence is how long a connection may say nothing before it counts as lost. The server breaks its silence every 15
	// seconds by default. 0 means 45 s, a negative value no limit.
	Silence time.Duration
	// OnConnection is called with nil whenever the feed has been connected and has sent its first event, and with the
	// error when a connection fails or is lost, from the goroutine that follows. Nil ignores both.
	OnConnection func(error)
}

// Follower follows a thread of another process. It is safe for concurrent use.
type Follower struct {
	o     FollowOptions
	url   string
	hub   *subscribe.Hub[Snapshot]
	done  chan struct{}
	flush context.Context // of the subscriptions that hold the reader back

	mu  sync.Mutex
	now Snapshot
	err error
}

// Follow follows the thread at url, which package serve serves, until ctx ends or the server says that it will not serve
// it. It returns at once: the snapshots are those of the server's session, over the same channels, but of several
// that are near in time only the last one comes. If the connection is lost, Follow connects again, after waiting for
// about half a second at first and at most 45 seconds, and continues where it was. Before the first snapshot has come, the thread is
// empty and has no id. Result is always nil.
//
// A snapshot shares with the one before what did not change. A change costs the length of the messages that it changes, not
// of the thread. One goroutine follows, with one more while it is connected.
func Follow(ctx context.Context, url string, o *FollowOptions) *Follower {
	f := &Follower{url: url, done: make(chan struct{}), flush: ctx, now: Snapshot{Thread: new(reducer.Thread)}}
	if o != nil {
		f.o = *o
	}
	if f.o.HTTPClient == nil {
		f.o.HTTPClient = &http.Client{}
	}
	own := *f.o.HTTPClient // the caller's is not changed
	own.CheckRedirect = stripHeader(own.CheckRedirect)
	f.o.HTTPClient = &own
	if f.o.Silence == 0 {
		f.o.Silence = 45 * time.Second
	}
	f.hub = subscribe.NewHub(&f.mu, func() Snapshot { return f.now })
	go f.follow(ctx)
	return f
}

// Snapshot returns the newest snapshot.
func (f *Follower) Snapshot() Snapshot {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// Subscribe returns a channel of snapshots, the newest of which wins; see [Session.Subscribe]. It is closed when following
// ends, or when ctx does.
func (f *Follower) Subscribe(ctx context.Context) <-chan Snapshot { return f.hub.Latest(ctx) }

// Revisions returns a subscription to every snapshot that comes, in order; see [Session.Revisions]. With the Block policy a
// slow reader holds the feed back; the server then sends fewer and larger changes.
func (f *Follower) Revisions(ctx context.Context, o *subscribe.EveryOptions) *subscribe.Revisions[Snapshot] {
	return f.hub.Every(ctx, o)
}

// Done returns a channel that is closed when following has ended.
func (f *Follower) Done() <-chan struct{} { return f.done }

// Err returns why following ended, nil while it goes on: the error of ctx; a [*StatusError] whose status does not change by
// asking again (400, 401, 403, 404, 405, 410); or an error that matches [state.ErrLimit], because the thread is larger
// than FollowOptions.MaxBytes.
func (f *Follower) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// show makes what the replica has the newest snapshot.
func (f *Follower) show(s feed.Snapshot) error {
	f.mu.Lock()
	f.now = Snapshot{Thread: s.Thread, Phase: phaseNamed(s.Phase), Queued: s.Queued}
	f.hub.Changed()
	f.mu.Unlock()
	return f.hub.Flush(f.flush)
}

// phaseNamed returns the phase with that name, PhaseIdle if there is none.
func phaseNamed(name string) Phase {
	for p, n := range phaseNames {
		if n == name {
			return Phase(p)
		}
	}
	return PhaseIdle
}

// end ends following.
func (f *Follower) end(err error) {
	f.mu.Lock()
	f.err = err
	f.mu.Unlock()
	f.hub.Close()
	close(f.done)
}

// connection tells the caller of a connection.
func (f *Follower) connection(err error) {
	if f.o.OnConnection != nil {
		f.o.OnConnection(err)
	}
}
