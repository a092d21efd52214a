package client

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
	"github.com/agfold/agfold/subscribe"
)

// The states in which a session returns an error.
var (
	// ErrBusy is returned when a turn is already in progress; see [WhenBusy].
	ErrBusy = errors.New("a turn is in progress")
	// ErrClosed is returned after Session.Close.
	ErrClosed = errors.New("the session is closed")
	// ErrStopped is returned when the user stopped the run: Stop of the session or the turn, Close, a turn that superseded it,
	// or leaving its loop.
	ErrStopped = reducer.ErrStopped
	// ErrRejected is returned when the stream was rejected; the error also holds a *reducer.Violation or
	// a *messages.MalformedError.
	ErrRejected = errors.New("the stream was rejected")
	// ErrRounds is returned when tools were answered SessionOptions.MaxRounds times and calls are still pending.
	ErrRounds = errors.New("too many rounds of tool calls")
)

// SessionOptions configures [NewSession]; nil means defaults.
type SessionOptions struct {
	// ThreadID is the conversation's id; "" takes that of Thread or makes one.
	ThreadID string
	// Thread is a conversation to continue; nil starts an empty one. If it was stored in the middle of a run, that run is
	// truncated ([reducer.Thread.BreakOff]). Functions for its pending calls may have been called before it was
	// stored, so they are not called again unless Unanswered is KeepUnanswered.
	Thread *reducer.Thread
	// Messages and State are what an empty conversation starts from; with Thread they play no part. Messages
	// without an id get one. If they are not what SetMessages accepts, the conversation starts without them,
	// and its error is that of every run until SetMessages puts others in their place.
	Messages []*messages.Message
	State    state.Value // absent or null is {} (P-STA-2)
	// Tools are offered to the agent in every run. The session answers calls of those with a function. If several share a
	// name, the first with a function is used.
	Tools []Tool
	// Context and ForwardedProps go into every run's input.
	Context        []event.Context
	ForwardedProps state.Value
	// Middleware wraps the agent; the first one is outermost (P-PIPE-3).
	Middleware []Middleware
	// PeerVersion pins the agent to an older protocol version such as "0.0.57", for which the exchange is
	// downgraded (P-VRS-2); "" means a peer of our own version.
	PeerVersion string
	// Strict rejects what would otherwise be removed with a warning (P-ENF-7).
	Strict bool
	// MaxPatchedBytes bounds what patches, PatchState's too, may make of the shared state and the activities; see
	// [reducer.Options.MaxPatchedBytes]. 0 means the default of [state.DefaultMaxSize], a negative number no bound.
	MaxPatchedBytes int
	// MaxRounds bounds how often one turn answers tools with another run. 0 means 16; with a
	// negative number the session calls no functions, and all calls are the caller's to answer.
	MaxRounds int
	// Approve is called before each call of a tool's function, concurrently if several calls are pending. If it returns an
	// error or panics, the call is declined and the error text is sent to the agent. Nil approves everything.
	Approve func(ctx context.Context, call *messages.ToolCall) error
	// Unanswered says what is done about tool calls without a result before a request is sent (P-HIS-2). What changes is
	// in the thread, and each change is a warning.
	Unanswered Unanswered
	// AnswerUnknownTools answers calls of tools that are not offered, as those of a function that fails with "there is no
	// tool", so that the agent runs again and can do something else. Without it such calls end the turn, and the
	// next one settles them if the caller has not answered.
	AnswerUnknownTools bool
	// Linger bounds how long a stream is still read after its run has ended; 0 means 5 s, a negative value no limit. The turn
	// does not wait for that: unless the stream ends or brings another run within 2 ms, the session is free, or calls tools,
	// while the stream lingers. What comes in this time is folded: a late RUN_ERROR, or another run (P-RUN-3), which begins the
	// time anew when it ends; other events do not prolong it.
	//
	// The next turn, a change of the thread by the client, Stop and Close end the lingering, unless they are refused: a run
	// that has begun on the stream is stopped, and what comes later is not folded.
	Linger time.Duration
	// WhenBusy says what to do with a turn that is started while another one is in progress. 0 means [Refuse].
	WhenBusy WhenBusy
	// Capabilities is what the agent declares about itself, such as [Capabilities] returns; nil is nothing. What a stream
	// contradicts of it is a warning (P-CAP-2), and has no other effect. It is not in the thread.
	Capabilities *event.Capabilities
	// OnWarning is called with every warning, from the goroutine that reads a stream; nil writes them to the default
	// logger of log/slog at level Warn. While a stream lingers, warnings about it may come at the same time as those of the
	// next turn. It must not wait for the session, as Stop and Send do.
	OnWarning func(event.Warning)
	// Hooks are called as runs change the thread. They are not copied: what they are must not change.
	Hooks *Hooks
	// Observers see turns, streams and calls of tools from their beginning to their end. The first one is outermost.
	Observers []Observer
	// Debug, if it is set, is told what becomes of each event, and of turns, in the categories upgrade, chunks, verify, fold and
	// session. Its handler is called while the session works, sometimes with a lock, so it must not use the session.
	Debug *DebugLog
	// NewID makes the ids of the thread, runs and messages, one call at a time. Nil makes random UUIDs (version 4),
	// which some agents insist on. It must not itself have the session make an id.
	NewID func() string
}

// Session holds a conversation over many runs, one turn at a time. It is safe for concurrent use: any goroutine may start
// and stop turns, read snapshots, subscribe, and change the thread between turns. The functions of its options and tools
// are called without a lock and may use the session, but a function that a turn waits for must not wait for that turn, or for
// one that is queued after it. A session that is free has no goroutine once its last stream is closed
// ([SessionOptions.Linger]). It needs no Close unless it has subscribers.
type Session struct {
	agent  Agent
	lender *httpAgent // the agent, if there is no middleware that could keep an event
	o      SessionOptions
	hub    *subscribe.Hub[Snapshot]

	ids     sync.Mutex  // held while NewID is called, without mu
	handing atomic.Bool // a goroutine waits for a slow Every

	changing sync.Mutex // held while a change between runs is made; taken before mu. It guards invalid.
	invalid  error      // of the first messages

	// Used by the turn in progress, or with changing held if there is none.
	settled settled
	sent    sentMessages

	mu     sync.Mutex
	fold   *reducer.Reducer // of the run in progress, nil between runs
	held   *reducer.Thread  // of the fold, while that changes without mu
	kept   *reducer.Reducer // the fold of the last run, once it has ended; for the next one, which it spares a pass over the thread
	thread *reducer.Thread  // the last one between runs
	turn   *Turn            // in progress, nil between turns
	stream *runStream       // the last one, until it is closed
	phase  Phase
	queue  []*Turn             // replaced, never changed in place
	queued []*messages.Message // of the queue, or of what it was at Close
	freed  chan struct{}       // closed when the phase is no longer busy; nil if nobody waits for that
	closed bool
	result *Result
}

// NewSession returns a session that talks to agent. It copies the options and keeps what they point to. If an agent, a
// middleware, a version or a tool cannot be used, every run returns an error and nothing is added or sent.
func NewSession(agent Agent, o *SessionOptions) *Session {
	s := new(Session)
	if o != nil {
		s.o = *o
	}
	if s.o.NewID == nil {
		s.o.NewID = newUUID
	}
	if s.o.MaxRounds == 0 {
		s.o.MaxRounds = 16
	}
	if s.o.Linger == 0 {
		s.o.Linger = 5 * time.Second
	}
	if s.o.OnWarning == nil {
		s.o.OnWarning = logWarning
	}
	chain := slices.Clone(s.o.Middleware)
	if s.o.PeerVersion != "" {
		chain = append(chain, Peer(s.o.PeerVersion))
	}
	s.agent = chained(agent, s.Thread, chain)
	if h, ok := agent.(*httpAgent); ok && len(chain) == 0 {
		s.lender = h
	}
	s.o.Tools, s.o.Observers = slices.Clone(s.o.Tools), slices.Clone(s.o.Observers)
	s.thread = s.origin()
	s.phase = s.free(s.thread)
	if s.o.Debug = s.o.Debug.with("thread", s.thread.ID); s.o.Debug != nil && s.o.Debug.on[DebugSession] {
		s.o.Observers = append(s.o.Observers, debugObserver{s.o.Debug})
	}
	s.o.Thread, s.o.Messages, s.o.State, s.o.Middleware = nil, nil, state.Value{}, nil // not kept alive
	s.hub = subscribe.NewHub(&s.mu, s.snapshot)
	return s
}

// origin returns the thread that the options start from.
func (s *Session) origin() *reducer.Thread {
	var th reducer.Thread
	if s.o.Thread != nil {
		th = *s.o.Thread.BreakOff(errStored)
		for _, id := range th.PendingToolCallIDs() { // who stored it may have called them
			s.settled.start(id)
		}
	} else {
		msgs := s.completed(s.o.Messages)
		if s.invalid = checkMessages(msgs, nil); s.invalid == nil {
			th.Messages = th.ReplaceMessages(msgs...).Messages
		}
		if s.o.State.Kind() != state.KindNull {
			th.State = s.o.State
		}
	}
	if !th.State.Exists() {
		th.State = state.Object() // P-STA-2
	}
	if s.o.ThreadID != "" {
		th.ID = s.o.ThreadID
	}
	if th.ID == "" {
		th.ID = s.newID()
	}
	return &th
}

// unusable returns the error of an invalid argument of NewSession or an invalid tool. changing is held.
func (s *Session) unusable() error {
	if err := unusableError(s.agent); err != nil {
		return err
	}
	for _, t := range s.o.Tools {
		if t.err != nil {
			return t.err
		}
		if t.Name == "" {
			return errNoToolName
		}
	}
	return s.invalid
}

// newID returns a new id; mu is not held.
func (s *Session) newID() string {
	s.ids.Lock()
	defer s.ids.Unlock()
	return s.o.NewID()
}

func logWarning(w event.Warning) {
	slog.Warn(w.Text, "rule", w.Rule, "event", w.Ordinal, "type", w.Type, "path", w.Path)
}

// ID returns the conversation's id, the threadId of every run.
func (s *Session) ID() string { return s.Thread().ID }

// Thread returns the current snapshot. Its cost does not depend on the size of the thread.
func (s *Session) Thread() *reducer.Thread {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current()
}

// current is Thread with the lock held.
func (s *Session) current() *reducer.Thread {
	switch {
	case s.held != nil:
		return s.held
	case s.fold != nil:
		return s.fold.Thread()
	}
	return s.thread
}

// hold makes what the fold has made so far the snapshot until held is cleared, so that the fold may change without mu.
// mu is held.
func (s *Session) hold() { s.held = s.fold.Thread() }

// Subscribe returns a channel of snapshots, the newest of which wins: a slow receiver does not delay the run. The
// channel has the current snapshot at once. It is closed after Close, with the final snapshot before that, or when ctx
// ends. See [subscribe.Hub.Latest], and package subscribe for slower rates and parts of the thread.
func (s *Session) Subscribe(ctx context.Context) <-chan Snapshot { return s.hub.Latest(ctx) }

// SubscribeThrottled is Subscribe with at most one snapshot per interval, for a screen: changes within an interval wake
// nobody and cost nothing. The channel is closed after Close, with the final snapshot before that at the end of its
// interval, or when ctx ends; a receiver that stops earlier must end ctx. See [subscribe.Hub.Throttled].
func (s *Session) SubscribeThrottled(ctx context.Context, interval time.Duration) <-chan Snapshot {
	return s.hub.Throttled(ctx, interval)
}

// Revisions returns a subscription to the snapshots after each delivery of the stream, after each change between runs, and
// after each change of the phase, in order; see [subscribe.Hub.Every] for what happens when its reader is slow.
// With the Block policy it holds back the events of a run, but no change between runs and no call that ends:
// a goroutine then sends the rest, and stays until the reader has taken it or its context has ended.
func (s *Session) Revisions(ctx context.Context, o *subscribe.EveryOptions) *subscribe.Revisions[Snapshot] {
	return s.hub.Every(ctx, o)
}

// Close stops the turn in progress and, after that has ended, ends the subscriptions with the final snapshot. Turns of the
// queue end with [ErrClosed]; the final snapshot still shows their messages. Close does not wait: [Session.Wait] and
// [Session.Stop] do, also after it. The thread can still be read. Closing again does nothing.
func (s *Session) Close() {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.closed = true
	t, queue := s.turn, s.queue
	s.queue = nil
	if t != nil {
		t.halt()
	}
	s.mu.Unlock()
	for _, q := range queue {
		q.unhook()
		if q != t {
			q.refuse(ErrClosed)
		}
	}
	if t == nil { // and none will begin
		s.dropStream()
		s.mu.Lock()
		s.setPhase(PhaseClosed)
		s.mu.Unlock()
		s.hub.Close()
	}
}

// handOver sends the new revisions to the Every subscriptions without waiting for those that are full. If one is, a
// goroutine waits for it; there is at most one.
func (s *Session) handOver() {
	if s.hub.TryFlush() || !s.handing.CompareAndSwap(false, true) {
		return
	}
	go func() {
		_ = s.hub.Flush(context.Background()) // never ends: only the subscription can
		s.handing.Store(false)
		s.handOver() // what came since
	}()
}
