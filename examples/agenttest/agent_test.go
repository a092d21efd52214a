package agenttest

import (
	"testing"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWeather(t *testing.T) {
	s := client.NewSession(client.Emit(Weather), &client.SessionOptions{Strict: true})
	res, err := s.Send(t.Context(), messages.UserText("How warm is it in Oslo?"))
	require.NoError(t, err) // no violation, nothing unknown, not cut off
	require.Equal(t, reducer.Succeeded, res.Status)

	call, _ := res.Thread.ToolCall("call-1")
	require.NotNil(t, call)
	args, err := call.Args()
	require.NoError(t, err)
	city, err := state.At[string](args, "/city")
	require.NoError(t, err)
	assert.Equal(t, "Oslo", city)
	assert.Equal(t, messages.ToolCallAnswered, call.Status)

	answer, _ := res.Thread.Message("answer-1")
	require.NotNil(t, answer)
	assert.Equal(t, "It is 4 °C in Oslo.", answer.Text())
}
