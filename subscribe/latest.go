package subscribe

import (
	"context"
	"time"
)

// A snapshot that waits for its receiver is replaced by a newer one after refreshMin, and then each time
// the wait has grown by 1/refreshPart of itself. So an hour without a receive costs about
// 200 snapshots, and the value that is received then is old by at most 2/refreshPart of that hour.
const (
	refreshMin  = time.Millisecond
	refreshPart = 16
)

// Latest returns a channel of snapshots on which the newest wins: a consumer that is slower than the producer
// misses the snapshots between. It does not block or delay the producer, or make it keep more than two
// snapshots.
//
// The current snapshot is in the channel when Latest returns. Each later one is newer than the one before.
// While the consumer is away, a snapshot waits in the channel and is replaced by newer ones, at a falling
// rate: the one that is received is out of date by at most about an eighth of the time since the last receive
// (or 2 ms if that is more). If it is out of date, the next one follows at once, and the newest is at most two
// receives away.
//
// After Hub.Close the last snapshot is the final one, then the channel closes. When ctx ends, a snapshot that
// is still waiting is dropped and the channel closes at once. The consumer may end ctx at any time. Latest
// after Close returns a channel with the final snapshot only.
//
// A subscription holds one goroutine until then.
func (h *Hub[S]) Latest(ctx context.Context) <-chan S {
	out := make(chan S, 1) // the first snapshot is there at once, and the final one needs no goroutine
	if ctx.Err() != nil {
		close(out)
		return out
	}
	h.lock.Lock()
	out <- h.take()
	seen := h.revision
	h.lock.Unlock()
	go h.serve(ctx, out, seen)
	return out
}

// serve puts snapshots into out until the hub is closed or ctx ends. seen is the revision of the last one.
func (h *Hub[S]) serve(ctx context.Context, out chan S, seen uint64) {
	defer close(out)
	var away time.Time // since when a snapshot waits for the consumer; zero if none did when last seen
	for {
		s, revision, closed, changed := h.newer(seen)
		switch {
		case closed:
			if revision != seen {
				put(out, s)
			}
			return
		case changed != nil:
			select {
			case <-changed:
				continue
			case <-ctx.Done():
				discard(out)
				return
			}
		}
		seen = revision
		select {
		case out <- s:
			away = time.Time{}
			continue
		default:
		}
		if away.IsZero() {
			away = time.Now()
		}
		refresh := time.NewTimer(max(refreshMin, time.Since(away)/refreshPart))
		select {
		case out <- s:
			away = time.Now()
		case <-refresh.C:
			put(out, s)
		case <-h.done:
			put(out, s) // and then the final one
		case <-ctx.Done():
			discard(out)
			return
		}
		refresh.Stop()
	}
}

// newer returns the newest snapshot and whether the hub is closed. If there is nothing newer than seen, it
// returns a channel that is closed at the next change.
func (h *Hub[S]) newer(seen uint64) (s S, revision uint64, closed bool, changed <-chan struct{}) {
	h.lock.Lock()
	defer h.lock.Unlock()
	if h.revision == seen && !h.closed {
		if h.changed == nil {
			h.changed = make(chan struct{})
		}
		return s, seen, false, h.changed
	}
	return h.take(), h.revision, h.closed, nil
}

// put replaces what waits in the channel. It never blocks, because only the subscription sends.
func put[S any](out chan S, s S) {
	discard(out)
	out <- s
}

func discard[S any](out chan S) {
	select {
	case <-out:
	default:
	}
}
