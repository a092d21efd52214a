package reducer

import (
	"cmp"
	"iter"

	"github.com/agfold/agfold/event"
)

// Fold folds a whole stream, upgrades retired shapes (P-CMP-1 to 3), and returns the thread that it made, even
// with an error. Nil options mean the defaults.
//
// The error is nil if the stream was in order up to its end, even if the run reported its own failure; see
// [Thread.Status] and [Thread.Err] for that. Otherwise it is the *Violation or *messages.MalformedError that
// rejected the stream, an error matching [ErrTruncated] if the run had not ended when the stream did, which
// also matches the error that the stream ended with, if it ended with one, or only that one if no event came.
func Fold(events iter.Seq2[event.Event, error], o *Options) (*Thread, error) {
	r, upgrader := New(o), new(event.Upgrader)
	upgrader.Follow(r.draft.list.All())
	for ev, err := range events {
		if err != nil {
			return r.End(err), cmp.Or(r.Err(), err)
		}
		if err := r.Apply(upgrader.Upgrade(ev)); err != nil {
			return r.Thread(), err
		}
	}
	return r.End(nil), r.Err()
}

// Events returns a stream of events that are already there, in order.
func Events(events ...event.Event) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for _, ev := range events {
			if !yield(ev, nil) {
				return
			}
		}
	}
}
