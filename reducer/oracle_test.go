package reducer_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
	"github.com/stretchr/testify/require"
)

// verdict is what a fold of a stream ended with, as the official client and we both can tell it.
type verdict struct {
	Outcome    string          `json:"outcome"`
	Error      string          `json:"error"`
	EventTypes []string        `json:"eventTypes"`
	Messages   json.RawMessage `json:"messages"`
	State      json.RawMessage `json:"state"`
	Interrupts json.RawMessage `json:"pendingInterrupts"`
}

// deviation is a place where we differ from the official client on purpose.
type deviation struct {
	name, why string
	applies   func(lines []string, ours played, theirs verdict) bool
}

func TestOfficialClientAgrees(t *testing.T) {
	dir := os.Getenv("AGFOLD_ORACLE")
	if dir == "" {
		t.Skip("AGFOLD_ORACLE does not name a folder with fold.mjs and its node_modules")
	}
	const streams = 300
	tmp := t.TempDir()
	args := []string{filepath.Join(dir, "fold.mjs")}
	told := make([][]string, streams)
	for seed := range told {
		g := newTeller(&source{rand: rand.New(rand.NewPCG(uint64(seed), 1))})
		g.plain = true
		g.wild = []int{0, 0, 3, 10}[seed%4]
		told[seed] = g.tell(20 + g.n(100))
		file := filepath.Join(tmp, strconv.Itoa(seed)+".ndjson")
		require.NoError(t, os.WriteFile(file, []byte("["+strings.Join(told[seed], ",\n")+"]"), 0o600))
		args = append(args, file)
	}
	cmd := exec.CommandContext(t.Context(), "node", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	require.Len(t, lines, streams)
	excused := map[string]int{}
	failed, agreed := 0, 0
	for seed, line := range lines {
		var theirs verdict
		require.NoError(t, json.Unmarshal(line, &theirs))
		if theirs.Outcome == "failed" {
			failed++
		}
		ours := playEvents(frames(told[seed]), nil)
		diff := compare(t, ours, theirs)
		if diff == "" {
			agreed++
			continue
		}
		reason := ""
		for _, d := range deviations1 {
			if d.applies(told[seed], ours, theirs) {
				reason = d.name
				excused[d.name]++
				break
			}
		}
		if reason == "" {
			t.Errorf("seed %d: %s\nwarnings: %v\n%s", seed, diff, ours.warnings, strings.Join(told[seed], "\n"))
		}
	}
	t.Logf("%d agree, of these streams %d fail; excused: %v", agreed, failed, excused)
	require.Greater(t, agreed, streams/2, "most streams are compared in full")
}

// compare returns how the two differ, "" if they do not.
func compare(t *testing.T, ours played, theirs verdict) string {
	outcome := "completed"
	if ours.err != nil {
		outcome = "failed"
	}
	if outcome != theirs.Outcome {
		return "outcome: ours " + outcome + " " + errText(ours.err) + ", theirs " + theirs.Outcome + " " + theirs.Error
	}
	if a, b := ours.types(), strings.Join(theirs.EventTypes, " "); a != b {
		return "types: ours " + a + "\ntheirs " + b
	}
	th, err := state.Parse(ours.r.End(nil).AppendJSON(nil))
	require.NoError(t, err)
	for _, part := range []struct {
		name   string
		ours   state.Value
		theirs json.RawMessage
	}{
		{"messages", th.Get("messages"), theirs.Messages},
		{"state", th.Get("state"), theirs.State},
		{"interrupts", th.Get("interrupts"), theirs.Interrupts},
	} {
		v, err := state.Parse(wellFormed(t, part.theirs))
		require.NoError(t, err)
		if !state.Equal(v, part.ours) {
			return part.name + ":\nours   " + part.ours.String() + "\ntheirs " + v.String()
		}
	}
	return ""
}

// wellFormed returns JSON with U+FFFD for each lone half of a surrogate pair, which JavaScript keeps in its
// strings and we do not.
func wellFormed(t *testing.T, data []byte) []byte {
	var v any
	require.NoError(t, json.Unmarshal(data, &v))
	data, err := json.Marshal(v)
	require.NoError(t, err)
	return data
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

var deviations1 = []deviation{}

var _ = event.Some[int]
var _ = reducer.New
