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
// others changed, the Thread, and so its Revision, is that of the snapshot before.
type Snapshot struct {
	*reducer.Thread
	// Phase says what the session is doing, and so whether it would refuse a call; see [Phase.Busy].
	Phase Phase
	// Queued are the messages that wait to be sent, in the order in which they will be. They are not part of the thread
	// yet. The caller must not change the slice.
	Queued []*messages.Message
	// Result says how the last call of Run, Send or Resume ended, nil if none has.
	Result *Result
}

// Phase says what a session is doing.
type Phase uint8

// The phases. In PhaseIdle and PhaseWaiting the session is free: a call made on seeing one of them does not get
// [ErrBusy], unless another caller was faster.
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

// Busy reports whether a call is in progress: PhaseSending, PhaseStreaming or PhaseCallingTools.
func (p Phase) Busy() bool { return p >= PhaseSending && p <= PhaseCallingTools }

// Snapshot returns the current snapshot. Its cost does not depend on the size of the thread.
func (s *Session) Snapshot() Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.snapshot()
}

// snapshot is Snapshot with the lock held.
func (s *Session) snapshot() Snapshot {
	return Snapshot{Thread: s.current(), Phase: s.phase, Result: s.result}
}

// setPhase makes p the phase. mu is held.
func (s *Session) setPhase(p Phase) {
	if p != s.phase {
		s.phase = p
		s.hub.Changed()
	}
}

// enter makes p the phase of the call in progress; mu is not held.
func (s *Session) enter(p Phase) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.setPhase(p)
}

// free returns the phase of a session that does nothing and holds this thread. The session is the caller's: either
// changing is held, or its call is in progress.
func (s *Session) free(th *reducer.Thread) Phase {
	if len(th.Interrupts) > 0 {
		return PhaseWaiting
	}
	if _, callers := s.pending(th); len(callers) > 0 {
		return PhaseWaiting
	}
	return PhaseIdle
}
