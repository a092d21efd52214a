package recording

import (
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// largeValue is the size of a state or an activity above which its events are left as they are: whether a patch is
// refused depends on the sizes of the others (P-STA-1), so it must come when it came.
const largeValue = 8 << 20

// fresh reports whether the event is the first one of the run with its tag.
func (c *compactor) fresh(ev event.Event) bool {
	o := ev.Owner()
	return !o.IsParent() && !c.seen[o]
}

// content places a delta of a text or of arguments.
func (c *compactor) content(key entity, d reducer.Delivery, delta string, meta messages.Metadata) {
	if d.Change.Kind == reducer.Unchanged {
		c.skip(d.Event)
		return
	}
	target := c.texts[key]
	isStart := target != nil && target.text == nil
	if target == nil || c.fresh(d.Event) || isStart && (delta != "" || target.reopens) {
		it := c.add(d.Event)
		it.text, it.meta = append([]byte{}, delta...), meta
		c.texts[key] = it
		return
	}
	target.merged = true
	target.meta = target.meta.Merge(meta)
	if !isStart {
		target.text = append(target.text, delta...)
	}
}

// opens places a START, which deltas follow.
func (c *compactor) opens(key entity, d reducer.Delivery, meta messages.Metadata) {
	it := c.add(d.Event)
	it.meta, it.reopens = meta, d.Change.Kind == reducer.MessageReopened
	c.texts[key] = it
}

// secret places an encrypted value. It takes the place of one before it.
func (c *compactor) secret(e *event.ReasoningEncryptedValue, change reducer.Change) {
	if change.Kind == reducer.Unchanged {
		c.skip(e)
		return
	}
	key := entity{change.MessageKind, change.MessageID}
	if e.Subtype == event.EncryptedToolCall {
		key = entity{messages.KindNone, e.EntityID}
	}
	if old := c.secrets[key]; old != nil {
		c.drop(old)
	}
	c.secrets[key] = c.add(e)
}

// stateEvent places an event of the state.
func (c *compactor) stateEvent(e event.Event, change reducer.Change) {
	if change.Kind == reducer.Unchanged {
		c.skip(e)
		return
	}
	before, now := c.current, c.folder.Thread().State
	c.current = now
	old := c.state
	it := c.add(e)
	c.state = nil
	if before.Size() > largeValue || now.Size() > largeValue {
		return
	}
	it.about, it.from, it.to, it.replaced = sharedState, before, now, change.Kind == reducer.StateReplaced
	if old != nil && !old.carries {
		it.from, it.replaced, it.merged = old.from, it.replaced || old.replaced, true
		c.drop(old)
	}
	c.state = it
}

// activity returns the activity that a delivery is about, as it is now.
func (c *compactor) activity(change reducer.Change) *messages.Message {
	return c.folder.Thread().Messages.At(change.Index)
}

// contentBefore returns what an activity held before the delivery at hand, and notes what it holds now.
func (c *compactor) contentBefore(id string, now state.Value) state.Value {
	if c.eraContents == nil {
		c.eraContents = make(map[string]state.Value)
		for _, m := range c.era.Messages.All() {
			if m.Kind() == messages.KindActivity {
				c.eraContents[m.ID] = m.Activity
			}
		}
	}
	before := c.eraContents[id]
	c.eraContents[id] = now
	return before
}

// activitySnapshot places an ACTIVITY_SNAPSHOT.
func (c *compactor) activitySnapshot(e *event.ActivitySnapshot, change reducer.Change) {
	if change.Kind == reducer.Unchanged {
		c.skip(e)
		return
	}
	id, m := e.MessageID, c.activity(change)
	c.contentBefore(id, m.Activity)
	old := c.activities[id]
	mergeable := old != nil && !c.fresh(e)
	if change.Kind == reducer.MetadataMerged {
		if mergeable {
			old.merged, old.meta = true, old.meta.Merge(e.Metadata)
			return
		}
		c.add(e)
		delete(c.activities, id)
		return
	}
	if m.Activity.Size() > largeValue {
		c.add(e)
		delete(c.activities, id)
		return
	}
	if mergeable && old.about == wholeActivity && old.ev.Owner() == e.Owner() {
		old.merged, old.to, old.typ, old.meta = true, m.Activity, m.ActivityType, old.meta.Merge(e.Metadata)
		return
	}
	meta, merged := e.Metadata, false
	if mergeable && old.about == patchedActivity {
		meta, merged = old.meta.Merge(meta), true
		c.drop(old)
	}
	it := c.add(e)
	it.about, it.to, it.typ, it.meta, it.merged = wholeActivity, m.Activity, m.ActivityType, meta, merged
	c.activities[id] = it
}

// activityDelta places an ACTIVITY_DELTA.
func (c *compactor) activityDelta(e *event.ActivityDelta, change reducer.Change) {
	if change.Kind == reducer.Unchanged {
		c.skip(e)
		return
	}
	id, m := e.MessageID, c.activity(change)
	before := c.contentBefore(id, m.Activity)
	if m.Activity.Size() > largeValue || before.Size() > largeValue {
		c.add(e)
		delete(c.activities, id)
		return
	}
	if old := c.activities[id]; old != nil && !c.fresh(e) {
		old.merged, old.to, old.typ, old.meta = true, m.Activity, m.ActivityType, old.meta.Merge(e.Metadata)
		return
	}
	it := c.add(e)
	it.about, it.from, it.to, it.typ, it.meta = patchedActivity, before, m.Activity, m.ActivityType, e.Metadata
	it.merged = change.Kind == reducer.MetadataMerged // its patch does not apply
	c.activities[id] = it
}
