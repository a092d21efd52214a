package reducer

import (
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

// messagesSnapshot reconciles the conversation with the producer's own account of it (P-MSG-1, P-MSG-2).
func (r *Reducer) messagesSnapshot(e *event.MessagesSnapshot) {
	type key struct {
		kind messages.Kind
		id   string
	}
	last := make(map[key]int, len(e.Messages))
	var carries [messages.KindActivity + 1]bool
	for i, m := range e.Messages {
		k := key{m.Kind(), m.ID}
		if _, twice := last[k]; twice {
			r.warn("P-MSG-1", m.ID, "the snapshot holds that id more than once; its last copy counts (D-8)")
		}
		last[k] = i
		carries[k.kind] = true
	}
	owns := ownedActivities(e.Metadata, carries[messages.KindActivity])
	drop := func(m *messages.Message) bool {
		switch m.Role {
		case messages.RoleActivity:
			return owns(m.ActivityType)
		case messages.RoleReasoning:
			return carries[messages.KindReasoning]
		}
		return true
	}

	items := make([]*messages.Message, 0, max(r.list.Len(), len(e.Messages)))
	for _, m := range r.list.All() {
		if m.Role == messages.RoleTool {
			r.calls[m.ToolCallID].answers--
			r.loose(m.ToolCallID)
		}
		if i, restated := last[key{m.Kind(), m.ID}]; restated {
			items = append(items, e.Messages[i])
		} else if !drop(m) {
			items = append(items, m)
		} else {
			r.forget(r.entries[m.Kind()][m.ID])
		}
	}
	var added []*entry
	for i, m := range e.Messages {
		if last[key{m.Kind(), m.ID}] != i {
			continue
		}
		en := r.entryFor(m.Kind(), m.ID)
		if en.msg == nil {
			items = append(items, m)
			added = append(added, en)
		} else {
			r.forgetCalls(en)
		}
		en.own(r.run.seq, m.Owner)
		for _, tc := range m.ToolCalls.All() {
			r.callFor(tc.ID).own(r.run.seq, m.Owner)
		}
		r.nodeFor(m.Owner)
	}
	for _, m := range items {
		if m.Role == messages.RoleTool {
			r.callFor(m.ToolCallID).answers++
		}
	}
	for i, m := range items {
		items[i] = r.asItStands(m)
	}
	r.list = messages.NewList(items...)
	r.lastOrd = 0
	for i, m := range items {
		en := r.entries[m.Kind()][m.ID]
		en.hint, en.ord, en.lastResult = i, r.nextOrd(), nil
		if _, restated := last[key{m.Kind(), m.ID}]; restated {
			en.become(m, 0) // the event holds it too
			r.indexCalls(en, m)
		}
	}
	for _, en := range added {
		r.warnSharedID(en.msg)
	}
	r.change.Kind = ConversationRestated
}

// asItStands returns the message with its calls in the status that the conversation around them tells, and
// streaming if it is open; the message itself if it is that already.
func (r *Reducer) asItStands(m *messages.Message) *messages.Message {
	streaming := r.entries[m.Kind()][m.ID].openIn == r.run.seq
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
		r.gone = make(map[goneEntry]struct{})
	}
	r.gone[goneEntry{e.msg.Kind(), e.msg.ID}] = struct{}{}
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

type goneEntry struct {
	kind messages.Kind
	id   string
}

// sweep drops the records of what earlier runs' snapshots dropped, at the start of a run.
func (r *Reducer) sweep() {
	for g := range r.gone {
		if e := r.entries[g.kind][g.id]; e != nil && e.msg == nil {
			delete(r.entries[g.kind], g.id)
		}
	}
	for id := range r.goneCalls {
		if c := r.calls[id]; c != nil && c.tc == nil && c.answers == 0 {
			delete(r.calls, id)
		}
	}
	r.gone, r.goneCalls, r.lastEntry = nil, nil, nil
}

// ownedActivities says which activity types a snapshot restates, so that those it omits are dropped
// (P-MSG-2).
func ownedActivities(meta messages.Metadata, carriesAny bool) func(activityType string) bool {
	types := meta.Get("@ag-ui/client").Get("authoritativeActivityTypes")
	switch types.Kind() {
	case state.KindAbsent:
		return func(string) bool { return carriesAny }
	case state.KindNull:
		return func(string) bool { return true }
	case state.KindArray:
		var owned []string
		for _, v := range types.Elements() {
			if s, ok := v.AsString(); ok {
				owned = append(owned, s)
			}
		}
		return func(activityType string) bool { return slices.Contains(owned, activityType) }
	}
	return func(string) bool { return false }
}
