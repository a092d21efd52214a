package subscribe

import "context"

// Select returns a channel of one part of the snapshots from in: the first part, and then each
// part that is not equal to the one sent before. For a comparable T use [Equal]. part and equal
// run in Select's goroutine, one at a time, and must not change the snapshot.
//
// Select keeps the order and sends every change that it sees. It receives from in only when it
// has nothing to send, so for a slow consumer the rules of in apply. The channel is closed after
// the last part when in is closed, or at once when ctx ends. A consumer that stops receiving
// earlier must end ctx, which releases the goroutine.
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

// Equal reports whether a == b. It is the usual last argument of [Select].
func Equal[T comparable](a, b T) bool { return a == b }

// receive receives from in. ok is false if in is closed or ctx has ended.
func receive[S any](ctx context.Context, in <-chan S) (s S, ok bool) {
	if ctx.Err() != nil { // if both cases are ready, select takes either
		return s, false
	}
	select {
	case s, ok = <-in:
		return s, ok
	case <-ctx.Done():
		return s, false
	}
}
