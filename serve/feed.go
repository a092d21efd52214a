package serve

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"net/http"
	"sync"
	"time"

	"github.com/agfold/agfold/client"
	core "github.com/agfold/agfold/internal/feed"
)

// feedOptions configures a feed. Nil and the zero value mean the defaults.
type feedOptions struct {
	interval     time.Duration // the least time between two events; 0 means 33 ms, a negative one no limit
	keepAlive    time.Duration // the longest silence before a comment; 0 means 15 s, a negative one no comments
	writeTimeout time.Duration // how long one write may take before the tab is dropped; 0 means 30 s
	ring         core.Options
}

// feed sends the snapshots of one thread to any number of tabs. It keeps the last ones, so that a tab that comes back gets
// what it missed, and encodes each event once for all. Every tab has its request's goroutine; while there are tabs, one
// more takes the snapshots. It is safe for concurrent use.
//
// A tab never has a queue: when it is ready, it gets what changed since the snapshot that it has. So a tab that stops
// reading costs that snapshot, one event and the buffers of its connection until writeTimeout has passed.
type feed struct {
	source func(context.Context) <-chan client.Snapshot
	o      feedOptions

	mu     sync.Mutex
	ring   *core.Ring
	tabs   int
	fresh  bool               // the ring has a snapshot that was taken since the first of the tabs came
	ended  bool               // nothing follows
	cancel context.CancelFunc // ends the subscription; nil without tabs
	moved  chan struct{}      // closed at the next change of the fields above
}

// newFeed returns a feed of what source subscribes to.
func newFeed(source func(context.Context) <-chan client.Snapshot, o *feedOptions) *feed {
	f := &feed{source: source, moved: make(chan struct{})}
	if o != nil {
		f.o = *o
	}
	orDefault(&f.o.interval, 33*time.Millisecond)
	orDefault(&f.o.keepAlive, 15*time.Second)
	orDefault(&f.o.writeTimeout, 30*time.Second)
	var name [6]byte
	rand.Read(name[:]) // never fails
	f.ring = core.NewRing(base64.RawURLEncoding.EncodeToString(name[:])[:6], f.o.ring)
	return f
}

func orDefault(d *time.Duration, value time.Duration) {
	if *d == 0 {
		*d = value
	}
}

// close ends the feed: the tabs get what is newest and end. It does not wait. They may connect again elsewhere.
func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.end()
}

// end is close with the lock held.
func (f *feed) end() {
	if f.cancel != nil {
		f.cancel()
		f.cancel = nil
	}
	f.ended = true
	f.move()
}

// move wakes the tabs. mu is held.
func (f *feed) move() {
	close(f.moved)
	f.moved = make(chan struct{})
}

// join adds a tab.
func (f *feed) join() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tabs++
	if f.cancel == nil && !f.ended {
		var ctx context.Context
		ctx, f.cancel = context.WithCancel(context.Background()) // it outlives the request of the first tab
		f.fresh = false
		go f.follow(ctx, f.source(ctx))
	}
}

// leave removes a tab.
func (f *feed) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.tabs--; f.tabs == 0 && f.cancel != nil {
		f.cancel()
		f.cancel = nil
	}
}

// follow puts the snapshots of a subscription into the ring, until ctx ends.
func (f *feed) follow(ctx context.Context, snapshots <-chan client.Snapshot) {
	var pause *time.Timer
	for s := range snapshots {
		f.mu.Lock()
		if ctx.Err() != nil { // another subscription may have begun
			f.mu.Unlock()
			return
		}
		f.ring.Put(core.Snapshot{Thread: s.Thread, Phase: s.Phase.String(), Queued: s.Queued})
		f.fresh = true
		f.move()
		f.mu.Unlock()
		if f.o.interval < 0 {
			continue
		}
		if pause == nil {
			pause = time.NewTimer(f.o.interval)
			defer pause.Stop()
		} else {
			pause.Reset(f.o.interval)
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			return
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if ctx.Err() == nil {
		f.end()
	}
}

// next returns the event that leads a tab from what it has to what is newest. It is nil if there is none; then moved is
// closed when there may be one, unless more is false.
func (f *feed) next(from *core.Entry, mode core.Mode) (e *core.Event, moved <-chan struct{}, more bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if newest := f.ring.Newest(); newest != nil && newest != from && (f.fresh || f.ended) {
		e = f.ring.Event(from, mode)
	}
	return e, f.moved, !f.ended
}

// find returns the entry that a tab says it has.
func (f *feed) find(token string) *core.Entry {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ring.Find(token)
}

// serveHTTP serves one tab until its request ends, it reads too slowly, or the feed ends.
func (f *feed) serveHTTP(w http.ResponseWriter, r *http.Request) {
	mode := core.Append
	switch ops := r.URL.Query().Get("ops"); ops {
	case "":
	case "rfc6902":
		mode = core.RFC6902
	default:
		refuse(http.StatusBadRequest, "ops may be rfc6902, not %q", ops).answer(w)
		return
	}
	f.join()
	defer f.leave()
	streamHead(w)
	t := tab{w: w, out: http.NewResponseController(w), timeout: f.o.writeTimeout}
	if t.write([]byte("retry: 1000\n\n")) != nil {
		return
	}
	t.serve(r.Context(), f, f.find(r.Header.Get("Last-Event-ID")), mode)
}

// tab is the connection of one reader.
type tab struct {
	w       http.ResponseWriter
	out     *http.ResponseController
	timeout time.Duration
}

// serve sends what changes since from, which is nil if the tab has nothing.
func (t *tab) serve(ctx context.Context, f *feed, from *core.Entry, mode core.Mode) {
	var silence <-chan time.Time
	var timer *time.Timer
	if f.o.keepAlive > 0 {
		timer = time.NewTimer(f.o.keepAlive)
		defer timer.Stop()
		silence = timer.C
	}
	for {
		event, moved, more := f.next(from, mode)
		text := []byte(comment)
		switch {
		case event != nil:
			text, from = event.Text, event.To
		case !more:
			return
		default:
			select {
			case <-moved:
				continue
			case <-silence:
			case <-ctx.Done():
				return
			}
		}
		if t.write(text) != nil {
			return
		}
		if timer != nil {
			timer.Reset(f.o.keepAlive)
		}
	}
}

// write writes and flushes.
func (t *tab) write(text []byte) error { return put(t.w, t.out, text, t.timeout) }
