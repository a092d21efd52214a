package messages_test

import (
	"encoding/json"
	"fmt"

	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

func Example() {
	question := messages.UserParts(
		messages.TextPart("What is on this picture?"),
		messages.MediaPart(messages.PartImage, messages.Source{Type: messages.SourceURL, Value: "https://example.com/cat.png"}),
	)
	question.ID = "m-1"
	thread := messages.NewList(question)
	longer := thread.Append(messages.AssistantText("A cat."))

	fmt.Println(thread.Len(), longer.Len())
	for _, m := range longer.All() {
		fmt.Println(m.Role, m.Text())
	}
	text, _ := json.Marshal(question)
	fmt.Println(string(text))
	// Output:
	// 1 2
	// user What is on this picture?
	// assistant A cat.
	// {"id":"m-1","role":"user","content":[{"type":"text","text":"What is on this picture?"},{"type":"image","source":{"type":"url","value":"https://example.com/cat.png"}}]}
}

func ExampleToolCall_PartialArgs() {
	call := &messages.ToolCall{Name: "weather", Arguments: `{"city":"Oslo","da`}
	city, _ := state.At[string](call.PartialArgs(), "/city")
	fmt.Println(city)
	_, err := call.Args()
	fmt.Println(err != nil)
	// Output:
	// Oslo
	// true
}

func ExampleMetadata_Merge() {
	old := messages.MetadataOf(state.Member{Key: "model", Value: state.String("a")}, state.Member{Key: "cost", Value: state.Int(1)})
	newer := messages.MetadataOf(state.Member{Key: "cost", Value: state.Null()})
	fmt.Println(old.Merge(newer).Value())
	// Output: {"model":"a","cost":null}
}
