package research

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agfold/agfold/agenttest"
	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/emit"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

func model(_ context.Context, prompt string, w io.Writer) error {
	_, err := io.WriteString(w, "About: "+prompt)
	return err
}

func weather(_ context.Context, city string) (int, error) {
	if city == "Atlantis" {
		return 0, errors.New("no such place")
	}
	return len(city), nil
}

func TestTheAgentLooksUpAllCities(t *testing.T) {
	cities, err := state.Of(map[string]any{"cities": []string{"Oslo", "Rome", "Lisbon", "Atlantis"}})
	assert.NoError(t, err)
	c := agenttest.Start(t, emit.Agent(Agent(model, weather), nil), &client.SessionOptions{State: cities}).Say("Go")
	c.Thought("About: What is asked?").Said("About: Is that all?", "About: Sum it up.").Ended(reducer.Interrupted).
		State("/weather", map[string]any{"Oslo": 4, "Rome": 4, "Lisbon": 6}).
		Calls("weather", "weather", "weather", "weather").Subagents("critic succeeded")
}

func TestWhatTheClientIsTold(t *testing.T) {
	c := agenttest.Start(t, emit.Agent(Agent(model, weather), nil), nil)
	_, err := c.Try(nil)
	said, ok := errors.AsType[*reducer.AgentError](err)
	assert.True(t, ok)
	assert.Equal(t, "which cities?", said.Message)
}
