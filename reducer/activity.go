package reducer

import (
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// activitySnapshot creates or replaces an activity message (P-ACT-1).
func (d *draft) activitySnapshot(e *event.ActivitySnapshot) {
	a := d.find(messages.KindActivity, e.MessageID)
	m := &messages.Message{
		ID: e.MessageID, Role: messages.RoleActivity, Owner: e.SubagentRunID,
		ActivityType: e.ActivityType, Activity: e.Content, Metadata: e.Metadata,
	}
	if a == nil {
		d.verifier.own(activities, e.MessageID, e.SubagentRunID)
		d.changed(MessageAdded, d.add(m, d.epoch))
		return
	}
	m.Metadata = a.msg.Metadata.Merge(e.Metadata)
	if e.Replace.Or(true) {
		d.verifier.own(activities, e.MessageID, e.SubagentRunID)
		d.recount(a, m)
		*d.edit(a) = *m
		d.changed(MessageReplaced, a)
		return
	}
	if e.Metadata.Exists() {
		d.edit(a).Metadata = m.Metadata
		d.changed(MetadataMerged, a)
	}
}

// activityDelta patches an activity message (P-ACT-2). The metadata counts even if the patch fails
// (P-MET-1).
func (d *draft) activityDelta(e *event.ActivityDelta) {
	a := d.find(messages.KindActivity, e.MessageID)
	if a == nil {
		d.in.warn("P-ACT-2", e.MessageID, "no activity message has that id; the patch was skipped")
		return
	}
	if e.Metadata.Exists() {
		m := d.edit(a)
		m.Metadata = m.Metadata.Merge(e.Metadata)
		d.changed(MetadataMerged, a)
	}
	patched, err := d.patch(a.msg.Activity, e.Patch)
	switch {
	case err != nil:
		d.in.warn("P-ACT-2", e.MessageID, "the patch does not apply: "+err.Error())
		return
	case patched.Kind() != state.KindObject:
		d.in.warn("P-ACT-2", e.MessageID, "the patch does not leave an object, but "+patched.Kind().String()+"; it was skipped (D-9)")
		return
	}
	changed := *a.msg
	changed.Activity, changed.ActivityType = patched, e.ActivityType
	d.recount(a, &changed)
	*d.edit(a) = changed
	d.changed(ActivityPatched, a)
}
