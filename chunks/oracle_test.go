package chunks_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/chunks"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// TestOracle compares the expansion of made-up streams with that of the official client. It takes the
// folder of fold.mjs, with its node_modules, from the environment variable AGFOLD_ORACLE and skips without.
func TestOracle(t *testing.T) {
	oracle := os.Getenv("AGFOLD_ORACLE")
	if oracle == "" {
		t.Skip("AGFOLD_ORACLE is not set")
	}
	const streams = 300
	random := rand.New(rand.NewChaCha8([32]byte{'c', 'h', 'k'}))
	told := make([][]event.Event, streams)
	args := []string{filepath.Join(oracle, "fold.mjs"), "--events"}
	for i := range told {
		told[i] = oracleStream(random)
		encoded, err := json.Marshal(told[i])
		require.NoError(t, err)
		name := filepath.Join(t.TempDir(), "stream.json")
		require.NoError(t, os.WriteFile(name, encoded, 0o600))
		args = append(args, name)
	}
	cmd := exec.CommandContext(t.Context(), "node", args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	answers := lines(string(stdout))
	require.Len(t, answers, streams)

	completed, refused := 0, 0
	for i, answer := range answers {
		var official struct {
			Outcome string
			Error   string
			Events  []json.RawMessage
		}
		require.NoError(t, json.Unmarshal([]byte(answer), &official))
		ours, err := expand(new(chunks.Expander), told[i])
		context := strings.Join(wire(told[i]), "\n") + "\n" + official.Error
		switch {
		case official.Outcome == "completed":
			completed++
			require.NoError(t, err, context)
			require.Len(t, official.Events, len(ours), context)
		case isExpansion(official.Error):
			refused++
			require.ErrorAs(t, err, new(*chunks.Error), context)
			require.Len(t, official.Events, len(ours), context)
		}
		// What its verification rejects, it has delivered up to there.
		require.LessOrEqual(t, len(official.Events), len(ours), context)
		for j, want := range official.Events {
			assert.JSONEq(t, string(want), string(event.Append(nil, ours[j])), context)
		}
	}
	t.Logf("%d completed, %d refused by expansion, %d by verification", completed, refused, streams-completed-refused)
	assert.Greater(t, completed, streams/10)
	assert.Greater(t, refused, streams/10)
}

// isExpansion reports whether an error of the official client is one of expansion, not of verification.
func isExpansion(text string) bool {
	return strings.HasPrefix(text, "First ") || strings.HasPrefix(text, "Ambiguous ") ||
		strings.Contains(text, "does not match the open stream's")
}

// oracleStream makes a run of two subagents with a few chunks that may break rules.
func oracleStream(random *rand.Rand) []event.Event {
	noise := make([]byte, 4096)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	p := &plan{noise}
	all := []event.Event{
		&event.RunStarted{ThreadID: "t", RunID: "r"},
		&event.SubagentStarted{Attribution: event.By(messages.SubagentOwner("s")), Name: "n"},
		&event.SubagentStarted{Attribution: event.By(messages.SubagentOwner("t")), Name: "n"},
	}
	for range 3 + p.n(12) {
		switch p.n(12) {
		case 0:
			all = append(all, &event.Custom{Attribution: event.By(owners[p.n(3)]), Name: "n", Value: state.Int(1)})
		case 1:
			all = append(all, &event.Raw{Attribution: event.By(owners[p.n(3)]), Event: state.Int(1)})
		default:
			all = append(all, p.fairChunk())
		}
	}
	return append(all,
		&event.SubagentFinished{Attribution: event.By(messages.SubagentOwner("t"))},
		&event.SubagentFinished{Attribution: event.By(messages.SubagentOwner("s"))},
		&event.RunFinished{ThreadID: "t", RunID: "r"},
	)
}

// fairChunk returns a chunk that breaks a rule now and then: every owner has its own ids, and what a
// stream was opened with is seldom contradicted.
func (p *plan) fairChunk() event.Event {
	owner, base := owners[p.n(3)], p.base()
	id, delta := maybe(p, "1", "1", "1", "2"), maybe(p, "x", "x", "x", "")
	if number, ok := id.Get(); ok {
		id = messages.Some(owner.String() + number)
	}
	if p.n(20) == 0 {
		owner = owners[p.n(3)]
	}
	switch p.n(3) {
	case 0:
		role := pick[messages.Role](p, "", "", "", "", "", "", "", "", "assistant", "assistant", "assistant", "user")
		return &event.TextMessageChunk{Base: base, Attribution: event.By(owner), MessageID: id, Delta: delta, Role: role}
	case 1:
		name := messages.Some("f")
		switch p.n(20) {
		case 0:
			name = messages.Some("g")
		case 1:
			name = messages.Opt[string]{}
		}
		return &event.ToolCallChunk{Base: base, Attribution: event.By(owner), ToolCallID: id, Delta: delta, ToolCallName: name}
	default:
		return &event.ReasoningMessageChunk{Base: base, Attribution: event.By(owner), MessageID: id, Delta: delta}
	}
}
