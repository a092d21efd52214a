package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/cmd/agfold/internal/demo"
	"github.com/agfold/agfold/serve"
)

const lisbon = "Weekend in Lisbon 1.0, tools, your tools, state snapshots, state patches, subagents, reasoning, interrupts; no images, audio, video, PDF, files"

func TestRunShowsWhatTheAgentDeclares(t *testing.T) {
	got := talk(t, counted(), "", "--verbose", "--yes")
	assert.Equal(t, exitOK, got.status, got.stderr)
	assert.Contains(t, got.stderr, "demo agent declares: "+lisbon)

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/bad" {
			w.Write([]byte(`{"tools":{"supported":"\u001b[2Jyes"}}`))
			return
		}
		if r.URL.Path == "/wrong" {
			w.Write([]byte(`{"state":{"snapshots":false}}`))
			return
		}
		serve.Agent(demo.Agent(0), nil).ServeHTTP(w, r)
	}))
	defer server.Close()
	for declared, want := range map[string]string{
		"/":      lisbon,
		"/bad":   "the agent's capabilities: ",
		"/wrong": "P-CAP-2",
	} {
		got := talk(t, counted(), "", "--url", server.URL, "--verbose", "--capabilities", declared, "--message", "Hi", "--yes")
		assert.Equal(t, exitOK, got.status, "P-CAP-2: %s", got.stderr)
		assert.Contains(t, got.stderr, want, declared)
		assert.NotContains(t, got.stderr, "\x1b")
	}
	got = talk(t, counted(), "", "--url", server.URL, "--verbose", "--message", "Hi", "--yes")
	assert.Contains(t, got.stderr, "declares no capabilities that agfold knows of")
}

func TestLintKnowsWhatTheAgentDeclares(t *testing.T) {
	run := write(t, "run.ndjson", `{"type":"RUN_STARTED","threadId":"t","runId":"r"}
{"type":"STATE_DELTA","delta":[]}
{"type":"RUN_FINISHED","threadId":"t","runId":"r","usage":[]}
`)
	declared := write(t, "declared.json", `{"state":{"deltas":false},"new":1}`)
	got := agfold(t, "", "lint", "--capabilities", declared, run)
	assert.Equal(t, exitFailed, got.status)
	assert.Contains(t, got.stdout, "capability-denied")
	assert.Contains(t, got.stderr, "/new")
	for _, bad := range []string{write(t, "bad.json", `{"state":1}`), write(t, "no.json", "no"), write(t, "big.json", strings.Repeat(" ", 1<<21)), "nowhere.json"} {
		got := agfold(t, "", "lint", "--capabilities", bad, run)
		require.Equal(t, exitUnreadable, got.status, bad)
	}
}
