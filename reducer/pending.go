package reducer

import (
	"iter"
	"slices"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

// PendingToolCallIDs returns the calls that the client must answer before the thread continues, in the order in which
// they were made: those that the last run left and nothing has answered since (P-RUN-2). Only a run that succeeded or
// was interrupted leaves calls. The caller must not change the slice.
func (t *Thread) PendingToolCallIDs() []string {
	if run := t.LastRun(); run != nil && (run.Status == Succeeded || run.Status == Interrupted) {
		return run.PendingToolCallIDs
	}
	return nil
}

// PendingToolCalls yields the calls of [Thread.PendingToolCallIDs], each with the message that holds it. It costs a pass
// over the messages if there are any, else nothing.
func (t *Thread) PendingToolCalls() iter.Seq2[*messages.ToolCall, *messages.Message] {
	return func(yield func(*messages.ToolCall, *messages.Message) bool) {
		ids := t.PendingToolCallIDs()
		if len(ids) == 0 {
			return
		}
		type place struct {
			call *messages.ToolCall
			in   *messages.Message
		}
		held := make(map[string]place, len(ids))
		for _, id := range ids {
			held[id] = place{}
		}
		for _, m := range t.Messages.All() {
			for _, tc := range m.ToolCalls.All() {
				if p, pends := held[tc.ID]; pends && p.call == nil { // if several calls share an id, it means the first
					held[tc.ID] = place{tc, m}
				}
			}
		}
		for _, id := range ids {
			if p := held[id]; p.call != nil && !yield(p.call, p.in) {
				return
			}
		}
	}
}

// leftPending returns the calls that the run which now finishes leaves for its client: those that the agent names, else
// those that the run started and those of offered tools that only a snapshot brought. In both cases only calls that the
// thread holds and nothing answered are left (P-RUN-2; events/tool-calls, Frontend tools).
func (d *draft) leftPending(named []string) []string {
	candidates := named
	if len(named) == 0 {
		candidates = d.run.calls
	}
	var ids []string
	listed := make(map[string]bool, len(candidates))
	list := func(id string) {
		c := d.calls[id]
		if c == nil || c.tc == nil || c.broken || listed[id] || c.answered() {
			return
		}
		if c.startedIn != d.run.seq || c.answeredIn != d.run.seq { // otherwise a snapshot has dropped its answer
			listed[id] = true
			ids = append(ids, id)
		}
	}
	for _, id := range candidates {
		list(id)
	}
	if len(d.run.brought) > 0 && len(d.offered) > 0 {
		asked := d.lastUser()
		for _, id := range d.run.brought {
			if c := d.calls[id]; c != nil && c.tc != nil && d.offers(c.tc.Name) && c.parent.ord > asked {
				list(id)
			}
		}
	}
	return ids
}

// offers reports whether the run's input offers a tool of that name.
func (d *draft) offers(name string) bool {
	return slices.ContainsFunc(d.offered, func(t event.Tool) bool { return t.Name == name })
}

// lastUser returns the ord of the last user message, 0 if there is none. The user has moved past the calls before
// it. It looks at the text messages only: it is called only after a snapshot of this run, which has restated them.
func (d *draft) lastUser() uint64 {
	var last uint64
	for _, e := range d.entries[messages.KindText].m {
		if e.msg.Role == messages.RoleUser {
			last = max(last, e.ord)
		}
	}
	return last
}

// noteBrought notes the calls of a snapshot's message that the thread has not held before.
func (d *draft) noteBrought(m *messages.Message) {
	for _, tc := range m.ToolCalls.All() {
		if d.calls[tc.ID] == nil {
			d.run.brought = append(d.run.brought, tc.ID)
		}
	}
}
