// Package weather shows how to test an agent, and a program that talks to one.
package weather

import (
	"context"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

// Weather is the agent under test: it looks the weather up and says what it found.
func Weather(_ context.Context, in event.RunInput, emit func(...event.Event) error) error {
	call, result, answer := in.RunID+"-call", in.RunID+"-result", in.RunID+"-answer" // new in each run
	return emit(
		&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID},
		&event.ToolCallStart{ToolCallID: call, ToolCallName: "weather"},
		&event.ToolCallArgs{ToolCallID: call, Delta: `{"city":`},
		&event.ToolCallArgs{ToolCallID: call, Delta: `"Oslo"}`},
		&event.ToolCallEnd{ToolCallID: call},
		&event.ToolCallResult{MessageID: result, ToolCallID: call, Content: messages.Text(`{"celsius":4}`)},
		&event.TextMessageChunk{MessageID: messages.Some(answer), Delta: messages.Some("It is 4 °C ")},
		&event.TextMessageChunk{Delta: messages.Some("in Oslo.")},
		&event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID},
	)
}
