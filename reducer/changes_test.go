package reducer_test

import (
	"fmt"
	"testing"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func changesAfter(t *testing.T, before, after []event.Event) reducer.Changes {
	r := reducer.New(nil)
	apply := func(events []event.Event) {
		for _, ev := range events {
			err := r.Apply(ev)
			require.NoError(t, err)
		}
	}
	apply(before)
	older := r.Thread()
	apply(after)
	c := r.Thread().ChangesSince(older)
	assert.Equal(t, len(after) > 0, c.Any())
	assert.Empty(t, r.Thread().ChangesSince(r.Thread()))
	return c
}

func TestChangesSince(t *testing.T) {
	start := []event.Event{
		&event.RunStarted{ThreadID: "t", RunID: "r"},
		&event.TextMessageStart{MessageID: "m0"},
		&event.ToolCallStart{ToolCallID: "c0", ToolCallName: "f", ParentMessageID: messages.Some("m0")},
		&event.ToolCallStart{ToolCallID: "c1", ToolCallName: "f", ParentMessageID: messages.Some("m0")},
		&event.TextMessageStart{MessageID: "m1"},
		&event.TextMessageStart{MessageID: "m2"},
	}
	object := func(text string) state.Value {
		v, err := state.Parse([]byte(text))
		require.NoError(t, err)
		return v
	}
	for _, row := range []struct {
		name  string
		after []event.Event
		want  reducer.Changes
	}{
		{"nothing", nil, reducer.Changes{}},
		{"text is appended to a message in the middle", []event.Event{
			&event.TextMessageContent{MessageID: "m1", Delta: "x"},
		}, reducer.Changes{Messages: []int{1}}},
		{"arguments are appended to one of two calls", []event.Event{
			&event.ToolCallArgs{ToolCallID: "c1", Delta: "x"},
		}, reducer.Changes{Messages: []int{0}, ToolCalls: []reducer.ToolCallPlace{{Message: 0, Call: 1}}}},
		{"a message is appended", []event.Event{
			&event.TextMessageStart{MessageID: "m3"},
		}, reducer.Changes{Rows: reducer.Splice{At: 3, Inserted: 1}}},
		{"a result goes between, what is after it moves and may change", []event.Event{
			&event.ToolCallResult{MessageID: "r0", ToolCallID: "c0", Content: messages.Text("ok")},
			&event.TextMessageContent{MessageID: "m2", Delta: "x"},
		}, reducer.Changes{
			Rows: reducer.Splice{At: 1, Inserted: 1}, Messages: []int{0, 3},
			ToolCalls: []reducer.ToolCallPlace{{Message: 0, Call: 0}},
		}},
		{"a snapshot drops what is in the middle", []event.Event{
			&event.MessagesSnapshot{Messages: []*messages.Message{
				{ID: "m0", Role: messages.RoleAssistant}, {ID: "m2", Role: messages.RoleAssistant},
			}},
		}, reducer.Changes{Rows: reducer.Splice{At: 1, Removed: 1}, Messages: []int{0, 1}}},
		{"the state and the tree change", []event.Event{
			&event.StateSnapshot{Snapshot: object(`{"a":1}`)},
			&event.SubagentStarted{Attribution: event.By(messages.SubagentOwner("s")), Name: "n"},
		}, reducer.Changes{
			State:     state.Patch{{Kind: "add", Path: "/a", Value: state.Int(1)}},
			Subagents: []int{0},
		}},
		{"a step changes the run", []event.Event{
			&event.StepStarted{StepName: "s"},
		}, reducer.Changes{Runs: []int{0}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := changesAfter(t, start, row.after)
			assert.Equal(t, fmt.Sprintf("%v", row.want), fmt.Sprintf("%v", got))
		})
	}
	t.Run("against no thread at all everything is new", func(t *testing.T) {
		th, err := reducer.Fold(reducer.Events(start...), nil)
		require.ErrorIs(t, err, reducer.ErrTruncated)
		assert.Equal(t, reducer.Splice{Inserted: 3}, th.ChangesSince(nil).Rows)
	})
}

func TestChangesSinceALaterThread(t *testing.T) {
	r := reducer.New(nil)
	var snapshots []*reducer.Thread
	for _, ev := range parse(t, `run a | text m1 | call c1 f m1 | endcall c1 | endtext m1 | sub s1 n | state {"n":1} | endsub s1 | done a | run b | sub s2 n | custom @s3 x`) {
		apply(t, r, ev)
		snapshots = append(snapshots, r.Thread())
	}
	first, run, last := snapshots[1], snapshots[8], snapshots[11]
	for _, row := range []struct {
		name     string
		from, to *reducer.Thread
		want     reducer.Changes
	}{
		{name: "a run and two subagents are gone", from: last, to: run, want: reducer.Changes{RunsGone: 1, SubagentsGone: 2}},
		{name: "a call, a subagent and the state are gone", from: run, to: first, want: reducer.Changes{
			Messages: []int{0}, Runs: []int{0}, SubagentsGone: 1, State: state.Patch{{Kind: state.OpRemove, Path: "/n"}},
		}},
		{name: "everything is gone", from: last, to: new(reducer.Thread), want: reducer.Changes{
			Rows: reducer.Splice{Removed: 1}, RunsGone: 2, SubagentsGone: 3,
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := row.to.ChangesSince(row.from)
			if row.to.State.Exists() {
				assert.Equal(t, row.want.State.Value().String(), got.State.Value().String())
			}
			got.State, row.want.State = nil, nil
			assert.Equal(t, row.want, got)
			assert.True(t, got.Any())
		})
	}
	for _, c := range []reducer.Changes{{RunsGone: 1}, {SubagentsGone: 1}} {
		assert.True(t, c.Any())
	}
}

// BenchmarkChangesSince compares one changed message at the end of threads of different lengths.
func BenchmarkChangesSince(b *testing.B) {
	for _, n := range []int{10, 100_000} {
		b.Run(fmt.Sprintf("messages=%d", n), func(b *testing.B) {
			r := reducer.New(nil)
			apply := func(ev event.Event) {
				if err := r.Apply(ev); err != nil {
					b.Fatal(err)
				}
			}
			apply(&event.RunStarted{ThreadID: "t", RunID: "r"})
			for i := range n {
				apply(&event.TextMessageStart{MessageID: fmt.Sprint(i)})
			}
			older := r.Thread()
			apply(&event.TextMessageContent{MessageID: fmt.Sprint(n / 2), Delta: "x"})
			newer := r.Thread()
			b.ReportAllocs()
			for b.Loop() {
				if c := newer.ChangesSince(older); len(c.Messages) != 1 {
					b.Fatal(c)
				}
			}
		})
	}
}

func TestAChangeNamesTheCallsPlace(t *testing.T) {
	r := reducer.New(nil)
	for _, ev := range []event.Event{
		&event.RunStarted{},
		&event.ToolCallStart{ToolCallID: "c0", ToolCallName: "f", ParentMessageID: messages.Some("m")},
		&event.ToolCallStart{ToolCallID: "c1", ToolCallName: "f", ParentMessageID: messages.Some("m")},
		&event.ToolCallEnd{ToolCallID: "c0"}, &event.ToolCallEnd{ToolCallID: "c1"},
	} {
		for d, err := range r.Deliver(ev) {
			require.NoError(t, err)
			if id := d.Change.ToolCallID; id != "" {
				assert.Equal(t, id, r.Thread().Messages.At(d.Change.Index).ToolCalls.At(d.Change.Call).ID)
			}
		}
	}
}
