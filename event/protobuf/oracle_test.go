package protobuf_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/event/protobuf"
	"github.com/agfold/agfold/state"
)

var oracleEvents = flag.Int("oracle-events", 60, "random events of each type that are compared with the official packages")

// answered is a line of what testdata/official.mjs says.
type answered struct {
	OK      json.RawMessage
	Error   string
	Unknown bool
}

// askOfficially has the official packages in the folder that AGFOLD_ORACLE names answer each line.
func askOfficially(t *testing.T, lines []string) []answered {
	t.Helper()
	dir := os.Getenv("AGFOLD_ORACLE")
	if dir == "" {
		t.Skip("AGFOLD_ORACLE does not name a folder with the official packages in its node_modules")
	}
	script, err := os.ReadFile("testdata/official.mjs")
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), "node", "--input-type=module", "-e", string(script))
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	var all []answered
	answers := bufio.NewScanner(bytes.NewReader(out))
	answers.Buffer(nil, 16<<20)
	for answers.Scan() {
		var one answered
		require.NoError(t, json.Unmarshal(answers.Bytes(), &one))
		all = append(all, one)
	}
	require.Len(t, all, len(lines))
	return all
}

// told returns random events of all 31 types.
func told(seed uint64, each int) []state.Value {
	g := newTeller(seed)
	var all []state.Value
	for _, typ := range event.Types() {
		if typ.IsRetired() {
			continue
		}
		for range each {
			all = append(all, g.event(typ.String()))
		}
	}
	return all
}

// Our frames of random events are those of the official encoder, byte for byte, and the official decoder reads from them
// what our Reader does (P-PB-2, P-PB-6).
func TestOracleEncodesAndDecodesTheSame(t *testing.T) {
	all := told(1, *oracleEvents)
	var lines []string
	var ours [][]byte
	for _, v := range all {
		f, err := event.FrameOf(v)
		require.NoError(t, err)
		require.NoError(t, event.Check(f), v.String())
		data, warnings, err := protobuf.Binding{}.Append(nil, f)
		require.NoError(t, err, v.String())
		require.Empty(t, warnings, v.String())
		ours = append(ours, data)
		lines = append(lines, fmt.Sprintf(`{"encode":%s}`, v), fmt.Sprintf(`{"decode":%q}`, base64.StdEncoding.EncodeToString(data)))
	}
	answers := askOfficially(t, lines)
	for i, v := range all {
		encoded, decoded := answers[2*i], answers[2*i+1]
		require.Empty(t, encoded.Error, v.String())
		require.Empty(t, decoded.Error, v.String())
		var theirs []byte
		require.NoError(t, json.Unmarshal(encoded.OK, &theirs))
		require.Equal(t, theirs, ours[i], "%s", v)
		official, err := state.Parse(decoded.OK)
		require.NoError(t, err)
		got := readAll(t, theirs)
		require.Len(t, got, 1)
		value := valueOf(t, got[0])
		assert.True(t, official.Equal(value), "of %s\nofficial %s\nours     %s", v, official, value)
	}
}
