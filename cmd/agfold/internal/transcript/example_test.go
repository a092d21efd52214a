package transcript_test

import (
	"os"

	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/cmd/agfold/internal/transcript"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

func ExampleWriter() {
	thread, _ := reducer.Fold(reducer.Events(
		&event.RunStarted{ThreadID: "thread-1", RunID: "run-1"},
		&event.ToolCallStart{ToolCallID: "call-1", ToolCallName: "get_weather"},
		&event.ToolCallArgs{ToolCallID: "call-1", Delta: `{"city":"Oslo"}`},
		&event.ToolCallEnd{ToolCallID: "call-1"},
		&event.ToolCallResult{MessageID: "m-1", ToolCallID: "call-1", Content: messages.Text("9 °C, partly cloudy")},
		&event.RunFinished{ThreadID: "thread-1", RunID: "run-1"},
	), nil)
	out := term.NewWriter(os.Stdout)
	transcript.NewWriter(out, transcript.Style{Width: 50}, false).Thread(thread)
	out.Flush()
	// Output:
	// thread thread-1 · 2 messages · 1 run · succeeded
	//
	// assistant · call-1
	//   ▸ get_weather · call-1 {"city": "Oslo"}
	//     ↳ 9 °C, partly cloudy
	//
	// ── runs ──────────────────────────────────────────
	// ✓ run-1 · succeeded
}
