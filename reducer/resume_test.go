package reducer_test

import (
	"testing"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestResume(t *testing.T) {
	first := play(t, `run | state {"a":1} | think x | endthink x | text x | say x a | endtext x | call c1 f x | endcall c1 | activity a1 p {} | sub s1 n | endsub s1 + {"outcome":{"type":"suspended"}} | done + {"outcome":{"type":"interrupt","interrupts":[{"id":"i1","reason":"ask"}]}}`, nil)
	require.NoError(t, first.err)
	text := string(first.th.AppendJSON(nil))
	second := play(t, `run b | patch [{"op":"add","path":"/b","value":2}] | text x | say x b | endtext x | result t1 c1 ok | sub s1 n | endsub s1 | done b`, &reducer.Options{Thread: first.th})
	require.NoError(t, second.err)
	assert.Equal(t, `reasoning x "" | assistant x "ab" [c1 f() answered] | tool t1 ->c1 "ok" | activity a1 p {}`, show(second.th))
	assert.Equal(t, `{"a":1,"b":2}`, second.th.State.String(), "P-STA-1 the state persists")
	assert.Equal(t, "s1 n succeeded b", showTree(second.th))
	assert.Empty(t, second.th.Interrupts)
	assert.Equal(t, 2, second.th.Runs.Len())
	assert.Equal(t, "P-RUN-3 i1", showWarnings(second.warnings), "none of ids that were shared before")
	assert.Empty(t, second.deliveries[0].Warnings)
	assert.Equal(t, first.th.Revision+9, second.th.Revision, "revisions continue")
	assert.Equal(t, text, string(first.th.AppendJSON(nil)), "the thread that was resumed stays")

	input := func(json string) *event.RunStarted {
		v, err := state.Parse([]byte(json))
		require.NoError(t, err)
		return &event.RunStarted{ThreadID: "t", RunID: "b", Input: &event.RunInput{ThreadID: "t", RunID: "b", State: v}}
	}
	for _, r := range []struct{ name, before, want string }{
		{"D-7 a thread without state takes the input's", "run | done", `{"in":1}`},
		{"D-7 a thread whose agent set {} has a state", "run | state {} | done", `{}`},
		{"D-7 a thread with a state keeps it", `run | state {"a":1} | done`, `{"a":1}`},
		{"D-7 null is a state", "run | state null | done", `null`},
	} {
		t.Run(r.name, func(t *testing.T) {
			next := reducer.New(&reducer.Options{Thread: play(t, r.before, nil).th})
			apply(t, next, input(`{"in":1}`))
			assert.Equal(t, r.want, next.Thread().State.String())
		})
	}
	t.Run("P-STA-2 a thread's state made by hand", func(t *testing.T) {
		for given, want := range map[string]string{`{"a":1}`: `{"a":1}`, `[]`: `[]`, `{}`: `{"in":1}`} {
			v, err := state.Parse([]byte(given))
			require.NoError(t, err)
			next := reducer.New(&reducer.Options{Thread: &reducer.Thread{State: v}})
			apply(t, next, input(`{"in":1}`))
			assert.Equal(t, want, next.Thread().State.String())
		}
	})
}

// A reducer that continues with a thread leaves every message of it as it is, so that nothing seems to have
// changed, whatever it holds.
func TestResumeChangesNothing(t *testing.T) {
	th, err := reducer.Fold(reducer.Events(
		&event.RunStarted{ThreadID: "t", RunID: "r"},
		&event.ToolCallStart{ToolCallID: "c1", ToolCallName: "f"},
		&event.ToolCallEnd{ToolCallID: "c1"},
		&event.ToolCallStart{ToolCallID: "c2", ToolCallName: "f"},
		&event.ToolCallEnd{ToolCallID: "c2"},
		&event.ToolCallResult{MessageID: "r1", ToolCallID: "c1", Content: messages.Text("ok")},
		&event.RunFinished{ThreadID: "t", RunID: "r"},
	), nil)
	require.NoError(t, err)
	resumed := reducer.New(&reducer.Options{Thread: th}).Thread()
	assert.True(t, messages.Same(th.Messages, resumed.Messages))
	changes := resumed.ChangesSince(th)
	assert.False(t, changes.Any(), changes)
}

// P-CMP-1, D-3: an id that is minted for a retired event is new to the thread that continues.
func TestFoldMintsNewIDs(t *testing.T) {
	thought := func() []event.Event {
		return frames([]string{
			`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`, `{"type":"THINKING_TEXT_MESSAGE_START"}`,
			`{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"hm"}`, `{"type":"THINKING_TEXT_MESSAGE_END"}`,
			`{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`,
		})
	}
	first, err := reducer.Fold(reducer.Events(thought()...), nil)
	require.NoError(t, err)
	second, err := reducer.Fold(reducer.Events(thought()...), &reducer.Options{Thread: first})
	require.NoError(t, err)
	assert.Equal(t, `reasoning r-thinking-1 "hm" | reasoning r-thinking-2 "hm"`, show(second))
}
