package client

import (
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// Snapshot is what a session knows at one moment: the thread, and what the session is doing. It is immutable and safe for
// concurrent use, costs the same whatever the thread holds, and may be kept. Of the methods of the embedded thread, those
// that encode encode the thread alone.
//
// A subscription delivers a new Snapshot for each change of the thread and for each change of the other fields. If only the
// others changed, the Thread is equal to that of the snapshot before, and has its Revision.
type Snapshot struct {
	*reducer.Thread
	// Phase says what the session is doing, and so whether it would refuse a call; see [Phase.Busy].
	Phase Phase
	// Queued are the messages that were typed ahead and wait to be sent, in the order in which they will be; see [Queue]. They
	// are not part of the thread yet, and all have ids. The caller must not change the slice.
	Queued []*messages.Message
	// Result says how the last turn ended, nil if none has. What came on its stream after that, such as another run, is in the
	// thread alone.
	Result *Result
}

// Phase says what a session is doing.
type Phase uint8

// The phases. In PhaseIdle and PhaseWaiting the session is free: a turn started on seeing one of them does not get
// [ErrBusy], unless another caller was faster.
//
// A turn goes from PhaseSending to PhaseStreaming, from there perhaps to PhaseCallingTools and again to PhaseSending, and
// ends from each of them in PhaseIdle, PhaseWaiting or PhaseClosed, or, if another turn is queued, in PhaseSending.
//
// A run that the agent begins by itself on a stream that lingers ([SessionOptions.Linger]) takes a free session to
// PhaseStreaming, and from there to PhaseIdle or PhaseWaiting when it ends. It belongs to no turn: it keeps nobody waiting, and
// a turn that is started meanwhile, or a change of the thread, stops it.
const (
	// PhaseIdle: nothing is in progress, and nothing waits for the caller.
	PhaseIdle Phase = iota
	// PhaseSending: a request is being sent; the agent has not said anything yet.
	PhaseSending
	// PhaseStreaming: the agent's events arrive.
	PhaseStreaming
	// PhaseCallingTools: functions of the session's tools are running. The thread's status is that of the run before,
	// such as succeeded; another run follows with the answers.
	PhaseCallingTools
	// PhaseWaiting: nothing is in progress, and the conversation continues only after the caller has answered: the
	// thread's Interrupts (P-INT-1), or calls of offered tools that have no function (P-RUN-2).
	PhaseWaiting
	// PhaseClosed: the session is closed. This is the phase of the last snapshot of each subscription.
	PhaseClosed
)

var phaseNames = [...]string{"idle", "sending", "streaming", "calling tools", "waiting", "closed"}

// String returns the phase in lower-case words, such as "calling tools", and "unknown" for another value.
func (p Phase) String() string {
	if int(p) >= len(phaseNames) {
		return "unknown"
	}
	return phaseNames[p]
}

// MarshalText returns what String returns.
func (p Phase) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// Busy reports whether the session is busy: PhaseSending, PhaseStreaming or PhaseCallingTools.
func (p Phase) Busy() bool { return p >= PhaseSending && p <= PhaseCallingTools }

// Snapshot returns the current snapshot. Its cost does not depend on the size of the thread.
func (s *Session) Snapshot() Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.snapshot()
}

// snapshot is Snapshot with the lock held.
func (s *Session) snapshot() Snapshot {
	return Snapshot{Thread: s.current(), Phase: s.phase, Queued: s.queued, Result: s.result}
}

// setPhase makes p the phase and tells subscribers. mu is held.
func (s *Session) setPhase(p Phase) {
	if p != s.phase {
		s.become(p)
		s.hub.Changed()
	}
}

// become makes p the phase, for a caller that tells subscribers, and wakes Wait. mu is held.
func (s *Session) become(p Phase) {
	s.phase = p
	if s.freed != nil && !p.Busy() {
		close(s.freed)
		s.freed = nil
	}
}

// enter makes p the phase of the turn in progress; mu is not held.
func (s *Session) enter(p Phase) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.setPhase(p)
}

// free returns the phase of a session that does nothing and holds this thread. The session is the caller's: either
// changing is held, or its turn is in progress, or own of the stream that lingers is held.
func (s *Session) free(th *reducer.Thread) Phase {
	if len(th.Interrupts) > 0 {
		return PhaseWaiting
	}
	if _, callers := s.pending(th); len(callers) > 0 {
		return PhaseWaiting
	}
	return PhaseIdle
}
