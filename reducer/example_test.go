package reducer_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

func ExampleFold() {
	th, err := reducer.Fold(reducer.Events(
		&event.RunStarted{ThreadID: "thread-1", RunID: "run-1"},
		&event.TextMessageStart{MessageID: "m1"},
		&event.TextMessageContent{MessageID: "m1", Delta: "4 degrees "},
		&event.TextMessageContent{MessageID: "m1", Delta: "in Oslo."},
		&event.TextMessageEnd{MessageID: "m1"},
		&event.RunFinished{ThreadID: "thread-1", RunID: "run-1"},
	), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(th.Status())
	for _, m := range th.Messages.All() {
		fmt.Println(m.Role, m.ID, m.Text())
	}
	// Output:
	// succeeded
	// assistant m1 4 degrees in Oslo.
}

func ExampleReducer_Deliver() {
	r := reducer.New(nil)
	var first *reducer.Thread
	for _, line := range []string{
		`{"type":"RUN_STARTED","threadId":"thread-1","runId":"run-1"}`,
		`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m1","delta":"Hello"}`,
		`{"type":"TEXT_MESSAGE_CHUNK","delta":" there"}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m2","delta":"?"}`,
	} {
		frame, err := event.NewFrame([]byte(line))
		if err != nil {
			fmt.Println(err)
			return
		}
		for d, err := range r.Deliver(frame) {
			if err != nil {
				fmt.Println(err)
				break
			}
			fmt.Printf("%d %s %s %q\n", d.Ordinal, d.Event.Type(), d.Change.Kind, d.Change.Delta)
		}
		if first == nil && r.Thread().Messages.Len() > 0 {
			first = r.Thread()
		}
	}
	fmt.Println("then:", first.Messages.At(0).Text())
	fmt.Println("now: ", r.Thread().Messages.At(0).Text(), "-", r.Thread().Status())
	// Output:
	// 1 RUN_STARTED runBegan ""
	// 2 TEXT_MESSAGE_START messageAdded ""
	// 2 TEXT_MESSAGE_CONTENT textAppended "Hello"
	// 3 TEXT_MESSAGE_CONTENT textAppended " there"
	// 4 TEXT_MESSAGE_END messageClosed ""
	// P-VER-2 event 4 TEXT_MESSAGE_CONTENT: the text message "m2" is not open
	// then: Hello
	// now:  Hello there - rejected
}

func ExampleThread() {
	patch, err := state.Parse([]byte(`[{"op":"add","path":"/trip","value":{"city":"Bergen","nights":2}}]`))
	if err != nil {
		fmt.Println(err)
		return
	}
	delta, err := state.ParsePatch(patch)
	if err != nil {
		fmt.Println(err)
		return
	}
	planner, booker := messages.SubagentOwner("sub-1"), messages.SubagentOwner("sub-2")
	th, err := reducer.Fold(reducer.Events(
		&event.RunStarted{ThreadID: "thread-1", RunID: "run-1"},
		&event.SubagentStarted{Attribution: event.By(planner), Name: "planner"},
		&event.SubagentStarted{Attribution: event.By(booker), Name: "booker", ParentSubagentRunID: planner},
		&event.StateDelta{Attribution: event.By(planner), Delta: delta},
		&event.ToolCallStart{Attribution: event.By(booker), ToolCallID: "call-1", ToolCallName: "find_room"},
		&event.ToolCallArgs{ToolCallID: "call-1", Delta: `{"city":"Bergen"}`},
		&event.ToolCallEnd{ToolCallID: "call-1"},
		&event.ToolCallResult{Attribution: event.By(booker), MessageID: "res-1", ToolCallID: "call-1", Content: messages.Text("room 7")},
		&event.SubagentFinished{Attribution: event.By(booker)},
		&event.SubagentFinished{Attribution: event.By(planner)},
		&event.TextMessageStart{MessageID: "m1"},
		&event.TextMessageContent{MessageID: "m1", Delta: "Two nights in Bergen, room 7."},
		&event.TextMessageEnd{MessageID: "m1"},
		&event.RunFinished{ThreadID: "thread-1", RunID: "run-1"},
	), nil)
	if err != nil {
		fmt.Println(err)
		return
	}

	for _, m := range th.Messages.All() {
		fmt.Printf("%s %s %q\n", m.Role, m.Owner, m.Text())
		for _, c := range m.ToolCalls.All() {
			fmt.Println(" ", c.Name, c.Arguments, c.Status)
		}
	}
	nights, err := state.At[int](th.State, "/trip/nights")
	fmt.Println("nights:", nights, err)
	for depth, n := range th.Subagents.Walk() {
		fmt.Println(strings.Repeat("  ", depth)+n.Name, n.Status)
	}
	// Output:
	// assistant sub-2 ""
	//   find_room {"city":"Bergen"} answered
	// tool sub-2 "room 7"
	// assistant (parent) "Two nights in Bergen, room 7."
	// nights: 2 <nil>
	// planner succeeded
	//   booker succeeded
}

func ExampleThread_UnmarshalJSON() {
	first, err := reducer.Fold(reducer.Events(
		&event.RunStarted{ThreadID: "thread-1", RunID: "run-1"},
		&event.TextMessageStart{MessageID: "m1"},
		&event.TextMessageContent{MessageID: "m1", Delta: "Shall I book room 7?"},
		&event.TextMessageEnd{MessageID: "m1"},
		&event.RunFinished{ThreadID: "thread-1", RunID: "run-1", Outcome: event.Outcome{
			Type: event.OutcomeInterrupt, Interrupts: []event.Interrupt{{ID: "int-1", Reason: "approval"}},
		}},
	), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := json.Marshal(first) // into a file or a database
	if err != nil {
		fmt.Println(err)
		return
	}

	var loaded reducer.Thread
	if err := json.Unmarshal(text, &loaded); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(loaded.Status(), loaded.Interrupts[0].ID)
	th, err := reducer.Fold(reducer.Events(
		&event.RunStarted{ThreadID: "thread-1", RunID: "run-2"},
		&event.TextMessageStart{MessageID: "m2"},
		&event.TextMessageContent{MessageID: "m2", Delta: "Booked."},
		&event.TextMessageEnd{MessageID: "m2"},
		&event.RunFinished{ThreadID: "thread-1", RunID: "run-2"},
	), &reducer.Options{Thread: &loaded})
	fmt.Println(th.Status(), th.Messages.Len(), "messages", err)
	// Output:
	// interrupted int-1
	// succeeded 2 messages <nil>
}
