package client

import (
	"context"
	"errors"
	"slices"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// Unanswered says what a session does about tool calls without a result before it sends a request. Model providers refuse
// a history in which a call has no result or arguments that are not JSON (P-HIS-1).
type Unanswered uint8

// What is done about calls without a result.
const (
	// SettleUnanswered, the default, gives each call that can no longer be answered a result that says what happened, as
	// an error: calls whose arguments broke off, calls of runs that were stopped or died, functions that were stopped,
	// and calls of tools that nobody offers. Calls that wait for the caller are a [*PendingCallError].
	SettleUnanswered Unanswered = iota
	// DeclineUnanswered is SettleUnanswered, but the calls that wait for the caller are declined: their results say that
	// the user continued without answering.
	DeclineUnanswered
	// KeepUnanswered changes nothing, for an agent that holds the history itself. Calls that wait for the caller are a
	// [*PendingCallError], and functions that were stopped are called again.
	KeepUnanswered
)

// Retry runs the agent again on the thread as it is, after a run that failed or did not start: a 401, a 429, a lost
// connection. The messages of the user are in the thread already, so nothing is added to it but what
// [SessionOptions.Unanswered] does about the calls that the run left. It returns like Send. A Resume that
// failed is tried again with Resume, because its interrupts still pend (P-RUN-3).
func (s *Session) Retry(ctx context.Context) (*Result, error) { return s.Send(ctx) }

// errStored is the cause of a run that was running when its thread was stored.
var errStored = errors.New("the thread was stored in the middle of it")

// settled remembers what the session has found out about its history. The call in progress uses it, or whoever changes
// the thread between runs.
type settled struct {
	list    messages.List[*messages.Message] // nothing in it needs to be settled
	again   bool                             // but a call in it has no result yet
	started map[string]bool                  // calls of functions that were called and have not answered
}

func (k *settled) start(id string) {
	if k.started == nil {
		k.started = make(map[string]bool)
	}
	k.started[id] = true
}

// sendable returns the thread as it can be sent (P-HIS-1): each call of a message has one result directly after the message
// and arguments that are a JSON object. What it changes it also reports. It costs what is new in the thread, and a pass
// over all messages if something has to change.
func (s *Session) sendable(th *reducer.Thread) (*reducer.Thread, []event.Warning) {
	if s.o.Unanswered == KeepUnanswered {
		return th, nil
	}
	calls, callers := s.pending(th)
	waits := s.waiting(th, calls)
	if s.settled.sound(th.Messages, waits) {
		s.settled.list = th.Messages
		return th, nil
	}
	r := repair{session: s, thread: th, waits: waits, items: th.Messages.Slice(), why: make(map[string]string)}
	for tc := range th.PendingToolCalls() {
		r.why[tc.ID] = noTool(tc.Name)
	}
	for _, p := range calls {
		r.why[p.call.ID] = "the tool did not return before it was stopped; it may have had effects"
	}
	for _, tc := range callers {
		r.why[tc.ID] = "declined: the user continued without an answer"
	}
	if r.do(); r.changed {
		th = th.ReplaceMessages(r.out...)
	}
	s.settled.list, s.settled.again = th.Messages, r.again
	return th, r.warnings
}

// waiting returns the calls that are answered later: by functions that have not been called yet, or by the agent itself
// once its interrupts are answered (P-HIS-3).
func (s *Session) waiting(th *reducer.Thread, calls []pendingCall) map[string]bool {
	waits := make(map[string]bool)
	for _, p := range calls {
		if !s.settled.started[p.call.ID] {
			waits[p.call.ID] = true
		}
	}
	if len(th.Interrupts) == 0 {
		return waits
	}
	for _, in := range th.Interrupts {
		if id, ok := in.ToolCallID.Get(); ok {
			waits[id] = true
		}
	}
	for _, run := range th.Runs.Backward() {
		if run.Status == reducer.Interrupted {
			for _, id := range run.PendingToolCallIDs {
				if tc, _ := th.ToolCall(id); tc != nil && !s.offers(tc.Name) {
					waits[id] = true
				}
			}
			break
		}
	}
	return waits
}

func (s *Session) offers(tool string) bool {
	return slices.ContainsFunc(s.o.Tools, func(t Tool) bool { return t.Name == tool })
}

// sound reports whether nothing has to change. What it has found sound before it does not look at again.
func (k *settled) sound(list messages.List[*messages.Message], waits map[string]bool) bool {
	from := 0
	if !k.again {
		from = min(k.list.Len(), list.Len())
		for i := range messages.Diff(k.list, list) {
			from = i
			break
		}
		for from > 0 && (from >= list.Len() || follows(list.At(from))) { // back to the message that results may answer
			from--
		}
	}
	k.again = false
	var calls map[string]int // of the last message with calls: how many results they have
	closed := func() bool {
		for id, n := range calls {
			switch {
			case n == 0 && waits[id]:
				k.again = true
			case n != 1:
				return false
			}
		}
		return true
	}
	for _, m := range list.From(from) {
		if m.Role == messages.RoleTool {
			if _, ok := calls[m.ToolCallID]; !ok {
				return false
			}
			calls[m.ToolCallID]++
		}
		if follows(m) {
			continue
		}
		if !closed() || isNothing(m) {
			return false
		}
		calls = make(map[string]int, m.ToolCalls.Len())
		for _, tc := range m.ToolCalls.All() {
			if _, twice := calls[tc.ID]; twice || !isObject(tc.Arguments) {
				return false
			}
			calls[tc.ID] = 0
		}
	}
	return closed()
}

// follows reports whether a message may stand between another one and the results of its calls. Activities are not sent.
func follows(m *messages.Message) bool {
	return m.Role == messages.RoleTool || m.Role == messages.RoleActivity
}

// isNothing reports whether a message broke off before there was anything in it. Providers refuse an empty message.
func isNothing(m *messages.Message) bool {
	_, encrypted := m.EncryptedValue.Get()
	return m.Cut && m.ToolCalls.Len() == 0 && m.Text() == "" && len(m.Content.Parts()) <= 1 && !encrypted
}

func isObject(arguments string) bool {
	v, err := state.Parse([]byte(arguments))
	return err == nil && v.Kind() == state.KindObject
}
