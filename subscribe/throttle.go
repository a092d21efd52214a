package subscribe

import (
	"context"
	"time"
)

// Throttle returns a channel that gives at most one snapshot of in per interval: the first
// at once, then, at the end of each interval in which in had something, the last it had.
// The last snapshot before in closes always arrives, at the end of its interval, and then
// the channel closes, within another interval. An interval of zero or less sets no limit:
// only what a slow consumer has not taken is replaced.
//
// Throttle receives from in only once an interval is over, so that snapshots nobody will
// see are not taken. Between two receives in's own rule for a slow consumer applies: give
// it Latest; an Every that blocks would slow the producer down to this pace. A consumer
// slower than interval gets what in had an interval ago or less. The channel closes at once
// when ctx ends; a consumer that stops receiving earlier has to end ctx, which releases the
// goroutine.
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
				case <-pause.C: // not taken for an interval: accept a newer one
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

// last returns the last snapshot that waits in the buffer of in, or s when none does. It
// never blocks, even if others receive from in.
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
