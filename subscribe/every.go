package subscribe

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
)

// ErrOverflow is returned by Revisions.Err when an Every subscription with the Fail policy
// ended because its buffer was full.
var ErrOverflow = errors.New("buffer full, the consumer is too slow")

// Policy decides what happens when the buffer of an Every subscription is full. No policy drops
// the newest revision, because the final snapshot would be lost.
type Policy uint8

const (
	// Block makes the producer wait in Hub.Flush until the consumer has made room.
	Block Policy = iota
	// DropOldest drops the oldest revision in the buffer. The order stays the same, and the
	// final revision always arrives. Revisions.Dropped counts the dropped ones.
	DropOldest
	// Fail ends the subscription with ErrOverflow. What is in the buffer can still be
	// received, without gaps.
	Fail
)

var policyNames = [...]string{"block", "drop oldest", "fail"}

// String returns "block", "drop oldest" or "fail", and "unknown" for another value.
func (p Policy) String() string {
	if int(p) >= len(policyNames) {
		return "unknown"
	}
	return policyNames[p]
}

// MarshalText returns what String returns.
func (p Policy) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

const defaultBuffer = 16

// EveryOptions configures [Hub.Every]; nil means defaults.
type EveryOptions struct {
	// Buffer is the number of revisions that the channel holds. Less than 1 means 16.
	Buffer int
	// Full decides what happens when the buffer is full. The default is Block.
	Full Policy
}

// Revisions is an Every subscription. It is safe for concurrent use.
type Revisions[S any] struct {
	// C receives the revisions in order. It is closed when the subscription ends; Err says why.
	C <-chan S

	hub     *Hub[S]
	out     chan S // C
	full    Policy
	dropped atomic.Uint64
	done    chan struct{} // closed when the context has ended: releases a blocked sender
	unhook  func() bool   // detaches cancel from the context

	// Guarded by the producer's lock.
	backlog []S // revisions since the last Flush
	err     error

	// sending holds one token: the goroutine that put it there owns out and the fields below.
	// It is a channel, not a mutex, because Flush waits here until its context ends.
	sending chan struct{}
	batch   []S // taken from backlog, sent up to next
	next    int
	ended   bool
}

// Every returns a subscription to each revision in order: first the current one, which is in the
// channel when Every returns, then one for each later call of Hub.Changed, without gaps or
// repetitions. The buffer is bounded; opts says what happens when it is full. While an Every
// exists, the producer takes a snapshot for each change.
//
// After Hub.Close the remaining revisions follow, the final one last, and C is closed. When ctx
// ends, what is in the buffer is dropped and C is closed at once. Every after Close delivers the
// final revision only.
func (h *Hub[S]) Every(ctx context.Context, opts *EveryOptions) *Revisions[S] {
	var o EveryOptions
	if opts != nil {
		o = *opts
	}
	if o.Buffer < 1 {
		o.Buffer = defaultBuffer
	}
	out := make(chan S, o.Buffer)
	r := &Revisions[S]{
		C: out, hub: h, out: out, full: o.Full,
		done: make(chan struct{}), sending: make(chan struct{}, 1),
	}
	if err := ctx.Err(); err != nil {
		r.end(err)
		return r
	}
	r.sending <- struct{}{}
	defer func() { <-r.sending }()
	h.lock.Lock()
	r.out <- h.take()
	closed := h.closed
	if !closed {
		h.every = append(slices.Clip(h.every), r)
		r.unhook = context.AfterFunc(ctx, func() { r.cancel(ctx.Err()) })
	}
	h.lock.Unlock()
	if closed {
		r.end(nil)
	}
	return r
}

// Err returns why C was closed: ErrOverflow, the error of the context, or nil if the hub was
// closed and C delivered everything. It returns nil before C is closed.
func (r *Revisions[S]) Err() error {
	r.hub.lock.Lock()
	defer r.hub.lock.Unlock()
	return r.err
}

// Dropped returns how many revisions DropOldest has dropped so far.
func (r *Revisions[S]) Dropped() uint64 { return r.dropped.Load() }

// flush sends the backlog and reports whether it sent all of it. It waits at most until stop is closed. What
// can be sent without waiting is sent even if stop is closed already.
func (r *Revisions[S]) flush(stop <-chan struct{}) bool {
	select {
	case r.sending <- struct{}{}:
	default:
		select {
		case r.sending <- struct{}{}:
		case <-stop:
			return false
		}
	}
	defer func() { <-r.sending }()
	return r.drain(stop)
}

// finish sends the backlog after the hub was closed, and closes the channel.
func (r *Revisions[S]) finish() {
	r.sending <- struct{}{}
	defer func() { <-r.sending }()
	r.drain(nil) // until the backlog is sent or the subscription ends
	select {
	case <-r.done: // cancel is waiting for the token
		return
	default:
	}
	if !r.ended {
		r.end(nil)
		r.unhook()
	}
}

// cancel ends the subscription because its context has ended with err.
func (r *Revisions[S]) cancel(err error) {
	close(r.done)
	r.leave()
	r.sending <- struct{}{}
	defer func() { <-r.sending }()
	if !r.ended {
		for len(r.out) > 0 {
			select {
			case <-r.out:
			default: // the consumer took it
			}
		}
		r.end(err)
	}
}

// drain sends the backlog until it is empty, the subscription ends, or it would have to wait longer than until stop is
// closed; then it returns false. The caller holds sending.
func (r *Revisions[S]) drain(stop <-chan struct{}) bool {
	for !r.ended && r.refill() {
		s := r.batch[r.next]
		select {
		case r.out <- s:
			r.next++
			continue
		default:
		}
		switch r.full {
		case DropOldest:
			select {
			case <-r.out:
				r.dropped.Add(1)
			default: // the consumer made room
			}
		case Fail:
			r.leave()
			r.end(ErrOverflow)
			r.unhook()
		default:
			select {
			case r.out <- s:
				r.next++
			case <-r.done:
				return true
			case <-stop:
				return false
			}
		}
	}
	return true
}

// refill makes sure that batch has a revision to send. It returns false if there is none.
func (r *Revisions[S]) refill() bool {
	if r.next < len(r.batch) {
		return true
	}
	clear(r.batch)
	r.next = 0
	r.hub.lock.Lock()
	r.batch, r.backlog = r.backlog, r.batch[:0]
	r.hub.lock.Unlock()
	return len(r.batch) > 0
}

// leave removes r from the hub's list, so that the producer stops taking snapshots for it.
func (r *Revisions[S]) leave() {
	h := r.hub
	h.lock.Lock()
	defer h.lock.Unlock()
	if i := slices.Index(h.every, r); i >= 0 {
		h.every = slices.Delete(slices.Clone(h.every), i, i+1)
	}
}

// end closes the channel. The caller holds sending.
func (r *Revisions[S]) end(err error) {
	r.ended = true
	r.batch, r.next = nil, 0
	r.hub.lock.Lock()
	r.backlog, r.err = nil, err
	r.hub.lock.Unlock()
	close(r.out)
}
