// Package subscribe hands snapshots of something that changes to other goroutines, over
// channels. It is generic in the snapshot type and imports nothing of this module.
//
// # The producer
//
// One [Hub] belongs to one producer: a lock, a thing that changes under it, and a function
// that takes a snapshot of the thing. The producer's loop is
//
//	mu.Lock()
//	apply(event)  // the change
//	hub.Changed() // marks it, never blocks
//	mu.Unlock()
//	err := hub.Flush(ctx) // blocks only for an Every that is full and says Block
//
// and [Hub.Close] at the end. Subscriptions pull: a snapshot is taken when one of them can
// use it, once for all of them, and not at all while nobody can. A subscription that has
// what there is holds no goroutine.
//
// # Which subscription
//
//	to                                        use                             a slow consumer
//	show the thing as it is now               Latest                          misses what lies between
//	redraw at a fixed pace                    Throttle of Latest              misses what lies between
//	react to one part of it                   Select of Latest or Throttle    misses what lies between
//	record or check each revision             Every with Block                holds the producer back
//	follow each revision, not at any price    Every with DropOldest           misses the oldest, counted
//	have each revision or know that not       Every with Fail                 is cut off with ErrOverflow
//
// Put [Throttle] next to [Hub.Latest] and [Select] behind it: what is not due is then never
// taken, and what Select compares is fresh.
//
// # What every channel promises
//
//   - The first value, the current snapshot, comes at once, also when nothing ever changes.
//   - Values come in the order of the changes. Hub channels never give a revision twice.
//   - The final value comes before the channel closes, unless the context ended first or an
//     Every failed.
//   - When the context ends the channel closes at once and nothing stays behind. A consumer
//     may end it inside its own loop. One that stops receiving must end it.
//   - The package closes the channels; a consumer only receives.
//
// "At once" means without waiting for anybody, not before the call that caused it returns:
// a value may still be received in the moment after a context has ended.
package subscribe
