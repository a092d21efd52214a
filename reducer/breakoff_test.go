package reducer_test

import (
	"io"
	"testing"

	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBreakOff(t *testing.T) {
	const script = "run | text m1 | say m1 a | call c1 f m1 | args c1 {} | sub s1 helper"
	running := play(t, script, nil).th
	require.Equal(t, reducer.Running, running.Status())
	th := running.BreakOff(io.EOF)
	assert.Equal(t, reducer.Truncated, th.Status())
	assert.ErrorIs(t, th.Err(), reducer.ErrTruncated)
	assert.ErrorIs(t, th.Err(), io.EOF)
	assert.Equal(t, running.Revision+1, th.Revision)
	assert.Equal(t, "m1", showCut(th))
	assert.Empty(t, showStreaming(th))
	assert.Equal(t, messages.ToolCallBroken, th.Messages.At(0).ToolCalls.At(0).Status)
	assert.Equal(t, reducer.SubagentAbandoned, th.Subagents.Find(messages.SubagentOwner("s1")).Status)
	assert.Equal(t, "m1", showStreaming(running), "the snapshot stays")
	assert.Equal(t, reducer.SubagentRunning, running.Subagents.Find(messages.SubagentOwner("s1")).Status)
	assert.Same(t, th, th.BreakOff(nil), "a run that is over stays as it is")

	want := play(t, script, nil).r.End(io.EOF)
	assert.Equal(t, string(want.AppendJSON(nil)), string(th.AppendJSON(nil)), "as the reducer would have ended it")
	assert.Equal(t, string(running.BreakOff(nil).AppendJSON(nil)),
		string(reducer.New(&reducer.Options{Thread: stored(t, running)}).Thread().AppendJSON(nil)), "and as New takes it")
}

func TestBrokenCallsNeverPend(t *testing.T) {
	th := play(t, `run | call c1 f | args c1 {} | fail x | run b | call c2 f | endcall c2 | done b + {"outcome":{"type":"success","pendingToolCallIds":["c1","c2"]}}`, nil).th
	assert.Equal(t, []string{"c2"}, th.PendingToolCallIDs(), "P-TOL-5")
}
