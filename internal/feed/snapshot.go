package feed

import (
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// Snapshot is what a view shows. It never changes.
type Snapshot struct {
	Thread *reducer.Thread // nil is the empty thread
	Phase  string          // what the session is doing; "" if nobody says it
	Queued []*messages.Message
}

var empty = new(reducer.Thread)

func (s Snapshot) thread() *reducer.Thread {
	if s.Thread == nil {
		return empty
	}
	return s.Thread
}

// same reports whether s and t are one snapshot.
func (s Snapshot) same(t Snapshot) bool {
	return s.thread() == t.thread() && s.Phase == t.Phase && sameQueue(s.Queued, t.Queued)
}

func sameQueue(a, b []*messages.Message) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
