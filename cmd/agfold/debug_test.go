package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// categoriesIn returns the categories of the lines of a debug log.
func categoriesIn(log string) map[string]int {
	found := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^time=.* level=DEBUG .*\bcategory=(\w+)`).FindAllStringSubmatch(log, -1) {
		found[m[1]]++
	}
	return found
}

// debugging runs a command with a debug log.
func debugging(t *testing.T, list string, st stage, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	on := newTerminal(strings.NewReader(""), &stdout, &stderr)
	on.debugList, on.stage = list, st
	status := run(t.Context(), args, on)
	return result{status, stdout.String(), stderr.String()}
}

func TestDebugVariable(t *testing.T) {
	run := []string{"run", "--pace", "0", "--yes"}
	t.Run("a run", func(t *testing.T) {
		quiet := debugging(t, "", counted(), run...)
		require.Equal(t, exitOK, quiet.status, quiet.stderr)
		assert.Empty(t, categoriesIn(quiet.stderr))
		got := debugging(t, "all", counted(), run...)
		require.Equal(t, exitOK, got.status, got.stderr)
		assert.Equal(t, quiet.stdout, got.stdout, "the output is the same")
		found := categoriesIn(got.stderr)
		for _, c := range []string{"input", "transport", "frames", "verify", "fold", "session"} { // the demo agent has no chunks
			assert.Positive(t, found[c], c)
		}
	})
	t.Run("only what is asked for", func(t *testing.T) {
		got := debugging(t, "session, transport", counted(), run...)
		found := categoriesIn(got.stderr)
		assert.Len(t, found, 2)
		assert.Positive(t, found["session"])
		assert.Positive(t, found["transport"])
	})
	t.Run("a replay", func(t *testing.T) {
		got := debugging(t, "chunks,verify,fold,frames", stage{}, "replay", "../../testdata/chunks.ndjson")
		require.Equal(t, exitOK, got.status, got.stderr)
		assert.Len(t, categoriesIn(got.stderr), 4)
		got = debugging(t, "upgrade", stage{}, "replay", "../../testdata/thinking.ndjson")
		assert.Positive(t, categoriesIn(got.stderr)["upgrade"])
		got = debugging(t, "verify", stage{}, "replay", "../../testdata/rejected.ndjson")
		assert.Equal(t, exitRejected, got.status)
		assert.Equal(t, 1, strings.Count(got.stderr, "msg=rejected"))
	})
	t.Run("no live view", func(t *testing.T) {
		st := counted()
		st.size = func() (int, int) { return 80, 24 }
		assert.Contains(t, debugging(t, "", st, run...).stdout, "\x1b[")
		assert.NotContains(t, debugging(t, "session", st, run...).stdout, "\x1b[")
	})
	t.Run("a category that there is not", func(t *testing.T) {
		got := debugging(t, "chunks,verfy", stage{}, run...)
		assert.Equal(t, exitUsage, got.status)
		assert.Contains(t, got.stderr, `agfold run: AGFOLD_DEBUG: "verfy" is not a category of the debug log`)
	})
	t.Run("no secrets, and nothing that a terminal obeys", func(t *testing.T) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("X-Request-Id", "\x1b[31m")
			w.Write([]byte("data: {\"type\":\"RUN_STARTED\u202e\x7f\",\"a\":\"\\u001b[2J\"}\n\n"))
		}))
		defer server.Close()
		got := debugging(t, "all", stage{}, "run", "--message", "Hi", "--header", "Authorization: Bearer SECRET", "--url", server.URL+"/?key=SECRET")
		assert.Positive(t, categoriesIn(got.stderr)["transport"])
		assert.NotContains(t, got.stderr, "SECRET")
		assert.NotContains(t, got.stderr, "\x1b")
		assert.NotContains(t, got.stderr, "\u202e")
		assert.NotContains(t, got.stderr, "\x7f")
	})
	t.Run("the variable", func(t *testing.T) {
		t.Setenv("AGFOLD_DEBUG", "fold")
		assert.Equal(t, os.Getenv("AGFOLD_DEBUG"), systemTerminal().debugList)
	})
}
