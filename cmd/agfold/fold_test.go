package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// twoRuns is a recording of a conversation of two turns: what the user said is in the heads only.
const twoRuns = `{"agfold":"recording/1","input":{"threadId":"t","runId":"r1","state":{"n":0},"messages":[{"id":"u1","role":"user","content":"one"}]}}
{"at":1,"event":{"type":"RUN_STARTED","threadId":"t","runId":"r1"}}
{"at":2,"event":{"type":"TEXT_MESSAGE_CHUNK","messageId":"a1","delta":"first"}}
{"at":3,"event":{"type":"STATE_DELTA","delta":[{"op":"replace","path":"/n","value":1}]}}
{"at":4,"event":{"type":"RUN_FINISHED","threadId":"t","runId":"r1"}}
{"agfold":"recording/1","input":{"threadId":"t","runId":"r2","state":{"n":1,"mine":true},"messages":[{"id":"u1","role":"user","content":"one"},{"id":"a1","role":"assistant","content":"first"},{"id":"u2","role":"user","content":"two"}]}}
{"at":1,"event":{"type":"RUN_STARTED","threadId":"t","runId":"r2"}}
{"at":2,"event":{"type":"TEXT_MESSAGE_CHUNK","messageId":"a2","delta":"second"}}
{"at":3,"event":{"type":"NEW"}}
`

const secondEnds = `{"at":4,"event":{"type":"RUN_FINISHED","threadId":"t","runId":"r2"}}
`

// thread is what a --json says that these tests look at.
type thread struct {
	Status   string
	Error    struct{ Ordinal int }
	Messages []struct{ ID, Role, Content string }
	State    map[string]any
	Runs     []struct{ RunID, Status string }
	Warnings []struct {
		Rule    string
		Ordinal int
	}
}

func replayed(t *testing.T, text string, want int, args ...string) (th thread) {
	t.Helper()
	got := agfold(t, text, append([]string{"replay", "-", "--json"}, args...)...)
	require.Equal(t, want, got.status, got.stderr)
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &th))
	return th
}

func ids(th thread) string {
	var ids []string
	for _, m := range th.Messages {
		ids = append(ids, m.ID)
	}
	return strings.Join(ids, " ")
}

func TestRunsOfARecordingGoOnWithOneThread(t *testing.T) {
	th := replayed(t, twoRuns+secondEnds, exitOK)
	assert.Equal(t, "u1 a1 u2 a2", ids(th), "what the user said between the runs is in its place")
	assert.Equal(t, map[string]any{"n": 1.0, "mine": true}, th.State, "the second run began with the state of its input")
	require.Len(t, th.Runs, 2)
	assert.Equal(t, "succeeded", th.Runs[0].Status)
	assert.Equal(t, "succeeded", th.Runs[1].Status)
	require.Len(t, th.Warnings, 1)
	assert.Equal(t, 7, th.Warnings[0].Ordinal, "ordinals count through the file")
}

func TestAtCountsThroughTheFile(t *testing.T) {
	assert.Equal(t, "u1 a1", ids(replayed(t, twoRuns+secondEnds, exitOK, "--at", "4")))
	th := replayed(t, twoRuns+secondEnds, exitOK, "--at", "6")
	assert.Equal(t, "u1 a1 u2 a2", ids(th))
	assert.Equal(t, "running", th.Status)
	got := agfold(t, twoRuns+secondEnds, "replay", "-", "--events")
	assert.Contains(t, got.stdout, "\n     5 RUN_STARTED               t r2\n")
}

func TestARunThatBreaksTheProtocolDoesNotEndTheRecording(t *testing.T) {
	const broken = `{"at":2,"event":{"type":"TEXT_MESSAGE_END","messageId":"nobody"}}` + "\n"
	cut := strings.Index(twoRuns, `{"at":4`)
	th := replayed(t, twoRuns[:cut]+broken+twoRuns[cut:]+secondEnds, exitOK)
	require.Len(t, th.Runs, 2)
	assert.Equal(t, "rejected", th.Runs[0].Status)
	assert.Equal(t, "succeeded", th.Runs[1].Status)
	assert.Equal(t, "u1 a1 u2 a2", ids(th))

	last := replayed(t, twoRuns+broken, exitRejected)
	assert.Equal(t, 8, last.Error.Ordinal, "the error's ordinal counts through the file too")
	malformed := replayed(t, twoRuns+strings.Replace(broken, `"nobody"`, `null`, 1), exitRejected)
	assert.Equal(t, 8, malformed.Error.Ordinal)
}

func TestACrashBetweenRunsLosesOneLine(t *testing.T) {
	cut := strings.Index(twoRuns, `{"at":4`)
	end := strings.Index(twoRuns[cut:], "\n") + cut
	th := replayed(t, twoRuns[:cut+20]+twoRuns[end:]+secondEnds, exitOK)
	require.Len(t, th.Runs, 2)
	assert.Equal(t, "truncated", th.Runs[0].Status)
	assert.Equal(t, "succeeded", th.Runs[1].Status)
	assert.Equal(t, "u1 a1 u2 a2", ids(th))
	replayed(t, twoRuns, exitTruncated)
}
