package chunks_test

import (
	"fmt"

	"github.com/agfold/agfold/chunks"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

func Example() {
	x := new(chunks.Expander)
	var out []event.Event
	for _, ev := range []event.Event{
		&event.TextMessageChunk{MessageID: messages.Some("m-1"), Delta: messages.Some("Let me ")},
		&event.TextMessageChunk{Delta: messages.Some("look.")},
		&event.ToolCallChunk{ToolCallID: messages.Some("c-1"), ToolCallName: messages.Some("search"), Delta: messages.Some("{}")},
		&event.RunFinished{ThreadID: "t-1", RunID: "r-1"},
	} {
		var err error
		if out, err = x.Expand(out, ev); err != nil {
			fmt.Println(err)
			return
		}
	}
	for _, ev := range out {
		fmt.Println(ev.Type())
	}
	// Output:
	// TEXT_MESSAGE_START
	// TEXT_MESSAGE_CONTENT
	// TEXT_MESSAGE_CONTENT
	// TEXT_MESSAGE_END
	// TOOL_CALL_START
	// TOOL_CALL_ARGS
	// TOOL_CALL_END
	// RUN_FINISHED
}

// Lanes keep the streams of subagents apart, even where a continuation says no more than who it is from.
func ExampleExpander() {
	x := new(chunks.Expander)
	chunk := func(owner, id, delta string) {
		ev := &event.TextMessageChunk{Attribution: event.By(messages.SubagentOwner(owner)), Delta: messages.Some(delta)}
		if id != "" {
			ev.MessageID = messages.Some(id)
		}
		out, err := x.Expand(nil, ev)
		if err != nil {
			fmt.Println(err)
		}
		for _, ev := range out {
			if c, ok := ev.(*event.TextMessageContent); ok {
				fmt.Printf("%s: %q\n", c.MessageID, c.Delta)
			}
		}
	}
	chunk("writer", "m-1", "Dear ")
	chunk("critic", "m-2", "Too ")
	chunk("writer", "", "all,")
	chunk("critic", "", "formal.")
	chunk("editor", "", "Hm.")
	for owner, id := range x.Open() {
		fmt.Println("still open:", owner, id)
	}
	// Output:
	// m-1: "Dear "
	// m-2: "Too "
	// m-1: "all,"
	// m-2: "formal."
	// P-CHK-2 TEXT_MESSAGE_CHUNK of subagent "editor": the first chunk of a text message needs a messageId
	// still open: writer m-1
	// still open: critic m-2
}

func ExampleExpand() {
	stream := func(yield func(event.Event, error) bool) {
		for _, line := range []string{
			`{"type":"REASONING_MESSAGE_CHUNK","messageId":"m-1","delta":"It rains."}`,
			`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m-2","delta":"Take an umbrella."}`,
			`{"type":"RUN_FINISHED","threadId":"t-1","runId":"r-1"}`,
		} {
			frame, err := event.NewFrame([]byte(line))
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(frame, nil) {
				return
			}
		}
	}
	for ev, err := range chunks.Expand(stream, nil) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(ev.Type())
	}
	// Output:
	// REASONING_MESSAGE_START
	// REASONING_MESSAGE_CONTENT
	// REASONING_MESSAGE_END
	// TEXT_MESSAGE_START
	// TEXT_MESSAGE_CONTENT
	// TEXT_MESSAGE_END
	// RUN_FINISHED
}
