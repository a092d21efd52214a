package subscribe

import (
	"context"
	"time"
)

// A snapshot that nobody has received is replaced by a newer one when it has waited for
// refreshMin, and then each time the wait has grown by another 1/refreshPart of itself.
// So an hour of silence from a consumer costs some 200 snapshots, and what it then receives
// is old by at most 2/refreshPart of its own delay.
const (
	refreshMin  = time.Millisecond
	refreshPart = 16
)

// place says which list of the hub a subscription is in.
type place uint8

const (
	gone place = iota
	idle
	behind
)

// latest is one Latest subscription. The hub's subs mutex guards it; while it is behind,
// out, revision and since belong to its chaser.
type latest[S any] struct {
	hub       *Hub[S]
	out       chan S        // holds one: the first is there at once, the final one needs no goroutine
	revision  uint64        // of the snapshot put into out last
	since     time.Time     // when the consumer was first seen to be away; zero: it took all
	stop      chan struct{} // closed to end a chaser; nil before the first one
	unhook    func() bool   // detaches cancel from the context
	place     place
	at        int // index in the list
	cancelled bool
}

// Latest returns a channel of snapshots on which the newest wins: a consumer that is slower
// than the producer misses the ones between, and neither blocks nor delays the producer,
// nor makes it keep more than two snapshots.
//
// The current snapshot is in the channel when Latest returns. After that each one received
// is newer than the one before. While the consumer is away a snapshot waits in the channel
// and is replaced by newer ones, at a falling rate, so that the one received is out of date
// by no more than about an eighth of the time since the consumer last received (or 2 ms if
// that is more). If it is out of date, the next one follows at once, and the newest is
// never more than two behind it.
// After Hub.Close the last snapshot is the final one, then the channel closes. When ctx
// ends, a snapshot that is still waiting is dropped and the channel closes at once; the
// consumer itself may end ctx at any time. Latest after Close gives the final snapshot.
func (h *Hub[S]) Latest(ctx context.Context) <-chan S {
	l := &latest[S]{hub: h, out: make(chan S, 1)}
	if ctx.Err() != nil {
		close(l.out)
		return l.out
	}
	h.subs.Lock()
	defer h.subs.Unlock()
	h.lock.Lock()
	l.out <- h.take()
	l.revision = h.revision
	closed := h.closed
	h.armed = !closed
	h.lock.Unlock()
	if closed {
		close(l.out)
		return l.out
	}
	l.move(idle)
	l.unhook = context.AfterFunc(ctx, l.cancel)
	return l.out
}

// pump serves the idle subscriptions after a change: one snapshot for all of them. One
// whose consumer has not taken the snapshot before gets a chaser.
func (h *Hub[S]) pump() {
	h.subs.Lock()
	defer h.subs.Unlock()
	if len(h.idle) == 0 {
		return
	}
	h.lock.Lock()
	s, revision := h.take(), h.revision
	h.armed = true
	h.lock.Unlock()
	for i := len(h.idle) - 1; i >= 0; i-- { // move fills a gap from the end
		l := h.idle[i]
		if l.revision == revision {
			continue
		}
		select {
		case l.out <- s:
			l.revision, l.since = revision, time.Time{}
		default:
			l.move(behind)
			if l.stop == nil {
				l.stop = make(chan struct{})
			}
			go l.chase()
		}
	}
}

// chase owns a subscription while its channel holds a snapshot that is not the newest. It
// waits to add a newer one as soon as the consumer makes room, and now and then replaces
// the one that waits.
func (l *latest[S]) chase() {
	if l.since.IsZero() {
		l.since = time.Now()
	}
	refresh := time.NewTimer(refreshMin)
	defer refresh.Stop()
	for {
		s, revision, ok := l.advance()
		if !ok {
			return
		}
		refresh.Reset(max(refreshMin, time.Since(l.since)/refreshPart))
		select {
		case l.out <- s:
			l.since = time.Now()
		case <-refresh.C:
			l.put(s)
		case <-l.stop:
			continue
		}
		l.revision = revision
	}
}

// advance returns the snapshot that the chaser offers next, or false when it has no more to
// do: the subscription is up to date and idle again, or it has ended.
func (l *latest[S]) advance() (s S, revision uint64, ok bool) {
	h := l.hub
	h.subs.Lock()
	defer h.subs.Unlock()
	if l.cancelled {
		l.end(s, 0)
		return s, 0, false
	}
	h.lock.Lock()
	defer h.lock.Unlock()
	revision = h.revision
	switch {
	case h.closed:
		l.end(h.take(), revision)
		return s, revision, false
	case l.revision == revision:
		h.armed = true
		l.move(idle)
		return s, revision, false
	}
	return h.take(), revision, true
}

// cancel ends the subscription because its context has ended.
func (l *latest[S]) cancel() {
	h := l.hub
	h.subs.Lock()
	defer h.subs.Unlock()
	was := l.place
	l.move(gone)
	switch was {
	case idle:
		l.cancelled = true
		l.end(*new(S), 0)
	case behind:
		l.cancelled = true
		close(l.stop)
	case gone: // the hub was closed before
	}
}

// end closes the channel, after the final snapshot or, when cancelled, with nothing in it.
func (l *latest[S]) end(final S, revision uint64) {
	if l.cancelled {
		l.discard()
	} else if l.revision != revision {
		l.put(final)
	}
	close(l.out)
}

// put replaces what waits in the channel. It never blocks: only the owner of out sends.
func (l *latest[S]) put(s S) {
	l.discard()
	l.out <- s
}

func (l *latest[S]) discard() {
	select {
	case <-l.out:
	default:
	}
}

// move takes l out of the list it is in and adds it to another one; subs is held.
func (l *latest[S]) move(to place) {
	if from := l.list(); from != nil {
		end := len(*from) - 1
		(*from)[l.at] = (*from)[end]
		(*from)[l.at].at = l.at
		(*from)[end] = nil
		*from = (*from)[:end]
	}
	l.place = to
	if list := l.list(); list != nil {
		l.at = len(*list)
		*list = append(*list, l)
	}
}

func (l *latest[S]) list() *[]*latest[S] {
	switch l.place {
	case idle:
		return &l.hub.idle
	case behind:
		return &l.hub.behind
	}
	return nil
}
