package reducer_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// official is what the official client ended with, as far as we can tell the same.
type official struct {
	Outcome    string          `json:"outcome"`
	Error      string          `json:"error"`
	EventTypes []string        `json:"eventTypes"`
	Messages   json.RawMessage `json:"messages"`
	State      json.RawMessage `json:"state"`
	Interrupts json.RawMessage `json:"pendingInterrupts"`
	Pending    json.RawMessage `json:"pendingToolCallIds"`
}

// The parts of what a fold ends with that are compared.
const (
	partOutcome    = "outcome"
	partTypes      = "types"
	partMessages   = "messages"
	partState      = "state"
	partInterrupts = "interrupts"
	partPending    = "pending"
)

// deviations are the things that we take otherwise than the official client on purpose, with the rule and
// the parts in which a stream that tells of them may differ. Nothing else may.
var deviations = []struct {
	thing, rule string
	parts       []string
}{
	{sharedIDs, "D-12: each kind keeps its own message, and an owner of its own", []string{partOutcome, partTypes, partMessages, partState, partInterrupts, partPending}},
	{partsText, "D-5: text is appended to parts", []string{partMessages}},
	{resultIDs, "D-6: a result's id again replaces the message", []string{partMessages}},
	{inputState, "D-7: a fold without state takes the input's", []string{partState}},
	{repeats, "D-8: of an id twice in a snapshot the last copy stays, and it alone sets owners", []string{partOutcome, partTypes, partMessages}},
	{noObject, "D-9: an activity stays an object", []string{partMessages}},
	{enumStrings, "D-1: an unknown role is removed", []string{partOutcome, partTypes, partMessages, partState, partInterrupts, partPending}},
	{nullRoles, "D-4: a null role is absent", []string{partOutcome, partTypes, partMessages, partState, partInterrupts, partPending}},
	{thinking, "D-3: ids are minted from the run and a counter", []string{partMessages}},
	{laxPatches, "D-11: patches are taken strictly", []string{partState, partMessages}},
}

func TestOracleAgrees(t *testing.T) {
	dir := os.Getenv("AGFOLD_ORACLE")
	if dir == "" {
		t.Skip("AGFOLD_ORACLE does not name a folder with fold.mjs and its node_modules")
	}
	t.Run("on streams without deviations", func(t *testing.T) {
		told := streams("", 300)
		failed, half := 0, 0
		for i, theirs := range foldOfficially(t, dir, told) {
			if theirs.Outcome == "failed" {
				failed++
			}
			ours := playEvents(frames(told[i]), nil)
			diff := compare(t, ours, theirs)
			if diff[partMessages] != "" && splitOverEnd(ours, theirs) {
				half++
				delete(diff, partMessages)
			}
			assert.Empty(t, diff, "%s", strings.Join(told[i], "\n"))
		}
		assert.Greater(t, failed, 50, "many are rejected")
		assert.Greater(t, len(told)-failed, 50, "and many are not")
		assert.Less(t, half, 5)
	})
	for _, d := range deviations {
		t.Run(d.rule, func(t *testing.T) {
			told := streams(d.thing, 60)
			differ := 0
			for i, theirs := range foldOfficially(t, dir, told) {
				ours := playEvents(frames(told[i]), nil)
				diff := compare(t, ours, theirs)
				if splitOverEnd(ours, theirs) {
					delete(diff, partMessages)
				}
				if len(diff) > 0 {
					differ++
				}
				for part, text := range diff {
					assert.Contains(t, d.parts, part, "%s\n%s", text, strings.Join(told[i], "\n"))
				}
			}
			assert.Positive(t, differ, "what never differs needs no exception")
			assert.Less(t, differ, len(told), "not everything differs")
		})
	}
}

// streams tells n streams with one thing that the official client takes differently, or none.
func streams(thing string, n int) [][]string {
	told := make([][]string, n)
	for seed := range told {
		g := newTeller(&source{rand: rand.New(rand.NewPCG(uint64(seed), 1))})
		g.only = thing
		g.wild = []int{0, 0, 2, 15}[seed%4]
		told[seed] = g.tell(20 + g.n(100))
	}
	return told
}

// foldOfficially folds the streams with the official client.
func foldOfficially(t *testing.T, dir string, told [][]string) []official {
	tmp := t.TempDir()
	args := []string{filepath.Join(dir, "fold.mjs")}
	for i, lines := range told {
		file := filepath.Join(tmp, fmt.Sprint(i, ".json"))
		require.NoError(t, os.WriteFile(file, []byte("["+strings.Join(lines, ",\n")+"]"), 0o600))
		args = append(args, file)
	}
	cmd := exec.CommandContext(t.Context(), "node", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	require.Len(t, lines, len(told))
	all := make([]official, len(told))
	for i, line := range lines {
		require.NoError(t, json.Unmarshal(line, &all[i]))
	}
	return all
}

// compare returns the parts in which the two differ, with what they are. Once one of them has rejected what
// the other continued with, only that is compared. That a stream ended early is an error of ours alone (D-10)
// and not compared.
func compare(t *testing.T, ours played, theirs official) map[string]string {
	diff := map[string]string{}
	outcome := "completed"
	if ours.err != nil {
		outcome = "failed"
	}
	if outcome != theirs.Outcome {
		diff[partOutcome] = fmt.Sprintf("outcome: ours %s %v, theirs %s %s", outcome, ours.err, theirs.Outcome, theirs.Error)
		return diff
	}
	if a, b := ours.types(), strings.Join(theirs.EventTypes, " "); a != b {
		diff[partTypes] = "types: ours   " + a + "\ntheirs " + b
		return diff
	}
	th := ours.r.End(nil)
	text, err := state.Parse(th.AppendJSON(nil))
	require.NoError(t, err)
	pending := state.Value{}
	for _, s := range ours.deliveries {
		if e, ok := s.Event.(*event.RunFinished); ok && (e.Outcome.Type == "" || e.Outcome.Type == event.OutcomeSuccess) {
			for _, run := range th.Runs.All() {
				if run.ID == e.RunID {
					var ids []state.Value
					for _, id := range run.PendingToolCallIDs {
						ids = append(ids, state.String(id))
					}
					pending = state.Array(ids...)
				}
			}
		}
	}
	for part, both := range map[string]struct {
		ours   state.Value
		theirs json.RawMessage
	}{
		partMessages:   {text.Get("messages"), theirs.Messages},
		partState:      {text.Get("state"), theirs.State},
		partInterrupts: {text.Get("interrupts"), theirs.Interrupts},
		partPending:    {pending, theirs.Pending},
	} {
		var v state.Value
		if both.theirs != nil {
			v, err = state.Parse(wellFormed(t, both.theirs))
			require.NoError(t, err)
		}
		if part == partPending && v.Kind() == state.KindArray { // D-16: theirs also names what cannot be answered any more
			var kept []state.Value
			for _, id := range v.Elements() {
				if strings.Contains(both.ours.String(), id.String()) {
					kept = append(kept, id)
				}
			}
			v = state.Array(kept...)
		}
		if !v.Equal(both.ours) {
			diff[part] = fmt.Sprintf("%s:\nours   %s\ntheirs %s", part, both.ours, v)
		}
	}
	return diff
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

// splitOverEnd reports whether all that differs is a surrogate pair whose halves came before and after an
// END. JavaScript joins them; our text is valid once the message is closed.
func splitOverEnd(ours played, theirs official) bool {
	apart := func(s string) string { return strings.ReplaceAll(s, "😀", "��") }
	text, err := state.Parse(ours.r.End(nil).AppendJSON(nil))
	if err != nil {
		return false
	}
	a, errA := state.Parse([]byte(apart(text.Get("messages").String())))
	var v any
	if json.Unmarshal(theirs.Messages, &v) != nil {
		return false
	}
	data, errJ := json.Marshal(v)
	b, errB := state.Parse([]byte(apart(string(data))))
	return errA == nil && errB == nil && errJ == nil && a.Equal(b)
}
