package jetstream

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/subscribe"
)

// WatchOptions configures [Log.Watch]; nil means defaults.
type WatchOptions struct {
	// OnWarning is called with each message that is skipped or cuts the thread; the text names its sequence. It is called from
	// the goroutine that follows. Nil writes them to the Log's logger.
	OnWarning func(event.Warning)
	// UntilFree ends following once nobody holds the thread any more, and everything that was stored has come.
	UntilFree bool
}

// Follower follows a thread that any process may write. It is safe for concurrent use.
type Follower struct {
	log   *Log
	id    string
	o     WatchOptions
	hub   *subscribe.Hub[client.Snapshot]
	ready chan struct{} // closed once everything that was stored at the beginning has come
	done  chan struct{}
	ctx   context.Context
	tried time.Time // of the goroutine that follows: when it looked for a checkpoint that mends the thread

	mu     sync.Mutex
	shown  bool // now may be seen: what was stored at the beginning is in it
	now    client.Snapshot
	at     uint64 // the sequence of the last message that was read
	read   *loaded
	err    error
	marked bool
}

// Watch follows the thread until ctx ends. It returns at once. The snapshots are those of the writer's session, over the same
// channels: first what was stored when Watch was called, from the newest checkpoint on, and then each change as it is stored. The
// thread need not exist yet. If the connection is lost, following continues once it is there again. A thread that nobody holds
// any more is as its last holder left it; its last run may then be in progress for ever, until another process takes it.
//
// Result of the snapshots is always nil. One goroutine follows.
func (l *Log) Watch(ctx context.Context, threadID string, o *WatchOptions) *Follower {
	f := &Follower{log: l, id: threadID, ready: make(chan struct{}), done: make(chan struct{}), ctx: ctx, now: client.Snapshot{Thread: new(reducer.Thread)}}
	if o != nil {
		f.o = *o
	}
	f.hub = subscribe.NewHub(&f.mu, f.snapshot)
	go f.run(ctx)
	return f
}

// Follow returns snapshots of a thread that another process holds, the newest of which wins, until ctx ends or nobody holds
// it any more; it is [Log.Watch] for a [serve.Threads].
func (l *Log) Follow(ctx context.Context, threadID string) (<-chan client.Snapshot, error) {
	f := l.Watch(ctx, threadID, &WatchOptions{UntilFree: true})
	select {
	case <-f.ready:
		return f.Subscribe(ctx), nil
	case <-f.done:
		return nil, f.Err()
	}
}

// Snapshot returns the newest snapshot; an empty thread without an id until everything that was stored at the beginning has come.
func (f *Follower) Snapshot() client.Snapshot {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.snapshot()
}

// snapshot is Snapshot with the lock held.
func (f *Follower) snapshot() client.Snapshot {
	if !f.shown || f.marked {
		return f.now
	}
	f.marked = true
	s := f.read.replica.Snapshot()
	f.now = client.Snapshot{Thread: s.Thread, Phase: phaseNamed(s.Phase), Queued: s.Queued}
	return f.now
}

// Sequence returns the sequence, in the stream, of the last message that is in the snapshot.
func (f *Follower) Sequence() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.at
}

// Gap says why the thread lacks what happens now, "" if it does not: its entries could not be stored or read. It ends when the
// writer states the thread anew.
func (f *Follower) Gap() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.read == nil {
		return ""
	}
	return f.read.replica.Gap
}

// Subscribe returns a channel of snapshots, the newest of which wins; see client.Session.Subscribe. It is closed when following
// ends, or when ctx does.
func (f *Follower) Subscribe(ctx context.Context) <-chan client.Snapshot { return f.hub.Latest(ctx) }

// Revisions returns a subscription to every snapshot, one for each entry, in order; see client.Session.Revisions. With the Block
// policy a slow reader holds the follower back, not the writer.
func (f *Follower) Revisions(ctx context.Context, o *subscribe.EveryOptions) *subscribe.Revisions[client.Snapshot] {
	return f.hub.Every(ctx, o)
}

// Ready returns a channel that is closed once everything that was stored when Watch was called is in the snapshot.
func (f *Follower) Ready() <-chan struct{} { return f.ready }

// Done returns a channel that is closed when following has ended.
func (f *Follower) Done() <-chan struct{} { return f.done }

// Err returns why following ended, nil while it goes on or if it ended because nobody holds the thread: the error of ctx, an
// [*AccessError], or one that says that the stream is gone.
func (f *Follower) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// run follows until it ends.
func (f *Follower) run(ctx context.Context) {
	err := f.log.check(f.id)
	wait := 50 * time.Millisecond
	for err == nil {
		err = f.follow(ctx)
		if err == nil || ctx.Err() != nil {
			break
		}
		if final := f.log.explained(err); isFinal(final) {
			err = final
			break
		}
		f.log.o.log().Debug("a thread is followed anew", "thread", f.id, "error", err)
		err = nil
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
		wait = min(2*wait, 2*time.Second)
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	f.mu.Lock()
	f.err = err
	f.mu.Unlock()
	f.hub.Close()
	close(f.done)
}

// isFinal reports whether asking again does not help.
func isFinal(err error) bool {
	_, access := errors.AsType[*AccessError](err)
	return access || errors.Is(err, jetstream.ErrStreamNotFound) || errors.Is(err, ErrClosed)
}

// follow reads what is stored and what comes. It returns nil once nobody holds the thread, if that ends it.
func (f *Follower) follow(ctx context.Context) error {
	if err := f.begin(ctx); err != nil {
		return err
	}
	subject := f.log.o.entries(Token(f.id))
	messages, err := f.log.messages(ctx, subject, f.Sequence()+1)
	if err != nil {
		return err
	}
	defer messages.Stop()
	quiet := f.log.o.LeaseTTL / 2
	for {
		within, cancel := context.WithTimeout(ctx, quiet)
		m, err := messages.Next(jetstream.NextContext(within))
		cancel()
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, context.DeadlineExceeded):
			if f.o.UntilFree && f.free(ctx, subject) {
				return nil
			}
			continue
		default:
			return err
		}
		meta, err := m.Metadata()
		if err != nil {
			return err
		}
		if err := f.take(ctx, meta.Sequence.Stream, m.Data()); err != nil {
			return err
		}
		if f.o.UntilFree && meta.NumPending == 0 && f.given() && f.free(ctx, subject) {
			return nil
		}
	}
}

// given reports whether the last writer has given the thread up.
func (f *Follower) given() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.read.replica.Closed
}

// free reports whether nobody holds the thread and everything that was stored has been read.
func (f *Follower) free(ctx context.Context, subject string) bool {
	who, err := f.log.tenant(ctx, f.id)
	if err != nil || who.Process != "" {
		return false
	}
	return f.log.lastOf(ctx, subject, f.Sequence()) <= f.Sequence()
}

// begin reads what is stored, unless that was done before and a connection was lost since.
func (f *Follower) begin(ctx context.Context) error {
	f.mu.Lock()
	begun := f.read != nil
	f.mu.Unlock()
	if begun {
		return nil
	}
	within, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	read, err := f.log.load(within, f.id)
	if err != nil {
		return err
	}
	read.skipped, read.damage = f.warn("is skipped"), f.warn("cuts the thread")
	read.each = f.each
	f.mu.Lock()
	f.read, f.at = read, max(read.last, read.mark.Sequence)
	f.shown, f.marked = true, false
	f.hub.Changed()
	f.mu.Unlock()
	close(f.ready)
	return f.hub.Flush(ctx)
}

// warn returns what tells the caller of a message.
func (f *Follower) warn(what string) func(uint64, string) {
	return func(seq uint64, reason string) {
		text := fmt.Sprintf("the message at sequence %d of the log %s: %s", seq, what, reason)
		if f.o.OnWarning == nil {
			f.log.o.log().Warn(text, "thread", f.id)
			return
		}
		f.o.OnWarning(event.Warning{Rule: "log", Text: text})
	}
}

// take reads a message.
func (f *Follower) take(ctx context.Context, seq uint64, data []byte) error {
	if seq <= f.Sequence() {
		return nil
	}
	if cut := f.Gap() != ""; cut && time.Since(f.tried) > time.Second { // a checkpoint may mend it
		f.tried = time.Now()
		if f.jump(ctx, seq, data) {
			return f.hub.Flush(f.ctx)
		}
	}
	if f.read.message(seq, data) != nil && !f.jump(ctx, seq, data) {
		f.read.missing(seq, data)
	}
	f.mu.Lock()
	f.at = max(f.at, seq)
	f.mu.Unlock()
	return f.hub.Flush(f.ctx)
}

// jump continues from a checkpoint, because what was before a message is purged already. It returns false if there is none
// that helps.
func (f *Follower) jump(ctx context.Context, seq uint64, data []byte) bool {
	replica, m, err := f.log.restore(ctx, Token(f.id))
	if err != nil || m.Sequence <= f.Sequence() {
		return false
	}
	f.each(func() { f.read.replica = replica })
	f.read.parts = nil
	f.mu.Lock()
	f.at = m.Sequence
	f.mu.Unlock()
	if seq > m.Sequence && f.read.message(seq, data) != nil {
		return false
	}
	f.mu.Lock()
	f.at = max(f.at, seq)
	f.mu.Unlock()
	return true
}

// each applies an entry and tells the subscriptions.
func (f *Follower) each(do func()) {
	f.mu.Lock()
	do()
	f.marked = false
	f.hub.Changed()
	f.mu.Unlock()
}

// phaseNamed returns the phase with that name, PhaseIdle if there is none.
func phaseNamed(name string) client.Phase {
	for p := client.PhaseIdle; p <= client.PhaseClosed; p++ {
		if p.String() == name {
			return p
		}
	}
	return client.PhaseIdle
}
