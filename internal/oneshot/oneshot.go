// Package oneshot holds what sequences of events share that happen once: they report an error last, and iterating them
// again is an error.
package oneshot

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
)

// ErrIterated is the error of iterating a sequence again.
var ErrIterated = errors.New("the run has been iterated already: it happens once, and nothing is sent twice")

// ErrBreak is what the function of [Run] returns when the reader has left its loop. Nobody else sees it.
var ErrBreak = errors.New("broken off")

// Seq returns a sequence that yields what seq yields, once: iterating it again yields ErrIterated and nothing else.
func Seq[V any](seq iter.Seq2[V, error]) iter.Seq2[V, error] {
	var begun atomic.Bool
	return func(yield func(V, error) bool) {
		if begun.Swap(true) {
			var none V
			yield(none, ErrIterated)
			return
		}
		seq(yield)
	}
}

// Run is Seq of what run yields. The error that run returns, unless it is nil or ErrBreak, comes alone and last.
func Run[V any](run func(yield func(V, error) bool) error) iter.Seq2[V, error] {
	return Seq(func(yield func(V, error) bool) {
		if err := run(yield); err != nil && err != ErrBreak {
			var none V
			yield(none, err)
		}
	})
}

// Canceled returns the error that reports that ctx is done: it matches ctx.Err() and the cause.
func Canceled(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}
