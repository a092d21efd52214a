package browsertest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// recordingOf writes a recording and returns its path.
func recordingOf(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// busyRecording is a timed recording of one run with n events of an agent and five subagents: messages, calls that are
// waited for, and a state that changes.
func busyRecording(n int) string {
	var b strings.Builder
	b.WriteString(`{"agfold":"recording/1","start":"2026-03-01T10:00:00Z","input":{"threadId":"t","runId":"r","messages":[{"id":"u","role":"user","content":"Go"}],"tools":[],"context":[]}}` + "\n")
	at, written := 0, 0
	event := func(pause int, format string, args ...any) {
		at, written = at+pause, written+1
		fmt.Fprintf(&b, `{"at":%d,"event":`+format+"}\n", append([]any{at}, args...)...)
	}
	event(0, `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`)
	event(1, `{"type":"STATE_SNAPSHOT","snapshot":{"count":0}}`)
	const subagents = 5
	for i := range subagents {
		event(1, `{"type":"SUBAGENT_STARTED","subagentRunId":"s%d","name":"worker %d"}`, i, i)
	}
	for k := 0; written < n-subagents-1-30; k++ {
		tag := ""
		if who := k % (subagents + 1); who < subagents {
			tag = fmt.Sprintf(`,"subagentRunId":"s%d"`, who)
		}
		event(20, `{"type":"TEXT_MESSAGE_START","messageId":"m%d","role":"assistant"%s}`, k, tag)
		for range 5 + k*7%19 {
			event(3, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m%d","delta":"word "%s}`, k, tag)
		}
		event(3, `{"type":"TEXT_MESSAGE_END","messageId":"m%d"%s}`, k, tag)
		if k%3 == 0 {
			event(3, `{"type":"TOOL_CALL_START","toolCallId":"c%d","toolCallName":"search","parentMessageId":"m%d"%s}`, k, k, tag)
			event(3, `{"type":"TOOL_CALL_END","toolCallId":"c%d"%s}`, k, tag)
			event(400, `{"type":"TOOL_CALL_RESULT","messageId":"x%d","toolCallId":"c%d","content":"found"%s}`, k, k, tag)
			event(1, `{"type":"STATE_DELTA","delta":[{"op":"replace","path":"/count","value":%d}]}`, k)
		}
	}
	for written < n-subagents-1 {
		event(1, `{"type":"CUSTOM","name":"tick","value":1}`)
	}
	for i := range subagents {
		event(1, `{"type":"SUBAGENT_FINISHED","subagentRunId":"s%d"}`, i)
	}
	event(1, `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`)
	return b.String()
}
