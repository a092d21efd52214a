package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/recording"
)

// longRun is a file with a run of n deltas, which lie two windows apart.
func longRun(t *testing.T, n int) string {
	t.Helper()
	var b bytes.Buffer
	fmt.Fprintln(&b, `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`)
	fmt.Fprintln(&b, `{"type":"TEXT_MESSAGE_START","messageId":"m"}`)
	for i := range n {
		fmt.Fprintf(&b, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"<%d>"}`+"\n", i)
	}
	name := filepath.Join(t.TempDir(), "long.ndjson")
	require.NoError(t, os.WriteFile(name, b.Bytes(), 0o600))
	return name
}

func TestStepsBackBeyondWhatIsKept(t *testing.T) {
	const n = windowSize * 2
	name := longRun(t, n)
	opened := 0
	s, err := newStepper(func() (*recording.Recording, func(), error) {
		opened++
		f, err := os.Open(name)
		if err != nil {
			return nil, nil, err
		}
		rec, err := recording.Open(f, nil)
		return rec, func() { f.Close() }, err
	})
	require.NoError(t, err)
	defer s.close()
	require.True(t, s.to(n+2))
	assert.False(t, s.forward())
	assert.LessOrEqual(t, len(s.window), windowSize)
	require.True(t, s.back())
	assert.Equal(t, n+1, s.position())
	assert.Equal(t, 1, opened, "what is kept is not folded again")

	require.True(t, s.to(5))
	assert.Equal(t, 2, opened)
	assert.Equal(t, "<0><1><2>", s.current().after.Messages.At(0).Text())
	assert.Equal(t, "<0><1>", s.current().before.Messages.At(0).Text())

	require.True(t, s.to(n+2))
	require.True(t, s.find(true, func(st *oneStep) bool { return strings.Contains(st.text, "<7>") }))
	assert.Equal(t, 10, s.position())
	assert.False(t, s.find(true, func(*oneStep) bool { return false }))
	assert.Equal(t, 10, s.position(), "it stays where it was")
	require.True(t, s.to(0))
	assert.Nil(t, s.current())
	assert.False(t, s.back())
}

func TestStepWithKeys(t *testing.T) {
	walk := func(keys io.Reader) (string, *stepSession) {
		var stdout, stderr bytes.Buffer
		on := newTerminal(keys, &stdout, &stderr)
		s, err := newStepper(func() (*recording.Recording, func(), error) {
			f, err := os.Open(recordings + "/shared-state.json")
			require.NoError(t, err)
			rec, err := recording.Open(f, nil)
			return rec, func() { f.Close() }, err
		})
		require.NoError(t, err)
		t.Cleanup(s.close)
		x := &stepSession{stepFlags: new(stepFlags), t: on, s: s}
		assert.Equal(t, exitOK, x.walk(t.Context(), func() (int, int) { return 80, 24 }))
		return stdout.String(), x
	}
	for _, row := range []struct {
		keys string
		at   int
	}{
		{"q", 1}, {"\x1b[Cq", 2}, {"  \x1b[Dq", 2}, {"w\x03", 39}, {":12\rq", 12}, {"/Tomato\x7f\rq", 5}, {":12\x1bq", 1}, {"Gq", 53}, {"", 1}, {"n:q\rn", 2},
	} {
		_, x := walk(strings.NewReader(row.keys))
		assert.Equal(t, row.at, x.s.position(), "%q", row.keys)
	}
	out, _ := walk(iotest.OneByteReader(strings.NewReader(":state /recipe/title\r:30\r:state /recipe/title\rq")))
	assert.Contains(t, out, "the state has nothing at /recipe/title")
	assert.Contains(t, out, "event 30")
	assert.NotContains(t, strings.ReplaceAll(out, "\x1b[", ""), "\x1b", "only sequences of the screen")
}
