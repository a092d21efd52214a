package reducer_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// checkDeliveries checks that each delivery is seen with the thread right after it: the one that a second reducer,
// which gets the deliveries one by one, has then. What a delivery changed stands where it says.
func checkDeliveries(t testing.TB, events []event.Event) {
	r, single := reducer.New(nil), reducer.New(nil)
	for _, ev := range events {
		for d, err := range r.Deliver(ev) {
			if err != nil {
				return
			}
			if d.Event == nil {
				continue
			}
			require.NoError(t, single.Apply(d.Event))
			th := r.Thread()
			require.Equal(t, string(single.Thread().AppendJSON(nil)), string(th.AppendJSON(nil)))
			if i := d.Change.Index; i >= 0 {
				m := th.Messages.At(i)
				require.Equal(t, d.Change.MessageID, m.ID)
				require.Equal(t, d.Change.MessageKind, m.Kind())
				if m.ToolCalls.Len() > 0 && d.Change.ToolCallID != "" {
					require.Equal(t, d.Change.ToolCallID, m.ToolCalls.At(d.Change.Call).ID)
				}
			}
		}
	}
}

// checkRejection checks that an event which is rejected changes nothing but how the run ended: the thread is what it
// is if the stream is rejected at the same place for another reason.
func checkRejection(t testing.TB, events []event.Event) {
	r, other := reducer.New(nil), reducer.New(nil)
	for _, ev := range events {
		for d, err := range r.Deliver(ev) {
			if err == nil {
				if d.Event != nil {
					require.NoError(t, other.Apply(d.Event))
				}
				continue
			}
			require.Error(t, other.Apply(nil))
			got, want := r.Thread(), other.Thread()
			require.Equal(t, withoutErrors(t, want), withoutErrors(t, got), err.Error())
			require.Equal(t, show(want)+showStreaming(want)+showTree(want), show(got)+showStreaming(got)+showTree(got), err.Error())
		}
	}
}

// withoutErrors returns a thread's JSON without the errors of the thread and its runs.
func withoutErrors(t testing.TB, th *reducer.Thread) string {
	v, err := state.Parse(th.AppendJSON(nil))
	require.NoError(t, err)
	var patch state.Patch
	if v.Get("error").Exists() {
		patch = append(patch, state.Op{Kind: state.OpRemove, Path: "/error"})
	}
	for i, run := range v.Get("runs").Elements() {
		if run.Get("error").Exists() {
			patch = append(patch, state.Op{Kind: state.OpRemove, Path: fmt.Sprintf("/runs/%d/error", i)})
		}
	}
	v, err = v.Apply(patch)
	require.NoError(t, err)
	return v.String()
}

func TestARejectedEventChangesNothing(t *testing.T) {
	const before = "run | text @s1 m1 | say m1 a | call @s1 c1 f m1 | think r1 | activity @s1 a1 x {} | step a | sub s1 n | state {\"a\":1} | "
	for _, then := range []string{
		"text m1", "text @s2 m2 | say @s3 m2 x", "say @s2 m1 x", "endtext @s2 m1", "endtext m9", "call c1 g", "call @s2 c2 g m1",
		"args @s2 c1 x", "endcall c9", "secret @s2 message m1 v", "secret @s2 tool-call c1 v", "apatch @s2 a1 x []", "step a", "endstep @s1 a",
		"endstep b", "sub s1 n", `sub s2 n + {"parentSubagentRunId":"s9"}`, "endsub s2", "failsub s2 x", "done", "run b", "thought @s2 r1 x",
		"span x | span x", "endspan y", "fail x | custom n", `{"type":"STATE_SNAPSHOT"}`, `{"type":"TEXT_MESSAGE_CHUNK","delta":"x"}`,
	} {
		t.Run(then, func(t *testing.T) {
			events := parse(t, before+then)
			checkRejection(t, events)
			require.Error(t, playEvents(events, nil).err)
		})
	}
}

func TestEachDeliveryIsSeenWithItsThread(t *testing.T) {
	for name, script := range map[string]string{
		"text that the next event drops":        "run | chunk m1 a | messages []",
		"a call that the next event drops":      `run | {"type":"TOOL_CALL_CHUNK","toolCallId":"c1","toolCallName":"f","delta":"{}"} | messages []`,
		"two calls in one message":              `run | call c1 f m1 | call c2 f m1 | args c2 {} | endcall c2 | endcall c1`,
		"reasoning that the next event drops":   `run | {"type":"REASONING_MESSAGE_CHUNK","messageId":"r1","delta":"a"} | messages [{"id":"r2","role":"reasoning","content":""}]`,
		"lanes that the next event drops":       "run | chunk m1 a | chunk @s1 m2 a | chunk @s2 m3 a | messages []",
		"text that the next event shifts":       `run | text m1 | endtext m1 | chunk m2 a | messages [{"id":"m2","role":"assistant","content":""}] | chunk m2 b`,
		"a chunk that replaces another":         "run | chunk m1 a | chunk m2 b | chunk m3 c | fail x",
		"warnings of a delivery among several":  "run | chunk m1 a + {\"color\":1} | chunk m2 b + {\"color\":1} | messages []",
		"an event that is dropped with warning": "run | chunk m1 a | unknown | messages []",
	} {
		t.Run(name, func(t *testing.T) { checkDeliveries(t, parse(t, script)) })
	}
}

func TestDeliver(t *testing.T) {
	chunked := func(t *testing.T) (*reducer.Reducer, event.Event) {
		r := reducer.New(nil)
		for _, ev := range parse(t, "run | chunk m1 a") {
			apply(t, r, ev)
		}
		return r, parse(t, "chunk m2 b")[0]
	}
	const whole = `assistant m1 "a" | assistant m2 "b"`
	t.Run("breaking out applies the rest of the event", func(t *testing.T) {
		r, ev := chunked(t)
		for d, err := range r.Deliver(ev) {
			require.NoError(t, err)
			assert.Equal(t, reducer.MessageClosed, d.Change.Kind)
			assert.Equal(t, `assistant m1 "a"`, show(r.Thread()))
			break
		}
		assert.Equal(t, whole, show(r.Thread()))
		assert.Equal(t, uint64(6), r.Revision())
	})
	t.Run("breaking out before an error rejects the stream", func(t *testing.T) {
		r, ev := chunked(t)
		apply(t, r, &event.TextMessageStart{MessageID: "m2", Attribution: event.By(messages.SubagentOwner("s"))})
		for range r.Deliver(ev) {
			break
		}
		require.ErrorAs(t, r.Err(), new(*reducer.Violation))
		assert.Equal(t, reducer.Rejected, r.Thread().Status())
	})
	t.Run("a loop that panics loses nothing", func(t *testing.T) {
		for name, next := range map[string]func(*reducer.Reducer){
			"End":   func(r *reducer.Reducer) { r.End(nil) },
			"Apply": func(r *reducer.Reducer) { require.NoError(t, r.Apply(&event.Custom{Name: "n", Value: state.Int(1)})) },
		} {
			r, ev := chunked(t)
			assert.Panics(t, func() {
				for range r.Deliver(ev) {
					panic("stop")
				}
			})
			next(r)
			assert.Equal(t, whole, show(r.Thread()), name)
		}
	})
	t.Run("nothing happens before it is iterated", func(t *testing.T) {
		r, ev := chunked(t)
		seq := r.Deliver(ev)
		assert.Equal(t, `assistant m1 "a"`, show(r.Thread()))
		for _, err := range seq {
			require.NoError(t, err)
		}
		assert.Equal(t, whole, show(r.Thread()))
		t.Run("iterating again is an error and changes nothing", func(t *testing.T) {
			before := r.Thread()
			var last error
			for d, err := range seq {
				assert.Equal(t, reducer.Delivery{}, d)
				last = err
			}
			require.ErrorContains(t, last, "only once")
			assert.Same(t, before, r.Thread())
			require.NoError(t, r.Err(), "the stream is in order")
		})
	})
	t.Run("an event applied within the loop comes after the rest of the event", func(t *testing.T) {
		r, ev := chunked(t)
		n := 0
		for _, err := range r.Deliver(ev) {
			require.NoError(t, err)
			apply(t, r, &event.TextMessageStart{MessageID: "m3"})
			n++
		}
		assert.Equal(t, 1, n, "and ends the loop")
		assert.Equal(t, whole+` | assistant m3 ""`, show(r.Thread()))
	})
	t.Run("an error comes alone and last", func(t *testing.T) {
		r := reducer.New(nil)
		var got []string
		for _, ev := range parse(t, `run | say m1 x + {"color":1}`) {
			for d, err := range r.Deliver(ev) {
				switch {
				case err != nil:
					assert.Equal(t, reducer.Delivery{}, d)
					assert.Equal(t, reducer.Rejected, r.Thread().Status())
					got = append(got, "error")
				case d.Event == nil:
					got = append(got, "warnings")
				default:
					got = append(got, d.Event.Type().String())
				}
			}
		}
		assert.Equal(t, []string{"RUN_STARTED", "warnings", "error"}, got)
		for _, err := range r.Deliver(&event.RunStarted{}) {
			require.ErrorIs(t, err, reducer.ErrFinal)
			require.ErrorAs(t, err, new(*reducer.Violation))
		}
	})
}

func TestLookingAtDeliveriesAllocatesNothing(t *testing.T) {
	r := reducer.New(nil)
	apply(t, r, &event.RunStarted{ThreadID: "t", RunID: "r"})
	apply(t, r, &event.TextMessageStart{MessageID: "m"})
	delta := &event.TextMessageContent{MessageID: "m"}
	unseen := testing.AllocsPerRun(100, func() { _ = r.Apply(delta) })
	assert.Equal(t, unseen, testing.AllocsPerRun(100, func() {
		for range r.Deliver(delta) {
		}
	}))
}
