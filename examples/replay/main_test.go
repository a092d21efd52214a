package main

import (
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

	assert.Error(t, replay(t.Context(), "../../testdata/cut-off.sse", &out))
}
