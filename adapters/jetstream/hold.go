package jetstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/agfold/agfold/adapters/jetstream/internal/entry"
	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/internal/feed"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/serve"
)

// Hold is a thread that this process holds: the writer of its log. It is a [serve.Stored] and a [serve.Attacher]. All methods
// may be called concurrently. Close it.
type Hold struct {
	log   *Log
	id    string
	token string
	lease *lease

	kick   chan struct{} // of the pump: something waits, or the end
	done   chan struct{} // closed when the pump has ended
	ending context.CancelFunc
	ctx    context.Context // of the pump
	marks  sync.WaitGroup  // of a checkpoint that is being written
	mark   mark            // of whoever writes it

	mu      sync.Mutex
	stored  *reducer.Thread // as it was read; nil if there was none
	replica *entry.Replica  // what a follower has that has read everything written here
	pending []byte          // entries that wait
	count   int             // of them
	first   uint64          // the number of the first of them
	settled uint64          // the number of the first entry that is not stored
	moved   chan struct{}   // closed when settled, stuck or err changes
	opened  bool            // the log knows this writer
	last    uint64          // the sequence of the last message of the log
	since   int             // bytes since the checkpoint
	oldest  time.Time       // when the first of them was written; zero without any
	marking bool            // a checkpoint is being written
	stuck   *StuckError     // nil while the log can be written
	gap     bool            // entries were dropped (GoOn)
	err     error           // why nothing more is written
	lost    chan struct{}   // closed with err, unless it was closed in order
	closed  bool

	session  *client.Session
	detach   context.CancelFunc // ends what watches the session
	streams  map[*stream]bool   // that are open; one at a time if a session runs them
	inFlight bool               // an event is in the replica and perhaps not in the session
	missed   bool               // the session changed then
}

var _ serve.Attacher = (*Hold)(nil)

// Hold takes a thread for this process. If another one holds it, the error is a [*serve.HeldError]. A thread that was not in
// the log is empty, and nothing is stored of it before something happens.
//
// What the last holder has stored is the thread, even if it died in the middle of a run. A session breaks that run off, and
// settles its calls as SessionOptions.Unanswered says.
func (l *Log) Hold(ctx context.Context, threadID string) (*Hold, error) {
	if err := l.check(threadID); err != nil {
		return nil, err
	}
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
	}
	token := Token(threadID)
	s, err := l.acquire(ctx, token)
	if err != nil {
		if _, held := errors.AsType[*serve.HeldError](err); held {
			return nil, err
		}
		return nil, fmt.Errorf("taking the thread: %w", l.explained(err))
	}
	h := &Hold{
		log: l, id: threadID, token: token, lease: s, kick: make(chan struct{}, 1), done: make(chan struct{}),
		moved: make(chan struct{}), lost: make(chan struct{}), streams: make(map[*stream]bool),
	}
	h.ctx, h.ending = context.WithCancel(context.Background())
	if err := h.open(ctx); err != nil {
		h.ending()
		_ = s.release(context.WithoutCancel(ctx))
		return nil, fmt.Errorf("opening the thread: %w", l.explained(err))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		h.ending()
		go s.release(context.Background())
		return nil, ErrClosed
	}
	l.holds[threadID] = h
	go h.pump()
	s.onLost(func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.fail(fmt.Errorf("%w: the lease has expired", ErrLost))
	})
	return h, nil
}

// open reads the log and makes this process its writer: at once, if the last one has not given the thread up in order, so that
// it cannot write any more, and otherwise with the first entry.
func (h *Hold) open(ctx context.Context) error {
	for range 16 {
		read, err := h.log.load(ctx, h.id)
		if err != nil {
			return err
		}
		h.take(read)
		if read.last == 0 && read.mark.Sequence == 0 || h.replica.Closed && h.replica.Gap == "" {
			return nil
		}
		h.begin()
		b := h.cut()
		err = h.put(ctx, b)
		switch {
		case err == nil:
			h.settle(b)
			return nil
		case !errors.Is(err, errBehind):
			return err
		}
	}
	return errors.New("other writers do not stop to write")
}

// take makes what was read what the writer starts from.
func (h *Hold) take(read *loaded) {
	h.replica, h.last, h.since, h.mark = read.replica, read.last, read.since, read.mark
	h.replica.KeepOpen = true
	h.stored = nil
	if h.last > 0 || h.mark.Sequence > 0 {
		h.stored = h.replica.Snapshot().Thread
	}
	h.pending, h.count, h.first, h.settled, h.opened = nil, 0, 0, 0, false
}

// begin begins what this writer writes. mu is held, or nobody else has h.
func (h *Hold) begin() {
	h.opened = true
	gap := h.replica.Gap != ""
	h.replica.Token, h.replica.Next = max(h.lease.token, h.replica.Token+1), 0
	h.line(entry.AppendOpen(nil, h.log.o.Holder))
	if gap { // what a reader has may not be what was read here
		h.line(entry.AppendThread(nil, h.replica.Snapshot()))
	}
}

// line adds an entry, which the replica takes too. mu is held.
func (h *Hold) line(text []byte) {
	if err := h.replica.Apply(text[:len(text)-1]); err != nil {
		h.log.o.log().Error("an entry that was written cannot be read", "thread", h.id, "error", err) // not reached
	}
	h.push(text)
}

// push adds an entry that the replica has taken. mu is held.
func (h *Hold) push(text []byte) {
	h.pending = append(h.pending, text...)
	h.pushed()
}

// pushed counts an entry that was added, and wakes the pump. mu is held.
func (h *Hold) pushed() {
	h.count++
	h.replica.Next++
	select {
	case h.kick <- struct{}{}:
	default:
	}
}

// write adds an entry, after the one that opens the log if need be. mu is held.
func (h *Hold) write(text []byte) {
	if !h.opened {
		h.begin()
	}
	h.line(text)
}

// Thread returns the thread as it was stored, nil if it was not. If its last run is in progress, that was cut off.
func (h *Hold) Thread() *reducer.Thread { return h.stored }

// Lost returns a channel that is closed once another process may have taken the thread. Nothing more is stored then, and
// runs have ended with [ErrLost].
func (h *Hold) Lost() <-chan struct{} { return h.lost }

// Err returns why nothing more is stored: an error that matches [ErrLost], or [ErrClosed]; nil while the thread is held.
func (h *Hold) Err() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.err
}

// Session returns a session of the thread, whose runs, changes and stops are stored. ThreadID, Thread and Middleware of the
// options are completed. Close the session before the Hold.
func (h *Hold) Session(agent client.Agent, o *client.SessionOptions) *client.Session {
	var own client.SessionOptions
	if o != nil {
		own = *o
	}
	own.ThreadID, own.Thread = h.id, h.Thread()
	own.Middleware = append([]client.Middleware{h.Record()}, own.Middleware...)
	s := client.NewSession(agent, &own)
	h.Attach(s)
	return s
}

// Attach has what the session does between runs stored too, and stops of other processes reach it. The middleware of Record
// must be the outermost of the session's, and the session must start from Thread.
func (h *Hold) Attach(s *client.Session) {
	ctx, cancel := context.WithCancel(h.ctx)
	h.mu.Lock()
	h.session, h.detach = s, cancel
	if h.stored != nil { // the session may have broken off a run
		h.sync(false)
	}
	h.mu.Unlock()
	go func() {
		for range s.SubscribeThrottled(ctx, 5*time.Millisecond) {
			h.mu.Lock()
			h.sync(false)
			h.mu.Unlock()
		}
	}()
}

// sync writes what the session has done since it was compared last; even what it has started from, if a run begins. mu is held.
func (h *Hold) sync(begins bool) {
	if h.session == nil || h.err != nil {
		return
	}
	if h.inFlight {
		h.missed = true
		return
	}
	h.missed = false
	h.show(h.session.Snapshot(), begins)
}

// show writes what leads from what followers have to a snapshot. mu is held.
func (h *Hold) show(s client.Snapshot, begins bool) {
	now, has := feed.Snapshot{Thread: s.Thread, Phase: s.Phase.String(), Queued: s.Queued}, h.replica.Snapshot()
	if s.Phase == client.PhaseClosed { // the thread is not: another session may follow
		now.Phase, now.Queued = client.PhaseIdle.String(), nil
	}
	if h.gap {
		h.state(now)
		return
	}
	if h.replica.Open() && s.Revision == has.Thread.Revision && s.Thread.ID == has.Thread.ID {
		now.Thread = has.Thread // there is nothing to compare
	}
	if !begins && !h.opened && s.Revision == 0 && len(now.Queued) == 0 { // nothing has happened yet
		return
	}
	text, differs := entry.AppendDelta(nil, has, now)
	if differs {
		h.write(text)
	}
	if !h.replica.Open() {
		h.replica.Adopt(now)
	}
}

// state writes the thread as a whole, after entries were dropped, once no run is in progress. mu is held.
func (h *Hold) state(now feed.Snapshot) {
	if len(h.streams) > 0 || h.stuck != nil {
		return
	}
	h.gap = false
	h.write(entry.AppendThread(nil, now))
	h.replica.Adopt(now)
}

// stop stops the run because another process has asked for it.
func (h *Hold) stop(by string) {
	h.mu.Lock()
	if h.err != nil || len(h.streams) == 0 && h.session == nil {
		h.mu.Unlock()
		return
	}
	if h.opened && !h.gap {
		h.write(entry.AppendStop(nil, by))
	}
	s := h.session
	if s == nil {
		for st := range h.streams {
			st.cancel(client.ErrStopped)
		}
	}
	h.mu.Unlock()
	if s != nil {
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		_ = s.Stop(ended) // which does not wait
	}
}

// Save stores what the session has done, or, without one, what leads to the thread, and waits until it is stored.
func (h *Hold) Save(ctx context.Context, thread func() *reducer.Thread) error {
	th := thread()
	h.mu.Lock()
	if h.err != nil {
		defer h.mu.Unlock()
		return h.err
	}
	if h.session == nil {
		h.show(client.Snapshot{Thread: th, Phase: client.PhaseIdle}, false)
	} else {
		h.sync(false)
	}
	h.mu.Unlock()
	return h.Flush(ctx)
}

// Flush waits until everything so far is stored. It returns the error that this failed with, or a [*StuckError] while the log
// cannot be written, or the error of ctx.
func (h *Hold) Flush(ctx context.Context) error {
	h.mu.Lock()
	through := h.replica.Next
	for {
		if h.err != nil && h.err != ErrClosed {
			defer h.mu.Unlock()
			return h.err
		}
		if !h.opened || h.settled >= through {
			h.mu.Unlock()
			return nil
		}
		if h.stuck != nil {
			defer h.mu.Unlock()
			return h.stuck
		}
		moved := h.moved
		h.mu.Unlock()
		select {
		case <-moved:
		case <-h.done:
			return cmp.Or(h.Err(), ErrClosed)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		h.mu.Lock()
	}
}

// Close stores what is left, for at most 5 s, and gives the thread up. Open runs end. Closing again does nothing.
func (h *Hold) Close() error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil
	}
	h.closed = true
	h.sync(false)
	for st := range h.streams {
		st.cancel(ErrClosed)
	}
	var err error
	if h.err == nil {
		if h.opened && !h.gap {
			h.write(entry.AppendClose(nil))
		}
		h.err = ErrClosed
	} else {
		err = h.err
	}
	if h.detach != nil {
		h.detach()
	}
	h.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err == nil {
		err = h.Flush(ctx)
	}
	late := time.AfterFunc(5*time.Second, h.ending)
	h.marks.Wait() // of a checkpoint
	late.Stop()
	h.ending()
	<-h.done
	h.log.mu.Lock()
	delete(h.log.holds, h.id)
	h.log.mu.Unlock()
	free, cancel2 := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel2()
	return cmp.Or(err, h.lease.release(free))
}

// fail ends the writing for good. mu is held.
func (h *Hold) fail(err error) {
	if h.err != nil {
		return
	}
	h.err = err
	close(h.lost)
	for st := range h.streams {
		st.cancel(err)
	}
	h.move()
	h.log.o.log().Warn("a thread was lost", "thread", h.id, "error", err)
}

// move wakes those who wait for a change. mu is held.
func (h *Hold) move() {
	close(h.moved)
	h.moved = make(chan struct{})
}
