package reducer

import (
	"fmt"
	"testing"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRenumbering takes away the room between messages, so that the next insertion has to make some, and
// finds everything all the same.
func TestRenumbering(t *testing.T) {
	r := New(nil)
	do := func(events ...event.Event) {
		for _, ev := range events {
			err := r.Apply(ev)
			require.NoError(t, err)
		}
	}
	do(&event.RunStarted{ThreadID: "t", RunID: "r"})
	for i := range 50 {
		do(&event.ToolCallStart{ToolCallID: fmt.Sprint(i), ToolCallName: "f"}, &event.ToolCallEnd{ToolCallID: fmt.Sprint(i)})
	}
	renumbered := 0
	for i := range 200 {
		if i%20 == 0 {
			r.draft.lastOrd = 0
			for _, m := range r.draft.list.All() {
				r.draft.lastOrd++
				r.draft.entries[m.Kind()].get(m.ID).ord = r.draft.lastOrd
			}
		}
		before := r.draft.lastOrd
		do(&event.ToolCallResult{MessageID: fmt.Sprint("t", i), ToolCallID: fmt.Sprint(i % 50), Content: messages.Text("")})
		if r.draft.lastOrd > before+ordGap {
			renumbered++
		}
		last := uint64(0)
		for at, m := range r.draft.list.All() {
			e := r.draft.entries[m.Kind()].get(m.ID)
			require.Greater(t, e.ord, last)
			require.Equal(t, at, r.draft.locate(e))
			last = e.ord
		}
	}
	assert.Equal(t, 10, renumbered, "once each time that there is no room")
	th := r.Thread()
	for i := range 50 {
		id := fmt.Sprint(i)
		m, at := th.Message(id)
		require.NotNil(t, m)
		for k := range 4 {
			assert.Equal(t, fmt.Sprint("t", i+50*k), th.Messages.At(at+1+k).ID)
		}
	}
}

// TestRoomForResults shows that results one after the other, as they come, use room up slowly enough for
// renumbering to be paid for by the insertions before it.
func TestRoomForResults(t *testing.T) {
	room, insertions := uint64(ordGap), 0
	for room >= 2 {
		room -= min(room/2, ordGap>>20)
		insertions++
	}
	assert.Greater(t, insertions, 1_000_000)
}

// TestForgetting shows that a new run forgets what snapshots dropped, and only that.
func TestForgetting(t *testing.T) {
	r := New(nil)
	do := func(events ...event.Event) {
		for _, ev := range events {
			err := r.Apply(ev)
			require.NoError(t, err)
		}
	}
	start := &event.RunStarted{ThreadID: "t", RunID: "r"}
	fail := &event.RunError{Message: "x"}
	do(start)
	for i := range 100 {
		id := fmt.Sprint(i)
		do(&event.TextMessageStart{MessageID: id}, &event.ToolCallStart{ToolCallID: id, ToolCallName: "f", ParentMessageID: messages.Some(id)},
			&event.ToolCallResult{MessageID: id, ToolCallID: id, Content: messages.Text("")},
			&event.ToolCallResult{MessageID: "orphan" + id, ToolCallID: "orphan" + id, Content: messages.Text("")},
			&event.ReasoningStart{MessageID: id})
	}
	keep := &event.MessagesSnapshot{Messages: []*messages.Message{
		{ID: "7", Role: messages.RoleAssistant, ToolCalls: messages.NewList(&messages.ToolCall{ID: "7", Name: "f"})},
		{ID: "o", Role: messages.RoleTool, ToolCallID: "nobody", Content: messages.Text("")},
	}}
	do(keep)
	assert.Len(t, r.verifier.owners[textMessages], 100, "P-VER-5 owners are known for the run")
	do(fail, start)
	assert.Empty(t, r.verifier.owners[textMessages])
	assert.Len(t, r.draft.entries[messages.KindText].m, 1)
	assert.Len(t, r.draft.entries[messages.KindTool].m, 1)
	assert.Empty(t, r.draft.entries[messages.KindReasoning].m)
	assert.Len(t, r.draft.calls, 2, "the call, and the one that the tool message answers")
	do(&event.MessagesSnapshot{Messages: []*messages.Message{
		{ID: "o", Role: messages.RoleTool, ToolCallID: "somebody", Content: messages.Text("")},
	}}, fail, start)
	assert.Len(t, r.draft.calls, 1, "that the message answered another call before is forgotten")
	do(&event.MessagesSnapshot{Messages: []*messages.Message{}}, fail, start)
	for _, entries := range r.draft.entries {
		assert.Empty(t, entries.m)
	}
	assert.Empty(t, r.draft.calls)
	do(&event.ToolCallStart{ToolCallID: "7", ToolCallName: "f"})
	assert.Equal(t, messages.ToolCallStreaming, r.Thread().Messages.At(0).ToolCalls.At(0).Status)
}
