package subscribe

import "context"

// Select returns a channel of one part of each snapshot from in, only when it changed: the
// first part, then each one that equal does not call the same as the part sent before.
// Equal will do for a comparable T. part and equal run in Select's goroutine, one at a
// time, and must not change the snapshot.
//
// Select keeps the order and drops no change that in shows it. It receives from in only
// when it has nothing to pass on, so a slow consumer makes in's own rule apply. The channel
// closes after the last part when in closes, or at once when ctx ends; a consumer that
// stops receiving earlier has to end ctx, which releases the goroutine.
func Select[S, T any](ctx context.Context, in <-chan S, part func(S) T, equal func(a, b T) bool) <-chan T {
	out := make(chan T)
	go func() {
		defer close(out)
		var sent T
		for first := true; ; {
			s, ok := receive(ctx, in)
			if !ok {
				return
			}
			t := part(s)
			if !first && equal(sent, t) {
				continue
			}
			select {
			case out <- t:
				sent, first = t, false
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

// Equal reports a == b. It is the usual last argument of Select.
func Equal[T comparable](a, b T) bool { return a == b }

// receive returns false when in is closed or ctx has ended.
func receive[S any](ctx context.Context, in <-chan S) (s S, ok bool) {
	if ctx.Err() != nil { // of two ready cases, select takes any
		return s, false
	}
	select {
	case s, ok = <-in:
		return s, ok
	case <-ctx.Done():
		return s, false
	}
}
