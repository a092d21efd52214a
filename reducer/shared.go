package reducer

import (
	"cmp"
	"errors"
	"slices"
	"strconv"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// stateDelta patches the shared state, or leaves it as it was and warns (P-STA-1).
func (r *Reducer) stateDelta(e *event.StateDelta) {
	patched, err := r.state.Apply(e.Delta)
	if err != nil {
		path := "/delta"
		var failed *state.PatchError
		if errors.As(err, &failed) {
			path += "/" + strconv.Itoa(failed.Index)
		}
		r.warn("P-STA-1", path, "the patch does not apply: "+err.Error())
		return
	}
	r.state, r.hasState = patched, true
	r.change.Kind = StatePatched
}

// activitySnapshot creates or replaces an activity message (P-ACT-1).
func (r *Reducer) activitySnapshot(e *event.ActivitySnapshot) {
	a := r.entryFor(messages.KindActivity, e.MessageID)
	m := &messages.Message{
		ID: e.MessageID, Role: messages.RoleActivity, Owner: e.SubagentRunID,
		ActivityType: e.ActivityType, Activity: e.Content, Metadata: e.Metadata,
	}
	if a.msg == nil {
		a.own(r.run.seq, e.SubagentRunID)
		r.add(a, m, r.epoch)
		r.changed(MessageAdded, a)
		return
	}
	m.Metadata = a.msg.Metadata.Merge(e.Metadata)
	if e.Replace.Or(true) {
		a.own(r.run.seq, e.SubagentRunID)
		*r.edit(a) = *m
		r.changed(MessageReplaced, a)
		return
	}
	if e.Metadata.Exists() {
		r.edit(a).Metadata = m.Metadata
	}
	r.changed(MessageReopened, a)
}

// activityDelta patches an activity message (P-ACT-2). The metadata counts even if the patch fails
// (P-MET-1).
func (r *Reducer) activityDelta(e *event.ActivityDelta) error {
	a := r.find(messages.KindActivity, e.MessageID)
	if a != nil {
		if err := r.sameOwner(&a.lifetime, e.MessageID, e.SubagentRunID); err != nil {
			return err
		}
	}
	if a == nil || a.msg == nil {
		r.warn("P-ACT-2", e.MessageID, "no activity message has that id; the patch was skipped")
		return nil
	}
	if e.Metadata.Exists() {
		m := r.edit(a)
		m.Metadata = m.Metadata.Merge(e.Metadata)
		r.changed(MessageReopened, a)
	}
	patched, err := a.msg.Activity.Apply(e.Patch)
	switch {
	case err != nil:
		r.warn("P-ACT-2", e.MessageID, "the patch does not apply: "+err.Error())
		return nil
	case patched.Kind() != state.KindObject:
		r.warn("P-ACT-2", e.MessageID, "the patch would make the content no object but "+patched.Kind().String()+" (D-9)")
		return nil
	}
	m := r.edit(a)
	m.Activity, m.ActivityType = patched, e.ActivityType
	r.changed(ActivityPatched, a)
	return nil
}

// messageKey is what a message is found by (P-ID-1).
type messageKey struct {
	kind messages.Kind
	id   string
}

func keyOf(m *messages.Message) messageKey { return messageKey{m.Kind(), m.ID} }

// messagesSnapshot reconciles the conversation with the producer's own account of it (P-MSG-1, P-MSG-2). It
// passes over what the snapshot restates and what it drops, not over what it leaves alone.
func (r *Reducer) messagesSnapshot(e *event.MessagesSnapshot) {
	last := make(map[messageKey]int, len(e.Messages))
	var carries [messages.KindActivity + 1]bool
	for i, m := range e.Messages {
		k := keyOf(m)
		if _, twice := last[k]; twice {
			r.warn("P-MSG-1", m.ID, "the snapshot holds that id more than once; its last copy counts (D-8)")
		}
		last[k] = i
		carries[k.kind] = true
	}
	r.dropOmitted(last, carries, ownedActivities(e.Metadata, carries[messages.KindActivity]))

	var restated, added []*entry
	for i, m := range e.Messages {
		if last[keyOf(m)] != i {
			continue
		}
		en := r.entryFor(m.Kind(), m.ID)
		if en.msg != nil {
			r.forgetCalls(en)
			r.uncount(en.msg)
		}
		en.own(r.run.seq, m.Owner)
		r.noteBrought(m)
		for _, tc := range m.ToolCalls.All() {
			r.callFor(tc.ID).own(r.run.seq, m.Owner)
		}
		if m.Role == messages.RoleTool {
			r.callFor(m.ToolCallID).answers++
		}
		r.nodeFor(m.Owner)
	}
	for i, m := range e.Messages { // now that all answers are known
		if last[keyOf(m)] != i {
			continue
		}
		en := r.entryFor(m.Kind(), m.ID)
		m = r.asItStands(en, m)
		if en.msg != nil {
			r.list = r.list.Set(r.locate(en), m)
		} else {
			en.hint, en.ord = r.list.Len(), r.nextOrd()
			r.list = r.list.Append(m)
			added = append(added, en)
			r.regain(en, m)
		}
		en.become(m, 0) // the event holds it too
		en.lastResult = nil
		restated = append(restated, en)
	}
	slices.SortFunc(restated, func(a, b *entry) int { return cmp.Compare(a.ord, b.ord) })
	for _, en := range restated {
		r.indexCalls(en, en.msg)
	}
	for _, en := range added {
		r.warnSharedID(en.msg)
	}
	r.change.Kind = ConversationRestated
}

// dropOmitted drops the messages that a snapshot omits and whose kind it restates.
func (r *Reducer) dropOmitted(restated map[messageKey]int, carries [messages.KindActivity + 1]bool, owns func(string) bool) {
	for kind := messages.KindText; kind <= messages.KindActivity; kind++ {
		if kind == messages.KindReasoning && !carries[kind] || kind == messages.KindActivity && owns == nil {
			continue
		}
		var drop []*entry
		for id, en := range r.entries[kind] {
			if _, keep := restated[messageKey{kind, id}]; !keep && (kind != messages.KindActivity || owns(en.msg.ActivityType)) {
				drop = append(drop, en)
			}
		}
		slices.SortFunc(drop, func(a, b *entry) int { return cmp.Compare(b.ord, a.ord) }) // no hint shifts before it is used
		for _, en := range drop {
			r.list = r.list.Remove(r.locate(en))
			r.uncount(en.msg)
			if c := r.calls[en.msg.ToolCallID]; en.msg.Role == messages.RoleTool && c.stale > 0 {
				c.stale--
			}
			r.forget(en)
		}
	}
}

// uncount says that a message, if it is a tool result, no longer answers its call.
func (r *Reducer) uncount(m *messages.Message) {
	if m.Role == messages.RoleTool {
		r.calls[m.ToolCallID].answers--
		r.loose(m.ToolCallID)
	}
}

// asItStands returns the message with its calls in the status that the conversation around them tells, and
// streaming if it is open; the message itself if it is that already.
func (r *Reducer) asItStands(e *entry, m *messages.Message) *messages.Message {
	streaming := e.openIn == r.run.seq
	calls := m.ToolCalls
	for i, tc := range m.ToolCalls.All() {
		status := r.statusOf(r.calls[tc.ID])
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

// forget lets go of a message that a snapshot dropped. What verification knows of it stays until the run
// ends.
func (r *Reducer) forget(e *entry) {
	r.forgetCalls(e)
	if r.gone == nil {
		r.gone = make(map[messageKey]*entry)
	}
	k := keyOf(e.msg)
	r.gone[k] = e
	delete(r.entries[k.kind], k.id)
	e.become(nil, 0)
	e.lastResult = nil
}

func (r *Reducer) forgetCalls(e *entry) {
	for _, tc := range e.msg.ToolCalls.All() {
		if c := r.calls[tc.ID]; c.parent == e {
			c.parent, c.tc = nil, nil
			c.args, c.appending, c.clipped = buffer{}, false, false
			r.loose(tc.ID)
		}
	}
}

// sweep drops the records of what earlier runs' snapshots dropped, at the start of a run.
func (r *Reducer) sweep() {
	for id := range r.goneCalls {
		if c := r.calls[id]; c != nil && c.tc == nil && c.answers == 0 {
			delete(r.calls, id)
		}
	}
	r.gone, r.goneCalls, r.lastEntry = nil, nil, nil
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
