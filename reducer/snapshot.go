package reducer

import (
	"cmp"
	"slices"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// messagesSnapshot reconciles the conversation with the producer's own account of it (P-MSG-1, P-MSG-2). It
// passes over what the snapshot restates and what it drops, not over what it leaves alone.
func (d *draft) messagesSnapshot(e *event.MessagesSnapshot) {
	last := make(map[messages.Key]int, len(e.Messages))
	var carries [messages.KindActivity + 1]bool
	for i, m := range e.Messages {
		k := m.Key()
		if _, twice := last[k]; twice {
			d.in.warn("P-MSG-1", m.ID, "the snapshot holds the message more than once; its last copy counts (D-8)")
		}
		last[k] = i
		carries[k.Kind] = true
	}
	d.dropOmitted(last, carries, ownedActivities(e.Metadata, carries[messages.KindActivity]))

	type restated struct {
		entry *entry
		msg   *messages.Message
	}
	var held []restated
	var added []*messages.Message
	for i, m := range e.Messages {
		k := m.Key()
		if last[k] != i {
			continue
		}
		en := d.findKey(k)
		if en != nil {
			d.forgetCalls(en)
			d.uncount(en.msg)
			held = append(held, restated{en, m})
		} else {
			added = append(added, m)
		}
		d.verifier.own(namespaceOf[k.Kind], m.ID, m.Owner)
		d.noteBrought(m)
		for _, tc := range m.ToolCalls.All() {
			d.verifier.own(toolCalls, tc.ID, m.Owner)
		}
		if m.Role == messages.RoleTool {
			c := d.callFor(m.ToolCallID)
			if c.answers++; en == nil && c.answers > 1 {
				d.warnSecondResult(m)
			}
		}
		d.nodeFor(m.Owner)
	}
	slices.SortFunc(held, func(a, b restated) int { return cmp.Compare(a.entry.ord, b.entry.ord) })
	for _, h := range held { // now that all answers are known, in the order of the thread
		m := d.asItStands(h.entry, h.msg)
		d.list = d.list.Set(d.locate(h.entry), m)
		d.become(h.entry, m, 0) // the event holds it too
		h.entry.lastResult = nil
	}
	for _, m := range added {
		en := d.newEntry(m)
		m = d.asItStands(en, m)
		en.hint, en.ord = d.list.Len(), d.nextOrd()
		d.list = d.list.Append(m)
		d.become(en, m, 0)
	}
	for _, m := range added {
		d.warnSharedID(m)
		if m.Role == messages.RoleTool && d.calls[m.ToolCallID].tc == nil {
			d.warnNoCall(m)
		}
	}
	d.change.Kind = ConversationRestated
}

// dropOmitted drops the messages that a snapshot omits and whose kind it restates.
func (d *draft) dropOmitted(restated map[messages.Key]int, carries [messages.KindActivity + 1]bool, owns func(string) bool) {
	var drop []*entry
	look := func(e *entry) {
		if _, keep := restated[e.msg.Key()]; !keep && (e.msg.Role != messages.RoleActivity || owns(e.msg.ActivityType)) {
			drop = append(drop, e)
		}
	}
	for kind := messages.KindText; kind <= messages.KindActivity; kind++ {
		if kind == messages.KindReasoning && !carries[kind] || kind == messages.KindActivity && owns == nil {
			continue
		}
		for _, e := range d.entries[kind] {
			look(e)
		}
	}
	for _, twins := range d.twins {
		for _, e := range twins {
			look(e)
		}
	}
	slices.SortFunc(drop, func(a, b *entry) int { return cmp.Compare(b.ord, a.ord) }) // no hint shifts before it is used
	for _, e := range drop {
		d.list = d.list.Remove(d.locate(e))
		d.uncount(e.msg)
		if c := d.calls[e.msg.ToolCallID]; e.msg.Role == messages.RoleTool && c.stale > 0 {
			c.stale--
		}
		d.forget(e)
	}
}

// uncount says that a message, if it is a tool result, no longer answers its call.
func (d *draft) uncount(m *messages.Message) {
	if m.Role == messages.RoleTool {
		d.calls[m.ToolCallID].answers--
		d.loose(m.ToolCallID)
	}
}

// asItStands returns a message that a snapshot brings with its calls in the status that the conversation around them
// tells, and streaming if it is open; the message itself if it is that already. Its calls become findable: of several
// with one id the first is the one that is meant (P-TOL-2).
func (d *draft) asItStands(e *entry, m *messages.Message) *messages.Message {
	streaming := d.verifier.isOpen(namespaceOf[m.Kind()], m.ID)
	calls := m.ToolCalls
	for i, tc := range m.ToolCalls.All() {
		c := d.callFor(tc.ID)
		status := messages.ToolCallComplete
		if c.tc == nil {
			status = d.statusOf(c, tc.ID)
		} else {
			d.in.warn("P-TOL-2", m.ID, "the snapshot holds the tool call "+quote(tc.ID)+" more than once; the first is meant")
		}
		if tc.Status != status {
			changed := *tc
			changed.Status = status
			tc = &changed
			calls = calls.Set(i, tc)
		}
		if c.tc == nil {
			c.parent, c.index, c.tc, c.epoch = e, i, tc, 0
		}
	}
	if messages.Same(calls, m.ToolCalls) && m.Streaming == streaming {
		return m
	}
	c := *m
	c.ToolCalls, c.Streaming = calls, streaming
	return &c
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
	authority := meta.Get("@ag-ui/client")
	types := authority.Get("authoritativeActivityTypes")
	switch types.Kind() {
	case state.KindAbsent:
		if carriesAny && (!authority.Exists() || authority.Kind() == state.KindObject) {
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
