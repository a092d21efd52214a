package chunks_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/chunks"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

// open returns what the Expander says is under assembly, as "owner id".
func open(x *chunks.Expander) []string {
	var all []string
	for owner, id := range x.Open() {
		all = append(all, owner.String()+" "+id)
	}
	return all
}

func TestExpander(t *testing.T) {
	const three = `
		{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"a","subagentRunId":"s"}
		{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f"}
		{"type":"TEXT_MESSAGE_CHUNK","messageId":"n","subagentRunId":"z"}`

	t.Run("the zero value is ready for use", func(t *testing.T) {
		var x chunks.Expander
		got, err := expand(&x, events(t, `{"type":"REASONING_MESSAGE_CHUNK","messageId":"r"}`))
		require.NoError(t, err)
		assertWire(t, `{"type":"REASONING_MESSAGE_START","messageId":"r","role":"reasoning"}`, got)
	})

	t.Run("an event that is not a chunk comes out itself, after what dst holds", func(t *testing.T) {
		first, second := &event.Raw{}, &event.StepStarted{StepName: "a"}
		got, err := new(chunks.Expander).Expand([]event.Event{first}, second)
		require.NoError(t, err)
		require.Len(t, got, 2)
		assert.Same(t, first, got[0])
		assert.Same(t, second, got[1])
	})

	t.Run("Open yields lanes in the order in which their streams were opened", func(t *testing.T) {
		x := new(chunks.Expander)
		assert.Empty(t, open(x))
		_, err := expand(x, events(t, three))
		require.NoError(t, err)
		assert.Equal(t, []string{"s m", "(parent) c", "z n"}, open(x))
		_, err = expand(x, events(t, `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m2","subagentRunId":"s"}`))
		require.NoError(t, err)
		assert.Equal(t, []string{"(parent) c", "z n", "s m2"}, open(x))
		for owner := range x.Open() { // it can be broken off
			assert.True(t, owner.IsParent())
			break
		}
		_, err = expand(x, events(t, `{"type":"RUN_ERROR","message":"m"}`))
		require.NoError(t, err)
		assert.Empty(t, open(x))
	})

	t.Run("a rejected chunk leaves dst and what is under assembly as they were", func(t *testing.T) {
		x := new(chunks.Expander)
		before, err := expand(x, events(t, three))
		require.NoError(t, err)
		for _, bad := range events(t, `
			{"type":"TOOL_CALL_CHUNK","toolCallId":"d"}
			{"type":"TOOL_CALL_CHUNK","toolCallName":"g"}
			{"type":"REASONING_MESSAGE_CHUNK","delta":"a"}
			{"type":"TEXT_MESSAGE_CHUNK","delta":"a"}
			{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","subagentRunId":"z"}
			{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"user"}`) {
			got, err := x.Expand(before, bad)
			require.ErrorAs(t, err, new(*chunks.Error))
			assert.Equal(t, before, got)
			assert.Equal(t, []string{"s m", "(parent) c", "z n"}, open(x))
		}
		got, err := expand(x, events(t, `{"type":"TOOL_CALL_CHUNK","delta":"1"}`))
		require.NoError(t, err)
		assertWire(t, `{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"1"}`, got)
	})

	t.Run("P-PIPE-1 what is not decoded is not expanded", func(t *testing.T) {
		frame, err := event.NewFrame([]byte(`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","subagentRunId":"s"}`))
		require.NoError(t, err)
		got, err := new(chunks.Expander).Expand(nil, frame)
		assert.Empty(t, got)
		assert.Equal(t, &chunks.Error{
			Rule: "P-PIPE-1", Type: event.TypeTextMessageChunk, Lane: messages.SubagentOwner("s"),
			Reason: "a frame must be decoded before it can be expanded",
		}, err)
		_, err = new(chunks.Expander).Expand(nil, nil)
		assert.Equal(t, &chunks.Error{Rule: "P-PIPE-1", Reason: "there is no event"}, err)
	})
}

// A chunk costs the same whatever is open, so that a stream of a hundred thousand lanes stays linear: were
// any of the look-ups here a scan, this test would take minutes.
func TestManyLanes(t *testing.T) {
	const lanes = 100_000
	x := new(chunks.Expander)
	var out []event.Event
	var err error
	apply := func(ev event.Event) {
		out, err = x.Expand(out[:0], ev)
		require.NoError(t, err)
	}
	id := func(i int) messages.Opt[string] { return messages.Some(fmt.Sprint("m", i)) }
	owner := func(i int) messages.Owner { return messages.SubagentOwner(fmt.Sprint("s", i)) }
	for i := range lanes {
		apply(&event.TextMessageChunk{MessageID: id(i), Attribution: event.By(owner(i))})
	}
	apply(&event.ToolCallChunk{ToolCallID: messages.Some("c"), ToolCallName: messages.Some("f"), Attribution: event.By(owner(lanes))})
	for i := range lanes {
		apply(&event.ToolCallChunk{Delta: messages.Some("1")}) // the only tool call
		require.Equal(t, owner(lanes), out[0].Owner())
		apply(&event.TextMessageChunk{MessageID: id(i), Delta: messages.Some("a")}) // a named one
		require.Equal(t, owner(i), out[0].Owner())
		out, err = x.Expand(out[:0], &event.TextMessageChunk{Delta: messages.Some("a")}) // one of many
		require.ErrorAs(t, err, new(*chunks.Error))
	}
	for i := 0; i < lanes; i += 2 {
		apply(&event.StepStarted{Attribution: event.By(owner(i))})
		require.Len(t, out, 2)
	}
	apply(&event.RunFinished{})
	require.Len(t, out, lanes/2+2)
	for i, ev := range out[:lanes/2] {
		require.Equal(t, owner(2*i+1), ev.Owner())
	}
}

func TestContinuationAllocatesItsContentOnly(t *testing.T) {
	x := new(chunks.Expander)
	_, err := expand(x, events(t, `
		{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"user","name":"Ann"}
		{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f","subagentRunId":"s"}
		{"type":"REASONING_MESSAGE_CHUNK","messageId":"r","subagentRunId":"z"}`))
	require.NoError(t, err)
	out := make([]event.Event, 0, 1)
	for _, ev := range events(t, `
		{"type":"TEXT_MESSAGE_CHUNK","delta":"a"}
		{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"user","name":"Ann","delta":"a"}
		{"type":"TOOL_CALL_CHUNK","delta":"a"}
		{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f","delta":"a","subagentRunId":"s"}
		{"type":"REASONING_MESSAGE_CHUNK","delta":"a","subagentRunId":"z"}
		{"type":"REASONING_MESSAGE_CHUNK","messageId":"r","delta":"a","metadata":{}}`) {
		allocs := testing.AllocsPerRun(100, func() {
			if out, err = x.Expand(out[:0], ev); err != nil || len(out) != 1 {
				panic("not one event")
			}
		})
		assert.Equal(t, 1.0, allocs, "%s", event.Append(nil, ev))
	}
}

func TestEventsMadeShareNothingThatChanges(t *testing.T) {
	in := events(t, `
		{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"a","metadata":{"k":1}}
		{"type":"TEXT_MESSAGE_CHUNK","delta":"b","metadata":{"k":2}}
		{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`)
	before := wire(in)
	x := new(chunks.Expander)
	var kept []event.Event
	var seen []string
	for _, ev := range in {
		out, err := x.Expand(nil, ev)
		require.NoError(t, err)
		kept = slices.Concat(kept, out)
		seen = append(seen, wire(out)...)
	}
	assert.Equal(t, seen, wire(kept))
	assert.Equal(t, before, wire(in))
}
