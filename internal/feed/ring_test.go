package feed

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// What docs/design.md says of a token of a call's arguments holds after hours of streaming into a long thread.
func TestTokenOfArgumentsIsShort(t *testing.T) {
	said := make([]*messages.Message, 100_000)
	for i := range said {
		said[i] = &messages.Message{ID: strconv.Itoa(i), Role: messages.RoleUser, Content: messages.Text("x")}
	}
	thread := new(reducer.Thread).WithMessages(said...)
	thread.Revision = 10_000_000
	fold, ring := reducer.New(&reducer.Options{Thread: thread}), NewRing("AbCdEf", Options{})
	apply := func(events ...event.Event) *Entry {
		for _, ev := range events {
			require.NoError(t, fold.Apply(ev))
		}
		return ring.Put(Snapshot{Thread: fold.Thread()})
	}
	token := &event.ToolCallArgs{ToolCallID: "c", Delta: " token"}
	apply(&event.RunStarted{ThreadID: "t", RunID: "r"}, &event.ToolCallStart{ToolCallID: "c", ToolCallName: "f"},
		&event.ToolCallArgs{ToolCallID: "c", Delta: `{"text":"`})
	for range 2000 {
		apply(token)
	}
	from := ring.Newest()
	apply(token)
	text := ring.Event(from, Append).Text
	assert.LessOrEqual(t, len(text), 200, "%s", text)
}

// A token names one snapshot, whether the revision grows, stays or falls.
func TestTokensDiffer(t *testing.T) {
	ring, seen := NewRing("name", Options{}), map[string]bool{}
	for i, revision := range []uint64{0, 1, 2, 2, 3, 1, 2, 3, 3} {
		e := ring.Put(Snapshot{Thread: &reducer.Thread{Revision: revision}, Phase: strconv.Itoa(i)})
		assert.False(t, seen[e.token], e.token)
		seen[e.token] = true
		assert.Same(t, e, ring.Find(e.token))
	}
	assert.Equal(t, "name.3.3", ring.Newest().token)
}
