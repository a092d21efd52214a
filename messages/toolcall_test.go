package messages

import (
	"testing"

	"github.com/agfold/agfold/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestArgs(t *testing.T) {
	for _, tc := range []struct{ name, in, want, partial string }{
		{"P-TOL-4 empty arguments are an empty object", ``, `{}`, ``},
		{"P-TOL-4 arguments are JSON by convention", `{"city":"Oslo"}`, `{"city":"Oslo"}`, `{"city":"Oslo"}`},
		{"P-TOL-4 any JSON value will do", `[1]`, `[1]`, `[1]`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := &ToolCall{Arguments: tc.in}
			got, err := c.Args()
			require.NoError(t, err)
			assert.Equal(t, tc.want, got.String())
			assert.Equal(t, tc.partial, c.PartialArgs().String())
		})
	}
	t.Run("P-TOL-4 arguments may not parse", func(t *testing.T) {
		c := &ToolCall{Arguments: `{"city":"Os`}
		_, err := c.Args()
		assert.ErrorAs(t, err, new(*state.SyntaxError))
		assert.Equal(t, `{"city":"Os"}`, c.PartialArgs().String())
	})
}

func TestToolCallStatusNames(t *testing.T) {
	assert.Equal(t, "complete", ToolCallComplete.String())
	assert.Equal(t, "streaming", ToolCallStreaming.String())
	assert.Equal(t, "answered", ToolCallAnswered.String())
}
