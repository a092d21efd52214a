// Package assistant is the agent that the examples talk to if they are given no URL. It uses no model.
package assistant

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// Run answers the last message. Of "book" it makes a plan in the shared state, calls a tool and asks before it books; of "count" it
// counts until it is stopped; otherwise it greets. It is a function for client.Emit.
func Run(_ context.Context, in event.RunInput, emit func(...event.Event) error) error {
	said, id := in.Messages[len(in.Messages)-1].Text(), "answer-"+in.RunID
	end := &event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID}
	events := []event.Event{&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID}}
	say := func(text string) {
		events = append(events, &event.TextMessageStart{MessageID: id}, &event.TextMessageContent{MessageID: id, Delta: text}, &event.TextMessageEnd{MessageID: id})
	}
	switch {
	case len(in.Resume) > 0:
		booked := state.Bool(in.Resume[0].Status == event.ResumeResolved)
		events = append(events, &event.StateDelta{Delta: state.Patch{{Kind: state.OpAdd, Path: "/booked", Value: booked}}})
		say(fmt.Sprintf("Your answer was %s: %s", in.Resume[0].Status, in.Resume[0].Payload))
	case strings.Contains(said, "book"):
		call := "call-" + in.RunID
		schema, _ := state.Parse([]byte(`{"type":"object","properties":{"approved":{"type":"boolean"},"note":{"type":"string"}}}`))
		plan, _ := state.Parse([]byte(`{"city":"Lisbon","nights":2,"hotels":[{"name":"Hotel Central","euros":95}],"booked":false}`))
		events = append(events, &event.StateSnapshot{Snapshot: plan}, &event.ToolCallStart{ToolCallID: call, ToolCallName: "find_hotel"},
			&event.ToolCallArgs{ToolCallID: call, Delta: `{"city":"Lisbon","nights":2}`}, &event.ToolCallEnd{ToolCallID: call},
			&event.ToolCallResult{MessageID: "result-" + in.RunID, ToolCallID: call, Content: messages.Text("Hotel Central, 95 €")})
		end.Outcome = event.Outcome{Type: event.OutcomeInterrupt, Interrupts: []event.Interrupt{{
			ID: "approve-" + in.RunID, Reason: "approval", Message: messages.Some("Book Hotel Central for 95 €?"), ResponseSchema: schema,
		}}}
	case strings.Contains(said, "count"):
		if err := emit(append(events, &event.TextMessageStart{MessageID: id})...); err != nil {
			return err
		}
		for n := 1; ; n++ {
			time.Sleep(20 * time.Millisecond)
			if err := emit(&event.TextMessageContent{MessageID: id, Delta: fmt.Sprint(n, " ")}); err != nil {
				return err
			}
		}
	default:
		say("Hello! You said: " + said)
	}
	return emit(append(events, end)...)
}
