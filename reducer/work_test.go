package reducer_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// many is a conversation large enough that a pass over it for each event would show at once.
const many = 100_000

// conversation returns a reducer in a run, on a thread of n messages with ids 0 to n-1; every fifth is the
// answer to the call that the message before it holds.
func conversation(t testing.TB, n int) *reducer.Reducer {
	t.Helper()
	items := make([]*messages.Message, n)
	for i := range items {
		m := &messages.Message{ID: fmt.Sprint(i), Role: messages.RoleAssistant, Content: messages.Text("so it goes")}
		switch i % 5 {
		case 3:
			m.ToolCalls = messages.NewList(&messages.ToolCall{ID: "c" + m.ID, Name: "f", Arguments: "{}"})
		case 4:
			m.Role, m.ToolCallID = messages.RoleTool, fmt.Sprint("c", i-1)
		}
		items[i] = m
	}
	r := reducer.New(&reducer.Options{Input: &event.RunInput{ThreadID: "t", RunID: "r", Messages: items}})
	apply(t, r, &event.RunStarted{ThreadID: "t", RunID: "r"})
	return r
}

// cost runs do often and returns the allocations and bytes of one run.
func cost(do func(i int)) (allocs, bytes float64) {
	const runs = 2000
	do(0)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := 1; i <= runs; i++ {
		do(i)
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / runs, float64(after.TotalAlloc-before.TotalAlloc) / runs
}

func TestADeltaCostsTheSameAtAnyLength(t *testing.T) {
	// measure appends to the message with that place, counted from the end or the middle, and takes a
	// snapshot after each delta.
	measure := func(n int, place func(n int) int) (float64, float64) {
		r := conversation(t, n)
		id := fmt.Sprint(place(n))
		apply(t, r, &event.TextMessageStart{MessageID: id})
		return cost(func(int) {
			err := r.Apply(&event.TextMessageContent{MessageID: id, Delta: "word "})
			require.NoError(t, err)
			r.Thread()
		})
	}
	t.Run("to the last message", func(t *testing.T) {
		last := func(n int) int { return n - 3 }
		fewAllocs, fewBytes := measure(10, last)
		manyAllocs, manyBytes := measure(many, last)
		t.Logf("10 messages: %.1f allocs, %.0f bytes; %d: %.1f allocs, %.0f bytes", fewAllocs, fewBytes, many, manyAllocs, manyBytes)
		assert.InDelta(t, fewAllocs, manyAllocs, 0.5)
		assert.InDelta(t, fewBytes, manyBytes, 500)
	})
	t.Run("to a message in the middle", func(t *testing.T) {
		middle := func(n int) int { return n/2 + 1 }
		fewAllocs, fewBytes := measure(10, middle)
		manyAllocs, manyBytes := measure(many, middle)
		t.Logf("10 messages: %.1f allocs, %.0f bytes; %d: %.1f allocs, %.0f bytes", fewAllocs, fewBytes, many, manyAllocs, manyBytes)
		assert.Less(t, manyAllocs, fewAllocs+10, "a copy of one path")
		assert.Less(t, manyBytes, fewBytes+4000)
	})
}

func TestSnapshotsCostNothingExtra(t *testing.T) {
	r := conversation(t, many)
	apply(t, r, &event.TextMessageStart{MessageID: "new"})
	assert.Zero(t, testing.AllocsPerRun(100, func() { r.Thread() }), "nothing changed")
	allocs, bytes := cost(func(int) {
		apply(t, r, &event.Custom{Name: "n", Value: state.Null()})
		r.Thread()
	})
	assert.Less(t, allocs, 25.0)
	assert.Less(t, bytes, 3000.0)
}

func TestAResultIsPutInItsPlaceWithoutAPass(t *testing.T) {
	measure := func(n int) (float64, float64) {
		r := conversation(t, n)
		return cost(func(i int) {
			holder := i * 5 % n
			err := r.Apply(&event.ToolCallResult{MessageID: fmt.Sprint("t", i), ToolCallID: fmt.Sprint("c", holder+3), Content: messages.Text("x")})
			require.NoError(t, err)
			r.Thread()
		})
	}
	fewAllocs, fewBytes := measure(100)
	manyAllocs, manyBytes := measure(many)
	t.Logf("100 messages: %.1f allocs, %.0f bytes; %d: %.1f allocs, %.0f bytes", fewAllocs, fewBytes, many, manyAllocs, manyBytes)
	assert.Less(t, manyAllocs, 2*fewAllocs+10)
	assert.Less(t, manyBytes, 3*fewBytes+3000)
}

func TestASnapshotOfMessagesIsLinear(t *testing.T) {
	measure := func(n int) float64 {
		r := conversation(t, n)
		restated := &event.MessagesSnapshot{Messages: r.Thread().Messages.Slice()}
		for i, m := range restated.Messages {
			c := *m
			restated.Messages[i] = &c
		}
		ev, err := event.NewFrame(event.Append(nil, restated))
		require.NoError(t, err)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		apply(t, r, ev, ev)
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc-before.TotalAlloc) / float64(n)
	}
	few, lots := measure(1000), measure(50_000)
	t.Logf("bytes a message: of 1,000 %.0f, of 50,000 %.0f", few, lots)
	assert.Less(t, lots, 2*few+500)
}

// A delta to a message of many parts copies none of them, even if a snapshot follows each (D-5).
func TestTextAfterManyParts(t *testing.T) {
	for _, last := range []messages.Part{messages.TextPart("p"), messages.MediaPart(messages.PartImage, messages.Source{Type: messages.SourceURL})} {
		parts := make([]messages.Part, 10_000)
		for i := range parts {
			parts[i] = last
		}
		r := reducer.New(&reducer.Options{Input: &event.RunInput{ThreadID: "t", RunID: "r", Messages: []*messages.Message{
			{ID: "m", Role: messages.RoleUser, Content: messages.Parts(parts...)},
		}}})
		apply(t, r, &event.RunStarted{ThreadID: "t", RunID: "r"})
		_, bytes := cost(func(int) {
			apply(t, r, &event.TextMessageStart{MessageID: "m"}, &event.TextMessageContent{MessageID: "m", Delta: "x"}, &event.TextMessageEnd{MessageID: "m"})
			r.Thread()
		})
		assert.Less(t, bytes, 5000.0)
		content := r.Thread().Messages.At(0).Content
		assert.Equal(t, last.Text+strings.Repeat("x", 2001), content.LastText())
		assert.Equal(t, content.LastText(), content.Parts()[len(content.Parts())-1].Text)
	}
}

// TestHostileStreams compares what an event costs near the end of a long stream on a long thread with what it
// costs in short ones. If anything looked through the conversation, through what is open or through what came
// before, it would be tens of times as much.
func TestHostileStreams(t *testing.T) {
	if testing.Short() {
		t.Skip("folds hundreds of thousands of events")
	}
	id := func(i int) string { return fmt.Sprint("x", i) }
	for _, h := range []struct {
		name string
		tell func(n int, do func(...event.Event))
	}{
		{"results for one message", func(n int, do func(...event.Event)) {
			do(&event.ToolCallStart{ToolCallID: "c", ToolCallName: "f"}, &event.ToolCallEnd{ToolCallID: "c"}, &event.TextMessageStart{MessageID: "after"})
			for i := range n {
				do(&event.ToolCallResult{MessageID: id(i), ToolCallID: "c", Content: messages.Text("")})
			}
		}},
		{"results for two neighbors in turn", func(n int, do func(...event.Event)) {
			for _, c := range []string{"c", "d"} {
				do(&event.ToolCallStart{ToolCallID: c, ToolCallName: "f"}, &event.ToolCallEnd{ToolCallID: c})
			}
			for i := range n {
				do(&event.ToolCallResult{MessageID: id(i), ToolCallID: []string{"c", "d"}[i%2], Content: messages.Text("")})
			}
		}},
		{"results without owner, then one with", func(n int, do func(...event.Event)) {
			do(&event.ToolCallStart{ToolCallID: "c", ToolCallName: "f"}, &event.ToolCallEnd{ToolCallID: "c"})
			for i := range n {
				do(&event.ToolCallResult{MessageID: id(i), ToolCallID: []string{"c", "none"}[i%2], Content: messages.Text("")})
			}
		}},
		{"one result replaced", func(n int, do func(...event.Event)) {
			do(&event.ToolCallStart{ToolCallID: "c", ToolCallName: "f"}, &event.ToolCallEnd{ToolCallID: "c"})
			for i := range n {
				do(&event.ToolCallResult{MessageID: "t", ToolCallID: id(i % 3), Content: messages.Text("")})
			}
		}},
		{"messages opened again", func(n int, do func(...event.Event)) {
			for i := range n {
				m := fmt.Sprint(i * 5 % n)
				do(&event.TextMessageStart{MessageID: m}, &event.TextMessageContent{MessageID: m, Delta: "x"}, &event.TextMessageEnd{MessageID: m})
			}
		}},
		{"one message opened again", func(n int, do func(...event.Event)) {
			for range n {
				do(&event.TextMessageStart{MessageID: "10"}, &event.TextMessageContent{MessageID: "10", Delta: "x"}, &event.TextMessageEnd{MessageID: "10"})
			}
		}},
		{"calls in one message", func(n int, do func(...event.Event)) {
			for i := range n {
				do(&event.ToolCallStart{ToolCallID: id(i), ToolCallName: "f", ParentMessageID: messages.Some("10")})
			}
		}},
		{"arguments of calls in one message", func(n int, do func(...event.Event)) {
			for i := range n {
				do(&event.ToolCallStart{ToolCallID: id(i), ToolCallName: "f", ParentMessageID: messages.Some("10")})
			}
			for i := range n {
				do(&event.ToolCallArgs{ToolCallID: id(n - 1 - i), Delta: "x"}, &event.ToolCallEnd{ToolCallID: id(n - 1 - i)})
			}
		}},
		{"messages that stay open", func(n int, do func(...event.Event)) {
			for i := range n {
				do(&event.TextMessageStart{MessageID: id(i)}, &event.ReasoningStart{MessageID: id(i)})
			}
		}},
		{"insertions in front while the last message grows", func(n int, do func(...event.Event)) {
			do(&event.TextMessageStart{MessageID: "last"})
			for i := range n {
				do(&event.ToolCallResult{MessageID: id(i), ToolCallID: "c3", Content: messages.Text("")}, &event.TextMessageContent{MessageID: "last", Delta: "x"})
			}
		}},
		{"halves of surrogate pairs", func(n int, do func(...event.Event)) {
			do(&event.TextMessageStart{MessageID: "m"})
			for range n {
				do(&event.TextMessageContent{MessageID: "m", Delta: "\xed\xa0\xbd"})
			}
		}},
		{"steps", func(n int, do func(...event.Event)) {
			for i := range n {
				do(&event.StepStarted{StepName: id(i)}, &event.StepFinished{StepName: id(i)})
			}
		}},
		{"subagents and tags", func(n int, do func(...event.Event)) {
			for i := range n {
				do(&event.SubagentStarted{Attribution: event.By(messages.SubagentOwner(id(i))), Name: "n"}, &event.StateDelta{Attribution: event.By(messages.SubagentOwner("tag" + id(i)))},
					&event.SubagentFinished{Attribution: event.By(messages.SubagentOwner(id(i)))})
			}
		}},
		{"runs that fail", func(n int, do func(...event.Event)) {
			for i := range n {
				do(&event.RunError{Message: "x"}, &event.RunStarted{ThreadID: "t", RunID: id(i)})
			}
		}},
		{"encrypted values for unknown ids", func(n int, do func(...event.Event)) {
			for i := range n {
				do(&event.ReasoningEncryptedValue{Subtype: event.EncryptedMessage, EntityID: id(i), EncryptedValue: "v"})
			}
		}},
	} {
		t.Run(h.name, func(t *testing.T) {
			short := costAtTheEnd(t, 500, h.tell)
			long := costAtTheEnd(t, 25_000, h.tell)
			t.Logf("%d ns an event in a short stream, %d in a long one", short.Nanoseconds(), long.Nanoseconds())
			assert.Less(t, long, 5*short+10*time.Microsecond)
		})
	}
}

// costAtTheEnd tells a stream about a conversation of n messages and returns what an event costs in the last
// quarter of it: the least of many measurements, so that nothing else on the machine counts.
func costAtTheEnd(t *testing.T, n int, tell func(n int, do func(...event.Event))) time.Duration {
	const batch = 50
	r := conversation(t, n)
	var batches []time.Duration
	events := 0
	start := time.Now()
	tell(n, func(evs ...event.Event) {
		for _, ev := range evs {
			err := r.Apply(ev)
			require.NoError(t, err)
			if events++; events%batch == 0 {
				now := time.Now()
				batches = append(batches, now.Sub(start)/batch)
				r.Thread() // what is there may no longer be changed in place
				start = now
			}
		}
	})
	return slices.Min(batches[len(batches)*3/4:])
}

// TestASnapshotCostsWhatItSays compares what small snapshots and runs cost in a thread of n kept messages, or after n
// were dropped, with what they cost at 20 n.
func TestASnapshotCostsWhatItSays(t *testing.T) {
	owns := func(types ...state.Value) *event.MessagesSnapshot {
		return &event.MessagesSnapshot{Base: event.Base{Metadata: messages.MetadataOf(state.Member{Key: "@ag-ui/client", Value: state.Object(
			state.Member{Key: "authoritativeActivityTypes", Value: state.Array(types...)})})}}
	}
	activities := func(r *reducer.Reducer, n int, activityType func(i int) string) {
		for i := range n {
			apply(t, r, &event.ActivitySnapshot{MessageID: fmt.Sprint(i), ActivityType: activityType(i), Content: state.Object()})
		}
	}
	say := func(ids ...string) *event.MessagesSnapshot {
		e := new(event.MessagesSnapshot)
		for _, id := range ids {
			e.Messages = append(e.Messages, &messages.Message{ID: id, Role: messages.RoleAssistant, Content: messages.Text("x")})
		}
		return e
	}
	for name, tell := range map[string]func(r *reducer.Reducer, n int) (again func(i int)){
		"many activities are kept": func(r *reducer.Reducer, n int) func(int) {
			activities(r, n, func(int) string { return "kept" })
			return func(int) { apply(t, r, owns(state.String("other"), state.String("none")), say("m")) }
		},
		"many activities of many types are kept": func(r *reducer.Reducer, n int) func(int) {
			activities(r, n, func(i int) string { return fmt.Sprint("kept", i) })
			return func(int) { apply(t, r, owns(state.String("other")), say()) }
		},
		"many reasoning messages are kept": func(r *reducer.Reducer, n int) func(int) {
			for i := range n {
				id := fmt.Sprint(i)
				apply(t, r, &event.ReasoningMessageStart{MessageID: id}, &event.ReasoningMessageEnd{MessageID: id})
			}
			return func(int) { apply(t, r, say("m")) }
		},
		"many messages were dropped": func(r *reducer.Reducer, n int) func(int) {
			for i := range n {
				id := fmt.Sprint(i)
				apply(t, r, &event.TextMessageStart{MessageID: id}, &event.TextMessageEnd{MessageID: id})
			}
			apply(t, r, say("m"))
			return func(int) { apply(t, r, say("m")) }
		},
		"many activities were dropped": func(r *reducer.Reducer, n int) func(int) {
			activities(r, n, func(i int) string { return fmt.Sprint(i % 3) })
			apply(t, r, owns(state.String("0"), state.String("1"), state.String("2")))
			all := &event.MessagesSnapshot{Base: event.Base{Metadata: messages.MetadataOf(state.Member{Key: "@ag-ui/client", Value: state.Object(
				state.Member{Key: "authoritativeActivityTypes", Value: state.Null()})})}}
			return func(int) { apply(t, r, all, owns(state.String("0"))) }
		},
		"a run brings a call after many kept messages": func(r *reducer.Reducer, n int) func(int) {
			activities(r, n, func(int) string { return "kept" })
			apply(t, r, &event.RunFinished{ThreadID: "t", RunID: "r"})
			return func(i int) {
				s := say("m")
				s.Messages[0].ToolCalls = messages.NewList(&messages.ToolCall{ID: fmt.Sprint("c", i), Name: "f", Arguments: "{}"})
				apply(t, r, &event.RunStarted{ThreadID: "t", RunID: "r"}, s, &event.RunFinished{ThreadID: "t", RunID: "r"})
			}
		},
		"many runs, steps and subagents": func(r *reducer.Reducer, n int) func(int) {
			for i := range n {
				id := fmt.Sprint(i)
				apply(t, r, &event.StepStarted{StepName: id}, &event.StepFinished{StepName: id},
					&event.SubagentStarted{Attribution: event.By(messages.SubagentOwner(id)), Name: "n"}, &event.SubagentFinished{Attribution: event.By(messages.SubagentOwner(id))})
			}
			return func(i int) {
				apply(t, r, &event.RunFinished{ThreadID: "t", RunID: "r"}, &event.RunStarted{ThreadID: "t", RunID: "r"}, say("m"))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			least := func(n int) time.Duration {
				r := reducer.New(&reducer.Options{Input: &event.RunInput{ThreadID: "t", RunID: "r", Tools: []event.Tool{{Name: "f"}}}})
				apply(t, r, &event.RunStarted{ThreadID: "t", RunID: "r"})
				again := tell(r, n)
				again(0)
				var times []time.Duration
				for i := range 100 {
					start := time.Now()
					again(i + 1)
					times = append(times, time.Since(start))
					r.Thread()
				}
				return slices.Min(times)
			}
			few, lots := least(1000), least(20_000)
			t.Logf("%d ns after 1,000, %d after 20,000", few.Nanoseconds(), lots.Nanoseconds())
			assert.Less(t, lots, 4*few+10*time.Microsecond)
		})
	}
}

// TestLongIDsCostNothing compares what small events cost that do not spell an id of n bytes, with 1,000 n.
func TestLongIDsCostNothing(t *testing.T) {
	for name, tell := range map[string]func(r *reducer.Reducer, id string) (again func(i int)){
		"chunks of text": func(r *reducer.Reducer, id string) func(int) {
			apply(t, r, &event.TextMessageChunk{MessageID: messages.Some(id), Delta: messages.Some("x")})
			return func(int) { apply(t, r, &event.TextMessageChunk{Delta: messages.Some("x")}) }
		},
		"chunks of arguments": func(r *reducer.Reducer, id string) func(int) {
			apply(t, r, &event.ToolCallChunk{ToolCallID: messages.Some(id), ToolCallName: messages.Some("f")})
			return func(int) { apply(t, r, &event.ToolCallChunk{Delta: messages.Some("x")}) }
		},
		"results next to it": func(r *reducer.Reducer, id string) func(int) {
			apply(t, r, &event.ToolCallStart{ToolCallID: "c", ToolCallName: "f"}, &event.ToolCallEnd{ToolCallID: "c"},
				&event.TextMessageStart{MessageID: id})
			return func(i int) {
				apply(t, r, &event.ToolCallResult{MessageID: fmt.Sprint(i), ToolCallID: "c", Content: messages.Text("x")})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			least := func(n int) time.Duration {
				r := reducer.New(nil)
				apply(t, r, &event.RunStarted{ThreadID: "t", RunID: "r"})
				again := tell(r, strings.Repeat("i", n))
				var times []time.Duration
				for i := range 200 {
					start := time.Now()
					again(i)
					times = append(times, time.Since(start))
					r.Thread()
				}
				return slices.Min(times)
			}
			short, long := least(1000), least(1_000_000)
			t.Logf("%d ns with 1,000 bytes, %d with 1,000,000", short.Nanoseconds(), long.Nanoseconds())
			assert.Less(t, long, 4*short+10*time.Microsecond)
		})
	}
}

// TestARunCostsTheSameOnAnyThread compares what a run costs, with a message and an answer of its input, on a thread of n
// messages and of 100 n.
func TestARunCostsTheSameOnAnyThread(t *testing.T) {
	measure := func(n int) (float64, float64) {
		r := conversation(t, n)
		apply(t, r, &event.RunFinished{ThreadID: "t", RunID: "r"})
		return cost(func(i int) {
			id := fmt.Sprint(i)
			r.Next(&reducer.Options{Input: &event.RunInput{ThreadID: "t", RunID: id, Messages: []*messages.Message{
				{ID: "u" + id, Role: messages.RoleUser, Content: messages.Text("x")}, answer("t"+id, fmt.Sprint("call", i-1)),
			}}})
			apply(t, r, &event.RunStarted{ThreadID: "t", RunID: id}, &event.ToolCallStart{ToolCallID: "call" + id, ToolCallName: "f"},
				&event.ToolCallEnd{ToolCallID: "call" + id}, &event.RunFinished{ThreadID: "t", RunID: id})
			r.Thread()
		})
	}
	fewAllocs, fewBytes := measure(1000)
	manyAllocs, manyBytes := measure(many)
	t.Logf("1,000 messages: %.1f allocs, %.0f bytes; %d: %.1f allocs, %.0f bytes", fewAllocs, fewBytes, many, manyAllocs, manyBytes)
	assert.Less(t, manyAllocs, fewAllocs+20)
	assert.Less(t, manyBytes, 1.5*fewBytes+4000)
}
