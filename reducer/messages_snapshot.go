package reducer

import (
	"cmp"
	"slices"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

// messagesSnapshot reconciles the conversation with a snapshot (P-MSG-1, P-MSG-2). Its cost depends on what the
// snapshot restates and drops, not on what it leaves alone.
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
	d.dropOmitted(last, carries, e)

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
		d.list, d.order = d.list.Append(m), d.order.Append(en)
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

// dropOmitted drops the messages that a snapshot omits and that it speaks for: text messages and tool results, reasoning
// if it carries any, and the activities that it owns.
func (d *draft) dropOmitted(restated map[messages.Key]int, carries [messages.KindActivity + 1]bool, e *event.MessagesSnapshot) {
	var drop []*entry
	look := func(e *entry) {
		if _, keep := restated[e.msg.Key()]; !keep {
			drop = append(drop, e)
		}
	}
	types, all := e.OwnedActivityTypes()
	slices.Sort(types)
	for kind := messages.KindText; kind <= messages.KindActivity; kind++ {
		if kind == messages.KindReasoning && !carries[kind] || kind == messages.KindActivity && !all {
			continue
		}
		for _, e := range d.entries[kind].m {
			look(e)
		}
	}
	for _, twins := range d.twins.m {
		for _, e := range twins {
			look(e)
		}
	}
	for _, activityType := range slices.Compact(types) {
		if same := d.activities.get(activityType); same != nil {
			for e := range same.m {
				look(e)
			}
		}
	}
	slices.SortFunc(drop, func(a, b *entry) int { return cmp.Compare(b.ord, a.ord) }) // no hint shifts before it is used
	for _, e := range drop {
		i := d.locate(e)
		d.list, d.order = d.list.Remove(i), d.order.Remove(i)
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

// asItStands returns a message of a snapshot, with its calls in the status that the conversation gives them, and
// streaming if it is open. It returns the message itself if nothing differs. It makes the calls findable: if several
// share an id, the first one is found (P-TOL-2).
func (d *draft) asItStands(e *entry, m *messages.Message) *messages.Message {
	streaming := d.verifier.isOpen(namespaceOf[m.Kind()], m.ID)
	calls := m.ToolCalls
	for i, tc := range m.ToolCalls.All() {
		c := d.callFor(tc.ID)
		status := messages.ToolCallComplete
		if c.tc == nil {
			c.broken = false // the snapshot has it as the agent means it
			status = d.statusOf(c, tc.ID)
		} else {
			d.in.warn("P-TOL-2", m.ID, "the snapshot holds the tool call "+quote(tc.ID)+" more than once; the first one is used")
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
	if messages.Same(calls, m.ToolCalls) && m.Streaming == streaming && !m.Cut {
		return m
	}
	c := *m
	c.ToolCalls, c.Streaming, c.Cut = calls, streaming, false
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
	d.goneCalls, d.lastCall = nil, nil
}
