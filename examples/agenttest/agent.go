// Package agenttest shows how to test an agent by the thread that its events make, not by the events.
package agenttest

import (
	"context"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

// Weather is the agent under test: it looks the weather up and says what it found.
func Weather(_ context.Context, in event.RunInput, emit func(event.Event) error) error {
	for _, ev := range []event.Event{
		&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID},
		&event.ToolCallStart{ToolCallID: "call-1", ToolCallName: "weather"},
		&event.ToolCallArgs{ToolCallID: "call-1", Delta: `{"city":`},
		&event.ToolCallArgs{ToolCallID: "call-1", Delta: `"Oslo"}`},
		&event.ToolCallEnd{ToolCallID: "call-1"},
		&event.ToolCallResult{MessageID: "result-1", ToolCallID: "call-1", Content: messages.Text(`{"celsius":4}`)},
		&event.TextMessageChunk{MessageID: event.Some("answer-1"), Delta: event.Some("It is 4 °C ")},
		&event.TextMessageChunk{Delta: event.Some("in Oslo.")},
		&event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID},
	} {
		if err := emit(ev); err != nil {
			return err
		}
	}
	return nil
}
