package subscribe

import (
	"context"
	"time"
)

// Throttle returns a channel that delivers at most one snapshot of in per interval: the first at
// once, then, at the end of each interval in which in had a snapshot, the last one. The last
// snapshot before in is closed always arrives, at the end of its interval, and then the channel
// is closed, within another interval. An interval of zero or less sets no limit: only what a slow
// consumer has not received is replaced.
//
// Throttle receives from in only after an interval is over, so that no snapshot is taken
// unless a consumer will see it. Between two receives the rules of in for a slow consumer apply, so in should
// come from [Hub.Latest]; an Every with Block would slow the producer down to this rate. A
// consumer that is slower than interval receives what in had at most an interval ago. The channel
// is closed at once when ctx ends. A consumer that stops receiving earlier must end ctx, which
// releases the goroutine.
func Throttle[S any](ctx context.Context, in <-chan S, interval time.Duration) <-chan S {
	out := make(chan S)
	go func() {
		defer close(out)
		pause := time.NewTimer(interval)
		defer pause.Stop()
		for {
			s, ok := receive(ctx, in)
			if !ok {
				return
			}
			s = last(in, s)
			pause.Reset(interval)
			for more := (<-chan S)(nil); ; {
				select {
				case out <- s:
				case <-pause.C: // not received for an interval: accept a newer one
					more = in
					continue
				case newer, open := <-more:
					more = nil
					if open {
						s = last(in, newer)
						pause.Reset(interval)
					}
					continue
				case <-ctx.Done():
					return
				}
				break
			}
			pause.Reset(interval)
			select {
			case <-pause.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

// last returns the last snapshot in the buffer of in, or s if there is none. It never blocks,
// even if others receive from in.
func last[S any](in <-chan S, s S) S {
	for range len(in) {
		select {
		case newer, open := <-in:
			if open {
				s = newer
			}
		default:
		}
	}
	return s
}
