// Package assistant is the agent that the examples talk to if they are given no URL. It uses no model.
package assistant

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/agfold/agfold/emit"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// Run answers the last message. Of "book" it makes a plan in the shared state, calls a tool and asks before it books; of "count" it
// counts until it is stopped; otherwise it greets. It is a function for emit.Agent.
func Run(_ context.Context, run *emit.Run) error {
	in := run.Input()
	said := in.Messages[len(in.Messages)-1].Text()
	switch {
	case len(in.Resume) > 0:
		run.State().Set("/booked", in.Resume[0].Status == event.ResumeResolved)
		return run.Say(fmt.Sprintf("Your answer was %s: %s", in.Resume[0].Status, in.Resume[0].Payload))
	case strings.Contains(said, "book"):
		run.State().Replace(json.RawMessage(`{"city":"Lisbon","nights":2,"hotels":[{"name":"Hotel Central","euros":95}],"booked":false}`))
		call := run.Call("find_hotel", nil)
		call.Args(json.RawMessage(`{"city":"Lisbon","nights":2}`))
		call.Result("Hotel Central, 95 €")
		schema, _ := state.Parse([]byte(`{"type":"object","properties":{"approved":{"type":"boolean"},"note":{"type":"string"}}}`))
		_, err := run.Interrupt(event.Interrupt{Reason: "approval", Message: messages.Some("Book Hotel Central for 95 €?"), ResponseSchema: schema})
		return err
	case strings.Contains(said, "count"):
		text := run.Text(nil)
		for n := 1; ; n++ {
			time.Sleep(20 * time.Millisecond)
			if _, err := fmt.Fprint(text, n, " "); err != nil {
				return err
			}
		}
	}
	return run.Say("Hello! You said: " + said)
}
