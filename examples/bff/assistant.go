package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// assistant is an agent for when there is none: it books after it has asked, counts until it is stopped, or greets.
func assistant(_ context.Context, in event.RunInput, emit func(...event.Event) error) error {
	said, id := in.Messages[len(in.Messages)-1].Text(), "answer-"+in.RunID
	end := &event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID}
	events := []event.Event{&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID}}
	say := func(text string) {
		events = append(events, &event.TextMessageStart{MessageID: id}, &event.TextMessageContent{MessageID: id, Delta: text}, &event.TextMessageEnd{MessageID: id})
	}
	switch {
	case len(in.Resume) > 0:
		say(fmt.Sprintf("Your answer was %s: %s", in.Resume[0].Status, in.Resume[0].Payload))
	case strings.Contains(said, "book"):
		call := "call-" + in.RunID
		schema, _ := state.Parse([]byte(`{"type":"object","properties":{"approved":{"type":"boolean"},"note":{"type":"string"}}}`))
		events = append(events, &event.ToolCallStart{ToolCallID: call, ToolCallName: "find_hotel"},
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
