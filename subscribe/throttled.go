package subscribe

import (
	"context"
	"time"
)

// Throttled returns a channel of snapshots on which the newest wins, at most one per interval: the current one at once,
// then, at the end of each interval in which something changed, the newest. A change after a quiet interval arrives at
// once. An interval of zero or less sets no limit.
//
// It is the subscription for a screen, and the cheapest one for the producer: changes within an interval wake nobody and
// take no snapshot. A consumer that is slower than interval receives a snapshot that is out of date by at most interval,
// or by an eighth of the time since the last receive if that is more.
//
// After Hub.Close the final snapshot arrives at the end of the interval, then the channel closes. When ctx ends, the
// channel closes at once. A subscription holds one goroutine until then, so a consumer that stops receiving earlier must
// end ctx.
func (h *Hub[S]) Throttled(ctx context.Context, interval time.Duration) <-chan S {
	out := make(chan S)
	go h.throttle(ctx, out, interval)
	return out
}

// throttle sends snapshots to out until the hub is closed or ctx ends.
func (h *Hub[S]) throttle(ctx context.Context, out chan<- S, interval time.Duration) {
	defer close(out)
	timer := time.NewTimer(interval)
	defer timer.Stop()
	h.lock.Lock()
	s, seen, closed := h.take(), h.revision, h.closed
	h.lock.Unlock()
	for ctx.Err() == nil {
		if seen, closed = h.offer(ctx, out, timer, interval, s, seen, closed); closed {
			return
		}
		if interval > 0 {
			timer.Reset(interval)
			select {
			case <-timer.C:
			case <-ctx.Done():
				return
			}
		}
		for sent := seen; ; {
			var changed <-chan struct{}
			if s, seen, closed, changed = h.newer(sent); changed == nil {
				if closed && seen == sent {
					return
				}
				break
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}
}

// offer sends s, or a newer snapshot if the consumer is away, or returns when ctx ends. It returns the revision that it
// sent, and whether nothing follows.
func (h *Hub[S]) offer(
	ctx context.Context, out chan<- S, timer *time.Timer, interval time.Duration, s S, revision uint64, closed bool,
) (sent uint64, last bool) {
	select {
	case out <- s:
		return revision, closed
	default:
	}
	for away := time.Now(); ; {
		refresh := timer.C
		if closed { // nothing is newer
			refresh = nil
		}
		timer.Reset(max(interval, refreshMin, time.Since(away)/refreshPart))
		select {
		case out <- s:
			return revision, closed
		case <-refresh:
			h.lock.Lock()
			s, revision, closed = h.take(), h.revision, h.closed
			h.lock.Unlock()
		case <-ctx.Done():
			return revision, true
		}
	}
}
