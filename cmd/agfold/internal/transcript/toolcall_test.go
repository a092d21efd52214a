package transcript

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestToolCall(t *testing.T) {
	th := folded(t, `{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"f","delta":"{\"a\":1}"}`,
		`{"type":"TOOL_CALL_RESULT","messageId":"x","toolCallId":"c","content":"done"}`)
	c, _ := th.ToolCall("c")
	assert.Equal(t, "▸ f {\"a\": 1}\n  ↳ done\n", Style{}.View(th).ToolCall(c))
}
