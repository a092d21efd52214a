package reducer

import (
	"cmp"
	"slices"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// messageKey is what a message is found by (P-ID-1).
type messageKey struct {
	kind messages.Kind
	id   string
}

func keyOf(m *messages.Message) messageKey { return messageKey{m.Kind(), m.ID} }

// messagesSnapshot reconciles the conversation with the producer's own account of it (P-MSG-1, P-MSG-2). It
// passes over what the snapshot restates and what it drops, not over what it leaves alone.
func (d *draft) messagesSnapshot(e *event.MessagesSnapshot) {
	last := make(map[messageKey]int, len(e.Messages))
	var carries [messages.KindActivity + 1]bool
	for i, m := range e.Messages {
		k := keyOf(m)
		if _, twice := last[k]; twice {
			d.in.warn("P-MSG-1", m.ID, "the snapshot holds that id more than once; its last copy counts (D-8)")
		}
		last[k] = i
		carries[k.kind] = true
	}
	d.dropOmitted(last, carries, ownedActivities(e.Metadata, carries[messages.KindActivity]))

	var restated, added []*entry
	for i, m := range e.Messages {
		if last[keyOf(m)] != i {
			continue
		}
		en := d.entryFor(m.Kind(), m.ID)
		if en.msg != nil {
			d.forgetCalls(en)
			d.uncount(en.msg)
		}
		d.verifier.own(namespaceOf[m.Kind()], m.ID, m.Owner)
		d.noteBrought(m)
		for _, tc := range m.ToolCalls.All() {
			d.verifier.own(toolCalls, tc.ID, m.Owner)
		}
		if m.Role == messages.RoleTool {
			d.callFor(m.ToolCallID).answers++
		}
		d.nodeFor(m.Owner)
	}
	for i, m := range e.Messages { // now that all answers are known
		if last[keyOf(m)] != i {
			continue
		}
		en := d.entryFor(m.Kind(), m.ID)
		m = d.asItStands(m)
		if en.msg != nil {
			d.list = d.list.Set(d.locate(en), m)
		} else {
			en.hint, en.ord = d.list.Len(), d.nextOrd()
			d.list = d.list.Append(m)
			added = append(added, en)
		}
		d.become(en, m, 0) // the event holds it too
		en.lastResult = nil
		restated = append(restated, en)
	}
	slices.SortFunc(restated, func(a, b *entry) int { return cmp.Compare(a.ord, b.ord) })
	for _, en := range restated {
		d.indexCalls(en, en.msg)
	}
	for _, en := range added {
		d.warnSharedID(en.msg)
	}
	d.change.Kind = ConversationRestated
}

// dropOmitted drops the messages that a snapshot omits and whose kind it restates.
func (d *draft) dropOmitted(restated map[messageKey]int, carries [messages.KindActivity + 1]bool, owns func(string) bool) {
	for kind := messages.KindText; kind <= messages.KindActivity; kind++ {
		if kind == messages.KindReasoning && !carries[kind] || kind == messages.KindActivity && owns == nil {
			continue
		}
		var drop []*entry
		for id, en := range d.entries[kind] {
			if _, keep := restated[messageKey{kind, id}]; !keep && (kind != messages.KindActivity || owns(en.msg.ActivityType)) {
				drop = append(drop, en)
			}
		}
		slices.SortFunc(drop, func(a, b *entry) int { return cmp.Compare(b.ord, a.ord) }) // no hint shifts before it is used
		for _, en := range drop {
			d.list = d.list.Remove(d.locate(en))
			d.uncount(en.msg)
			if c := d.calls[en.msg.ToolCallID]; en.msg.Role == messages.RoleTool && c.stale > 0 {
				c.stale--
			}
			d.forget(en)
		}
	}
}

// uncount says that a message, if it is a tool result, no longer answers its call.
func (d *draft) uncount(m *messages.Message) {
	if m.Role == messages.RoleTool {
		d.calls[m.ToolCallID].answers--
		d.loose(m.ToolCallID)
	}
}

// asItStands returns the message with its calls in the status that the conversation around them tells, and
// streaming if it is open; the message itself if it is that already.
func (d *draft) asItStands(m *messages.Message) *messages.Message {
	streaming := d.verifier.isOpen(namespaceOf[m.Kind()], m.ID)
	calls := m.ToolCalls
	for i, tc := range m.ToolCalls.All() {
		status := d.statusOf(tc.ID)
		if tc.Status != status {
			c := *tc
			c.Status = status
			calls = calls.Set(i, &c)
		}
	}
	if messages.Same(calls, m.ToolCalls) && m.Streaming == streaming {
		return m
	}
	c := *m
	c.ToolCalls, c.Streaming = calls, streaming
	return &c
}

// forget lets go of a message that a snapshot dropped.
func (d *draft) forget(e *entry) {
	d.forgetCalls(e)
	d.activityBytes -= e.msg.Activity.Size()
	delete(d.entries[e.msg.Kind()], e.msg.ID)
	d.lastEntry = nil
}

func (d *draft) forgetCalls(e *entry) {
	for _, tc := range e.msg.ToolCalls.All() {
		if c := d.calls[tc.ID]; c.parent == e {
			c.parent, c.tc = nil, nil
			c.args, c.appending, c.clipped = buffer{}, false, false
			d.loose(tc.ID)
		}
	}
}

// sweep drops the records of what earlier runs' snapshots dropped, at the start of a run.
func (d *draft) sweep() {
	for id := range d.goneCalls {
		if c := d.calls[id]; c != nil && c.tc == nil && c.answers == 0 {
			delete(d.calls, id)
		}
	}
	d.goneCalls = nil
}

// ownedActivities says which activity types a snapshot restates, so that those it omits are dropped
// (P-MSG-2); nil if none.
func ownedActivities(meta messages.Metadata, carriesAny bool) func(activityType string) bool {
	all := func(string) bool { return true }
	types := meta.Get("@ag-ui/client").Get("authoritativeActivityTypes")
	switch types.Kind() {
	case state.KindAbsent:
		if carriesAny {
			return all
		}
	case state.KindNull:
		return all
	case state.KindArray:
		owned := make(map[string]bool)
		for _, v := range types.Elements() {
			if s, ok := v.AsString(); ok {
				owned[s] = true
			}
		}
		if len(owned) > 0 {
			return func(activityType string) bool { return owned[activityType] }
		}
	}
	return nil
}
