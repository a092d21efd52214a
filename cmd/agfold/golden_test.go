package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/cmd/agfold/internal/transcript"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/state"
)

// recordings is the folder of recorded runs.
const recordings = "../../testdata"

// runs lists the recorded runs with what comes of them.
var runs = []struct {
	file       string
	status     string
	exit       int
	transcript bool // there is a golden transcript too
}{
	{"chat-tools.sse", "succeeded", exitOK, true},
	{"chunks.ndjson", "succeeded", exitOK, false},
	{"cut-off.sse", "truncated", exitTruncated, true},
	{"frontend-tool.json", "succeeded", exitOK, false},
	{"interrupt-resume.json", "succeeded", exitOK, true},
	{"reasoning.ndjson", "succeeded", exitOK, true},
	{"rejected.ndjson", "rejected", exitRejected, false},
	{"run-error.txt", "failed", exitFailed, true},
	{"shared-state.json", "succeeded", exitOK, false},
	{"subagents.sse", "succeeded", exitOK, true},
	{"thinking.ndjson", "succeeded", exitOK, false},
}

func TestGoldenThreads(t *testing.T) {
	for _, row := range runs {
		t.Run(row.file, func(t *testing.T) {
			path := filepath.Join(recordings, row.file)
			stem := strings.TrimSuffix(path, filepath.Ext(path))
			got := agfold(t, "", "replay", "--json", path)
			assert.Equal(t, row.exit, got.status)
			assert.Equal(t, 1, strings.Count(got.stdout, "\n"), "one line")
			thread, err := state.Parse([]byte(got.stdout))
			require.NoError(t, err)
			status, _ := thread.Get("status").AsString()
			assert.Equal(t, row.status, status)
			var spread bytes.Buffer
			out := term.NewWriter(&spread)
			require.NoError(t, transcript.WriteValue(out, thread, 110))
			require.NoError(t, out.Flush())
			golden(t, stem+".golden.json", spread.String())
			if row.transcript {
				golden(t, stem+".golden.txt", agfold(t, "", "replay", path).stdout)
			}
		})
	}
}

func TestEveryRecordingHasAGolden(t *testing.T) {
	files, err := os.ReadDir(recordings)
	require.NoError(t, err)
	var have, want []string
	for _, f := range files {
		if !f.IsDir() && !strings.Contains(f.Name(), ".golden.") && !strings.HasSuffix(f.Name(), ".md") {
			have = append(have, f.Name())
		}
	}
	for _, row := range runs {
		want = append(want, row.file)
	}
	assert.Equal(t, want, have)
}

// TestOfficialClient compares messages and state of the recorded runs with what the official client makes of
// them. It needs node, and AGFOLD_ORACLE naming the folder of fold.mjs.
func TestOracle(t *testing.T) {
	oracle := os.Getenv("AGFOLD_ORACLE")
	if oracle == "" {
		t.Skip("AGFOLD_ORACLE names no folder")
	}
	for _, row := range runs {
		t.Run(row.file, func(t *testing.T) {
			path := filepath.Join(recordings, row.file)
			doc := filepath.Join(t.TempDir(), "doc.json")
			require.NoError(t, os.WriteFile(doc, document(t, path), 0o644))
			out, err := exec.Command("node", filepath.Join(oracle, "fold.mjs"), doc).Output()
			require.NoError(t, err)
			var theirs, ours struct {
				Messages []map[string]any
				State    any
			}
			require.NoError(t, json.Unmarshal(out, &theirs))
			require.NoError(t, json.Unmarshal([]byte(agfold(t, "", "replay", "--json", path).stdout), &ours))
			for i := range theirs.Messages {
				if row.file == "thinking.ndjson" && theirs.Messages[i]["role"] == "reasoning" { // D-3
					theirs.Messages[i]["id"] = ours.Messages[i]["id"]
				}
			}
			assert.Equal(t, theirs.Messages, ours.Messages)
			assert.Equal(t, theirs.State, ours.State)
		})
	}
}

// document returns a recording as an object with stream and input; the input is that of RUN_STARTED if the
// recording has none (D-7).
func document(t *testing.T, path string) []byte {
	events, input := events(t, path)
	if input == nil {
		input, _ = events[0].Value().Get("input").MarshalJSON()
	}
	doc := append([]byte(`{"stream":[`), bytes.Join(texts(events), []byte(","))...)
	if !slices.Equal(input, []byte("null")) {
		doc = append(append(doc, `],"input":`...), input...)
		return append(doc, '}')
	}
	return append(doc, "]}"...)
}

// events returns the events of a recording, as far as it can be read, and its input.
func events(t *testing.T, path string) (frames []event.Frame, input []byte) {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	rec, err := recording.Open(f, nil)
	require.NoError(t, err)
	if in := rec.Input(); in != nil {
		input = in.AppendJSON(nil)
	}
	for ev, err := range rec.Events() {
		if err == nil {
			frames = append(frames, ev.(event.Frame))
		}
	}
	return frames, input
}

// texts returns the events' texts, each on one line.
func texts(frames []event.Frame) [][]byte {
	var texts [][]byte
	for _, f := range frames {
		texts = append(texts, f.Value().AppendJSON(nil))
	}
	return texts
}
