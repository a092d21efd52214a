package emit

import (
	"fmt"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// An Activity is an activity message: something in progress that a client shows, such as a plan or a search. Its content is
// a JSON object. It may be changed until its scope is closed, and by several goroutines.
type Activity struct {
	Document
	id   string
	part part
}

// ActivityOptions configures [Scope.Activity]; nil means defaults.
type ActivityOptions struct {
	// ID is the message's id. If it is "", or a message or call of the thread has it, an id is made.
	ID       string
	Metadata messages.Metadata
}

// Activity begins an activity message. content must become a JSON object.
func (s *Scope) Activity(activityType string, content any, o *ActivityOptions) (*Activity, error) {
	value, err := state.Of(content)
	if err != nil {
		return nil, err
	}
	if value.Kind() != state.KindObject {
		return nil, fmt.Errorf("emit: the content of an activity must be an object, not %s", value.Kind())
	}
	if o == nil {
		o = new(ActivityOptions)
	}
	r := s.r
	r.mu.Lock()
	defer r.mu.Unlock()
	a := &Activity{id: r.newID(r.ids, o.ID, "activity")}
	snapshot := func(v state.Value) *event.ActivitySnapshot {
		return &event.ActivitySnapshot{Attribution: s.by(), MessageID: a.id, ActivityType: activityType, Content: v}
	}
	a.Document = Document{
		scope: s, value: &value, object: true, open: func() bool { return !a.part.isClosed() },
		snapshot: func(v state.Value) event.Event { return snapshot(v) },
		delta: func(p state.Patch) event.Event {
			return &event.ActivityDelta{Attribution: s.by(), MessageID: a.id, ActivityType: activityType, Patch: p}
		},
	}
	first := snapshot(value)
	first.Metadata = o.Metadata
	if err := s.open(&a.part, first, func() {}); err != nil {
		return nil, err
	}
	r.patched += value.Size()
	return a, nil
}

// ID returns the message's id.
func (a *Activity) ID() string { return a.id }
