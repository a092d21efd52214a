package event_test

import (
	"errors"
	"fmt"
	"slices"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

func Example() {
	upgrader, decoder := new(event.Upgrader), event.NewDecoder(nil)
	for _, text := range []string{
		`{"type":"RUN_STARTED","threadId":"t-1","runId":"r-1"}`,
		`{"type":"TEXT_MESSAGE_START","messageId":"m-1","role":"narrator"}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m-1","delta":"Hello"}`,
		`{"type":"HOLOGRAM"}`,
		`{"type":"THINKING_START"}`,
		`{"type":"TEXT_MESSAGE_END"}`,
	} {
		frame, err := event.NewFrame([]byte(text))
		if err != nil {
			fmt.Println("no frame:", err)
			continue
		}
		frame = upgrader.Upgrade(frame).(event.Frame)
		ev, warnings, err := decoder.Decode(frame)
		for _, w := range slices.Concat(frame.Warnings(), warnings) {
			fmt.Println("warning:", w)
		}
		switch ev := ev.(type) {
		case nil:
			fmt.Println("error:", err)
		case *event.TextMessageContent:
			fmt.Printf("%s says %q\n", ev.MessageID, ev.Delta)
		default:
			fmt.Println(ev.Type())
		}
	}
	// Output:
	// RUN_STARTED
	// warning: P-ENF-5 TEXT_MESSAGE_START /role: removed: "narrator" is not recognized
	// TEXT_MESSAGE_START
	// m-1 says "Hello"
	// warning: P-ENF-1 HOLOGRAM: dropped: AG-UI 1.0 knows no event of this type
	// error: <nil>
	// warning: P-CMP-1 THINKING_START: a retired type, converted to REASONING_START
	// REASONING_START
	// error: P-ENF-4 TEXT_MESSAGE_END /messageId: want a string, found nothing
}

func ExampleCheck() {
	err := event.Check(&event.StateDelta{Delta: state.Patch{{Kind: state.OpReplace, Path: "/city"}}})
	var malformed *messages.MalformedError
	if errors.As(err, &malformed) {
		fmt.Println(malformed.Path, "wants", malformed.Want)
	}
	fmt.Println(event.Check(&event.TextMessageEnd{MessageID: "m-1"}))
	// Output:
	// /delta/0/value wants any JSON value
	// <nil>
}

func ExampleFrame_With() {
	frame, _ := event.NewFrame([]byte(`{"type":"CUSTOM","name":"secret","value":{"token":"abc"}}`))
	frame = frame.
		With("value", state.String("(hidden)")).
		WithWarnings(event.Warning{Rule: "redact", Type: frame.TypeName(), Text: "the value was hidden"})
	fmt.Println(string(frame.Data()))
	fmt.Println(frame.Warnings()[0])
	// Output:
	// {"type":"CUSTOM","name":"secret","value":"(hidden)"}
	// redact CUSTOM: the value was hidden
}

func ExampleRunInput_Enforce() {
	in := &event.RunInput{
		ThreadID: "t-1", RunID: "r-2",
		Messages: []*messages.Message{
			{ID: "m-1", Role: messages.RoleUser, Content: messages.Text("Hi")},
			{ID: "m-2", Role: "narrator", Content: messages.Text("Meanwhile")},
		},
	}
	out, warnings, err := in.Enforce()
	fmt.Println(string(out.AppendJSON(nil)), err)
	fmt.Println(warnings[0])
	// Output:
	// {"threadId":"t-1","runId":"r-2","messages":[{"id":"m-1","role":"user","content":"Hi"}]} <nil>
	// P-ENF-3 RunAgentInput /messages/1: removed: /role is "narrator", which is not recognized
}

func ExampleSumUsage() {
	for _, u := range event.SumUsage(
		event.TokenUsage{Model: messages.Some("a"), InputTokens: messages.Some[int64](10)},
		event.TokenUsage{Model: messages.Some("b"), InputTokens: messages.Some[int64](1)},
		event.TokenUsage{Model: messages.Some("a"), InputTokens: messages.Some[int64](5)},
	) {
		text, _ := u.MarshalJSON()
		fmt.Println(string(text))
	}
	// Output:
	// {"model":"a","inputTokens":15}
	// {"model":"b","inputTokens":1}
}
