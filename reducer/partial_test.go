package reducer_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// argumentDeltas folds n deltas of one character, with a snapshot after each, of which ask is called.
func argumentDeltas(tb testing.TB, n int, ask func(*messages.ToolCall)) {
	r := reducer.New(nil)
	apply := func(ev event.Event) *messages.ToolCall {
		require.NoError(tb, r.Apply(ev))
		tc, _ := r.Thread().ToolCall("c")
		return tc
	}
	require.NoError(tb, r.Apply(&event.RunStarted{ThreadID: "t", RunID: "r"}))
	apply(&event.ToolCallStart{ToolCallID: "c", ToolCallName: "f"})
	ask(apply(&event.ToolCallArgs{ToolCallID: "c", Delta: `{"text":"`}))
	ev := &event.ToolCallArgs{ToolCallID: "c", Delta: "x"}
	for range n {
		ask(apply(ev))
	}
	ask(apply(&event.ToolCallArgs{ToolCallID: "c", Delta: `"}`}))
	ask(apply(&event.ToolCallEnd{ToolCallID: "c"}))
}

func TestPartialArgsWhileArgumentsStream(t *testing.T) {
	asked := 0
	argumentDeltas(t, 300, func(tc *messages.ToolCall) {
		plain := messages.ToolCall{Arguments: tc.Arguments}
		assert.Equal(t, plain.PartialArgs().String(), tc.PartialArgs().String())
		asked++
	})
	assert.Equal(t, 303, asked)
}

// Each asks for the value after every delta: with many deltas one must cost what it costs with few.
func BenchmarkPartialArgs(b *testing.B) {
	for _, bb := range []struct {
		name string
		n    int
	}{{"1,000 deltas", 1000}, {"64,000 deltas", 64_000}} {
		b.Run(bb.name, func(b *testing.B) {
			for b.Loop() {
				argumentDeltas(b, bb.n, func(tc *messages.ToolCall) { tc.PartialArgs() })
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*bb.n), "ns/delta")
		})
	}
}
