package transcript

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestToolCall(t *testing.T) {
	th := folded(t, `{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f","delta":"{\"a\":1}"}`,
		`{"type":"TOOL_CALL_RESULT","messageId":"x","toolCallId":"c","content":"done"}`)
	assert.Equal(t, "assistant · c\n  ▸ f · c {\"a\": 1}\n    ↳ done\n", Style{}.View(th).Message(th.Messages.At(0)).String())
}
