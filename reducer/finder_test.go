package reducer_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// The look-ups of any snapshot of a history, in any order, are what a look at each message finds.
func TestLookUpsByID(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	fold := reducer.New(nil)
	apply := func(ev event.Event) { require.NoError(t, fold.Apply(ev)) }
	apply(&event.RunStarted{ThreadID: "t", RunID: "r"})
	var history []*reducer.Thread
	id := func(kind string, most int) string { return fmt.Sprint(kind, r.IntN(most)) }
	for range 500 {
		m := id("m", 120)
		switch r.IntN(6) {
		case 0, 1:
			apply(&event.TextMessageStart{MessageID: m})
			apply(&event.TextMessageContent{MessageID: m, Delta: "x"})
			history = append(history, fold.Thread())
			apply(&event.TextMessageEnd{MessageID: m})
		case 2:
			apply(&event.ReasoningMessageStart{MessageID: m})
			apply(&event.ReasoningMessageEnd{MessageID: m})
		case 3:
			c := id("c", 60)
			apply(&event.ToolCallStart{ToolCallID: c, ToolCallName: "f", ParentMessageID: messages.Some(m)})
			apply(&event.ToolCallArgs{ToolCallID: c, Delta: "{}"})
			history = append(history, fold.Thread())
			apply(&event.ToolCallEnd{ToolCallID: c})
		case 4:
			apply(&event.ToolCallResult{MessageID: m, ToolCallID: id("c", 60), Content: messages.Text("ok")})
		case 5:
			if r.IntN(10) == 0 {
				kept := fold.Thread().Messages.Slice()
				n := min(len(kept), 40+r.IntN(40))
				apply(&event.MessagesSnapshot{Messages: kept[len(kept)-n:]})
			}
		}
		history = append(history, fold.Thread())
	}
	indexed := 0
	for range 4000 {
		th := history[r.IntN(len(history))]
		if th.Messages.Len() > 32 {
			indexed++
		}
		plain := &reducer.Thread{Messages: th.Messages} // no reducer has made it
		m, c := id("m", 130), id("c", 65)
		wantMessage, wantPlace := plain.Message(m)
		gotMessage, gotPlace := th.Message(m)
		require.Same(t, wantMessage, gotMessage)
		require.Equal(t, wantPlace, gotPlace)
		wantCall, wantHolder := plain.ToolCall(c)
		gotCall, gotHolder := th.ToolCall(c)
		require.Same(t, wantCall, gotCall)
		require.Same(t, wantHolder, gotHolder)
		require.Same(t, plain.ToolResult(c), th.ToolResult(c))
	}
	assert.Greater(t, indexed, 2000)
}

// A look-up after each event: with many messages it must cost what it costs with few.
func BenchmarkLookUp(b *testing.B) {
	for _, n := range []int{100, 100_000} {
		b.Run(fmt.Sprintf("%d messages", n), func(b *testing.B) {
			fold := reducer.New(&reducer.Options{Thread: manyMessages(n)})
			require.NoError(b, fold.Apply(&event.RunStarted{ThreadID: "t", RunID: "r"}))
			require.NoError(b, fold.Apply(&event.TextMessageStart{MessageID: "new"}))
			ev := &event.TextMessageContent{MessageID: "new", Delta: "x"}
			fold.Thread().Message("m1")
			for b.Loop() {
				if err := fold.Apply(ev); err != nil {
					b.Fatal(err)
				}
				if m, _ := fold.Thread().Message("m1"); m == nil {
					b.Fatal("not found")
				}
			}
		})
	}
}

func manyMessages(n int) *reducer.Thread {
	msgs := make([]*messages.Message, n)
	for i := range msgs {
		msgs[i] = &messages.Message{ID: fmt.Sprint("m", i), Role: messages.RoleUser, Content: messages.Text("Hello")}
	}
	return &reducer.Thread{Messages: messages.NewList(msgs...)}
}
