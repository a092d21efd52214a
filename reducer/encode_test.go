package reducer_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// pieces is a writer that notes the largest piece, and fails once it has no room.
type pieces struct {
	bytes.Buffer
	largest, room int
}

var errNoRoom = errors.New("no room")

func (p *pieces) Write(b []byte) (int, error) {
	if p.room < len(b) {
		return 0, errNoRoom
	}
	p.room -= len(b)
	p.largest = max(p.largest, len(b))
	return p.Buffer.Write(b)
}

func TestAThreadIsWrittenInPieces(t *testing.T) {
	r := reducer.New(nil)
	assertWritten := func(most int) *reducer.Thread {
		t.Helper()
		th := r.Thread()
		w := &pieces{room: 10 << 20}
		n, err := th.WriteTo(w)
		require.NoError(t, err)
		assert.EqualValues(t, w.Len(), n)
		assert.Equal(t, string(th.AppendJSON(nil)), w.String())
		assert.LessOrEqual(t, w.largest, most)
		return th
	}
	assertWritten(1000)
	for i := range 1000 {
		run := fmt.Sprint("run", i)
		apply(t, r, &event.RunStarted{ThreadID: "t", RunID: run},
			&event.SubagentStarted{Attribution: event.By(messages.SubagentOwner(run)), Name: "n"},
			&event.TextMessageStart{MessageID: run}, &event.TextMessageContent{MessageID: run, Delta: strings.Repeat("x", 1000)}, &event.TextMessageEnd{MessageID: run},
			&event.SubagentFinished{Attribution: event.By(messages.SubagentOwner(run))}, &event.RunFinished{ThreadID: "t", RunID: run})
	}
	th := assertWritten(40_000)
	w := &pieces{room: 100_000}
	n, err := th.WriteTo(w)
	assert.ErrorIs(t, err, errNoRoom)
	assert.EqualValues(t, w.Len(), n, "nothing is written after the first error")
}

func TestSubagentsMarshal(t *testing.T) {
	th := play(t, `run | sub a n | sub b m + {"parentSubagentRunId":"a"} | endsub b | done`, nil).th
	text, err := json.Marshal(th.Subagents)
	require.NoError(t, err)
	whole, err := state.Parse(th.AppendJSON(nil))
	require.NoError(t, err)
	assert.Equal(t, whole.Get("subagents").String(), string(text))
	text, err = json.Marshal(th.Subagents.Find(messages.SubagentOwner("b")))
	require.NoError(t, err)
	assert.Equal(t, `{"subagentRunId":"b","announced":true,"name":"m","parentSubagentRunId":"a","status":"succeeded","runId":"r"}`, string(text))
	text, err = json.Marshal(reducer.Subagents{})
	require.NoError(t, err)
	assert.Equal(t, `[]`, string(text))
}
