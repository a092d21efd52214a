package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReplay(t *testing.T) {
	var out strings.Builder
	require.NoError(t, replay(t.Context(), "../../testdata/chat-tools.sse", &out))
	assert.Regexp(t, `(?m)^thread \S+: \d+ messages, succeeded$`, out.String())
	assert.Contains(t, out.String(), "RUN_FINISHED")

	require.Error(t, replay(t.Context(), "../../testdata/cut-off.sse", &out))
}

func TestReplayOfAnUnknownType(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.ndjson")
	require.NoError(t, os.WriteFile(file, []byte(`{"type":"RUN_STARTED","threadId":"t","runId":"r"}
{"type":"FROM_THE_FUTURE"}
{"type":"RUN_FINISHED","threadId":"t","runId":"r"}
`), 0o600))
	var out strings.Builder
	require.NoError(t, replay(t.Context(), file, &out))
	assert.Equal(t, "thread t: 0 messages, succeeded\nstate {}\n   1 RUN_STARTED\n   3 RUN_FINISHED\n", out.String())
}
