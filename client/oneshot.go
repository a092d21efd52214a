package client

import (
	"errors"
	"iter"
	"sync/atomic"
)

var errIterated = errors.New("the run has been iterated already: it happens once, and nothing is sent twice")

// oneShot returns a sequence that yields what seq yields, once: iterating it again yields an error and nothing else.
func oneShot[V any](seq iter.Seq2[V, error]) iter.Seq2[V, error] {
	var begun atomic.Bool
	return func(yield func(V, error) bool) {
		if begun.Swap(true) {
			var none V
			yield(none, errIterated)
			return
		}
		seq(yield)
	}
}
