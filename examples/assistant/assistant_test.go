package assistant

import (
	"testing"

	"github.com/agfold/agfold/agenttest"
	"github.com/agfold/agfold/emit"
	"github.com/agfold/agfold/reducer"
)

func TestItAsksBeforeItBooks(t *testing.T) {
	c := agenttest.Run(t, emit.Agent(Run, nil), "Please book a room")
	c.Call("find_hotel").Arg("/city", "Lisbon")
	c.Ended(reducer.Interrupted).State("/booked", false)
	c.Answer(map[string]bool{"approved": true}).State("/booked", true).Said(`Your answer was resolved: {"approved":true}`)

	c.Say("book another").Decline().State("/booked", false).Said("Your answer was cancelled: ")
}

func TestItGreets(t *testing.T) {
	agenttest.Run(t, emit.Agent(Run, nil), "Good morning").Said("Hello! You said: Good morning")
}
