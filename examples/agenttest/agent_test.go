package agenttest

import (
	"testing"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWeather(t *testing.T) {
	s := client.NewSession(client.Emit(Weather), &client.SessionOptions{
		OnWarning: func(w event.Warning) { t.Error(w) }, // a patch that does not apply, for instance
		Strict:    true,                                 // nothing that the protocol does not know
	})
	res, err := s.Send(t.Context(), messages.UserText("How warm is it in Oslo?"))
	require.NoError(t, err) // no violation, not cut off
	require.Equal(t, reducer.Succeeded, res.Status)

	require.Len(t, res.NewMessages, 3) // the call, its result, the answer
	call := res.NewMessages[0].ToolCalls.At(0)
	args, err := call.Args()
	require.NoError(t, err)
	city, err := state.At[string](args, "/city")
	require.NoError(t, err)
	assert.Equal(t, "Oslo", city)
	assert.Equal(t, messages.ToolCallAnswered, call.Status)
	assert.Equal(t, "It is 4 °C in Oslo.", res.NewMessages[2].Text())
}
