package jetstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/agfold/agfold/adapters/jetstream/internal/entry"
)

// errBehind is returned for a message after which the log has entries that were not read.
var errBehind = fmt.Errorf("%w: the log has entries of another writer", ErrLost)

// batch is entries that are being stored.
type batch struct {
	header  entry.Header
	entries []byte
	mark    *entry.Checkpoint // the replica after them, if a checkpoint is due
}

// pump stores what waits: everything that has come while the batch before was being stored is the next one. There is never
// more than one message under way, so that each can name the one before it.
func (h *Hold) pump() {
	defer close(h.done)
	for {
		select {
		case <-h.kick:
		case <-h.lost:
			return
		case <-h.ctx.Done():
			return
		}
		h.mu.Lock()
		b := h.cut()
		h.mu.Unlock()
		if b == nil {
			continue
		}
		if !h.store(b) {
			return
		}
	}
}

// cut takes what waits. mu is held.
func (h *Hold) cut() *batch {
	if h.count == 0 {
		return nil
	}
	b := &batch{header: entry.Header{Token: h.replica.Token, First: h.first, Count: h.count, At: h.log.o.now()}, entries: h.pending}
	h.first += uint64(h.count)
	h.pending, h.count = nil, 0
	h.since += len(b.entries)
	if h.oldest.IsZero() {
		h.oldest = time.Now()
	}
	if h.due() {
		if c, ok := h.replica.Checkpoint(); ok {
			b.mark, h.marking, h.since, h.oldest = c, true, 0, time.Time{}
		}
	}
	return b
}

// due reports whether a checkpoint is to be written. mu is held.
func (h *Hold) due() bool {
	o := &h.log.o
	if h.marking || o.CheckpointBytes < 0 {
		return false
	}
	if h.closed { // so that whoever comes next has little to read
		return h.since >= max(o.CheckpointBytes/8, h.mark.size/4)
	}
	return h.since >= max(o.CheckpointBytes, 2*h.mark.size) || o.CheckpointAge > 0 && time.Since(h.oldest) >= o.CheckpointAge
}

// store stores a batch, however long it takes. It returns false once that is over.
func (h *Hold) store(b *batch) bool {
	began, wait := time.Now(), 10*time.Millisecond
	for {
		ctx, cancel := context.WithTimeout(h.ctx, min(5*time.Second, h.log.o.StuckAfter))
		err := h.put(ctx, b)
		cancel()
		if err == nil {
			h.mu.Lock()
			h.settle(b)
			h.mu.Unlock()
			return true
		}
		if errors.Is(err, ErrLost) {
			h.mu.Lock()
			h.fail(err)
			h.mu.Unlock()
			return false
		}
		err = h.log.explained(err)
		_, full := errors.AsType[*FullError](err)
		if since := time.Since(began); full || since >= h.log.o.StuckAfter {
			h.jam(&StuckError{h.id, since, err})
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-h.lost:
			timer.Stop()
			return false
		case <-h.ctx.Done():
			timer.Stop()
			return false
		}
		wait = min(2*wait, time.Second)
	}
}

// put stores a batch, or says why it could not be; what of it was stored is known the next time. ErrLost says that another
// writer has taken over.
func (h *Hold) put(ctx context.Context, b *batch) error {
	subject := h.log.o.entries(h.token)
	for _, part := range entry.Split(b.header, b.entries, h.log.most) {
		if b.header.Parts > part.Header.Part && b.header.Part > part.Header.Part { // stored before
			continue
		}
		data := part.Encode()
		for {
			if !h.lease.valid() {
				return fmt.Errorf("%w: the lease has expired", ErrLost)
			}
			ack, err := h.log.js.PublishMsg(ctx, &nats.Msg{Subject: subject, Data: data},
				jetstream.WithExpectLastSequencePerSubject(h.last), jetstream.WithRetryAttempts(0))
			if err == nil {
				h.last = ack.Sequence
				break
			}
			if !isConflict(err) {
				return err
			}
			stored, err := h.conflict(ctx, subject, data)
			if err != nil {
				return err
			}
			if stored {
				break
			}
		}
		b.header.Parts, b.header.Part = part.Header.Parts, part.Header.Part+1
	}
	return nil
}

// conflict finds out why the log has another last message than the one that was stored last: an earlier attempt to store this
// one, a later writer, or what is no entry at all, which is skipped.
func (h *Hold) conflict(ctx context.Context, subject string, data []byte) (stored bool, err error) {
	last, err := h.log.stream.GetLastMsgForSubject(ctx, subject)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		if h.last == 0 {
			return false, errors.New("the log is changing")
		}
		h.last = 0 // it was purged from outside
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if last.Sequence < h.last {
		return false, fmt.Errorf("the server has %d as the last sequence of the thread, after it had stored %d", last.Sequence, h.last)
	}
	if bytes.Equal(last.Data, data) {
		h.last = last.Sequence
		return true, nil
	}
	if head, _, err := entry.ParseHeader(last.Data); err == nil && !head.Checkpoint() && last.Sequence != h.last {
		return false, fmt.Errorf("%w, %d (this is %d)", errBehind, head.Token, h.lease.token)
	}
	if last.Sequence != h.last {
		h.log.o.log().Warn("a message on the subject of a thread is no entry", "thread", h.id, "sequence", last.Sequence)
	}
	h.last = last.Sequence
	return false, nil
}

// settle notes that a batch is stored, and has a checkpoint written if that is due. mu is held.
func (h *Hold) settle(b *batch) {
	h.settled = b.header.First + uint64(b.header.Count)
	if h.stuck != nil {
		h.stuck = nil
		h.log.o.log().Info("the log of a thread can be written again", "thread", h.id)
		if h.gap {
			h.sync(false)
		}
	}
	h.move()
	if b.mark == nil {
		return
	}
	sequence := h.last
	h.marks.Add(1)
	go func() {
		defer h.marks.Done()
		ctx, cancel := context.WithTimeout(h.ctx, 30*time.Second)
		defer cancel()
		err := h.checkpoint(ctx, b.mark, sequence)
		if err != nil && ctx.Err() == nil {
			h.log.o.log().Warn("a checkpoint cannot be stored", "thread", h.id, "error", h.log.explained(err))
		}
		h.mu.Lock()
		h.marking = false
		h.mu.Unlock()
	}()
}

// jam says that nothing can be stored.
func (h *Hold) jam(stuck *StuckError) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stuck == nil {
		h.log.o.log().Error("the log of a thread cannot be written", "thread", h.id, "error", stuck)
	}
	h.stuck = stuck
	for st := range h.streams {
		if h.log.o.WhenStuck == StopRun {
			st.cancel(stuck)
		} else {
			st.tell(stuck)
		}
	}
	h.move()
}

// drop gives up what waits because the window is full and the log is stuck. The log says so, once it can be written. mu is held.
func (h *Hold) drop() {
	h.gap = true
	h.replica.Next = h.first
	h.pending, h.count = nil, 0
	h.line(entry.AppendGap(nil, h.stuck.Err.Error()))
}
