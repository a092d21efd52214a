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
// and it calls [Hub.Close] at the end. Subscriptions pull: a snapshot is taken when one of them
// can use it, once for all of them, and never while none can.
//
// A [Hub.Latest] holds a goroutine; with its hub and channel that is about 3 KB while it is idle.
// So does a [Hub.Throttled]. A [Hub.Every] holds no goroutine.
//
// # Which subscription
//
//	to                                        use                             a slow consumer
//	show the thing as it is now               Latest                          misses those between
//	redraw at a fixed rate                    Throttled                       misses those between
//	the same of another channel               Throttle of it                  misses those between
//	react to one part of it                   Select of Latest or Throttled   misses those between
//	record or check each revision             Every with Block                holds the producer back
//	follow each revision, best effort         Every with DropOldest           misses the oldest, counted
//	get every revision, or an error           Every with Fail                 is cut off with ErrOverflow
//
// Apply [Select] last. Then no snapshot is taken before it is needed, and Select compares current ones.
//
// # What every channel promises
//
//   - The first value, the current snapshot, comes at once, even if nothing ever changes.
//   - Values come in the order of the changes. Hub channels never deliver a revision twice.
//   - The final value comes before the channel closes, unless the context ended first or an
//     Every failed.
//   - When the context ends, the channel closes at once and no goroutine remains. A consumer
//     may end the context inside its own loop. A consumer that stops receiving must end it.
//   - The package closes the channels; a consumer only receives.
//
// "At once" means without waiting for anybody, not before the call that caused it returns: a
// value may still be received in the moment after a context has ended.
package subscribe
