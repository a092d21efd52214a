package main

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/agfold/agfold/client"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestChat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		require.NoError(t, chat(t.Context(), client.Emit(echo), strings.NewReader("hello\nbye\n"), &out))
		assert.Contains(t, out.String(), "assistant: You said: hello")
		assert.True(t, strings.HasSuffix(out.String(), "assistant: You said: bye \n[succeeded] "), "the last drawing is the final state")
	})
}
