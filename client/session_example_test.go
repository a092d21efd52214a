package client_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// forecaster is an agent that asks for the weather with a tool and then answers.
var forecaster = client.Emit(func(_ context.Context, in event.RunInput, emit func(...event.Event) error) error {
	run := []event.Event{&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID}}
	if last := in.Messages[len(in.Messages)-1]; last.Role == messages.RoleTool {
		run = append(run,
			&event.TextMessageStart{MessageID: "answer"},
			&event.TextMessageContent{MessageID: "answer", Delta: "In Oslo: "},
			&event.TextMessageContent{MessageID: "answer", Delta: last.Text()},
			&event.TextMessageEnd{MessageID: "answer"})
	} else {
		run = append(run,
			&event.ToolCallStart{ToolCallID: "call-1", ToolCallName: "weather"},
			&event.ToolCallArgs{ToolCallID: "call-1", Delta: `{"city":"Oslo"}`},
			&event.ToolCallEnd{ToolCallID: "call-1"})
	}
	for _, ev := range append(run, &event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID}) {
		if err := emit(ev); err != nil {
			return err
		}
	}
	return nil
})

// weatherTool answers the forecaster's question.
var weatherTool = client.NewTool("weather", "The weather in a city", func(_ context.Context, args struct {
	City string `json:"city"`
}) (any, error) {
	return "-3 °C and snow", nil
})

func ExampleSession() {
	s := client.NewSession(forecaster, &client.SessionOptions{Tools: []client.Tool{weatherTool}})
	result, err := s.Send(context.Background(), messages.UserText("Weather in Oslo?"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Status, "after", result.Runs, "runs")
	for _, m := range s.Thread().Messages.All() {
		fmt.Printf("%s %q\n", m.Role, m.Text())
	}
	// Output:
	// succeeded after 2 runs
	// user "Weather in Oslo?"
	// assistant ""
	// tool "-3 °C and snow"
	// assistant "In Oslo: -3 °C and snow"
}

func ExampleSession_Subscribe() {
	s := client.NewSession(forecaster, &client.SessionOptions{Tools: []client.Tool{weatherTool}})
	snapshots := s.Subscribe(context.Background())
	go func() {
		defer s.Close() // the final snapshot comes, then the channel closes
		_, _ = s.Send(context.Background(), messages.UserText("Weather in Oslo?"))
	}()
	n := 0
	for now := range snapshots { // draw now here; what is drawn too slowly is skipped
		n = now.Messages.Len()
	}
	fmt.Println(n, "messages in the end")
	// Output:
	// 4 messages in the end
}

func ExampleSession_Run() {
	s := client.NewSession(forecaster, &client.SessionOptions{Tools: []client.Tool{weatherTool}})
	for step, err := range s.Run(context.Background(), &client.RunOptions{
		Messages: []*messages.Message{messages.UserText("Weather in Oslo?")},
	}) {
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Printf("%v %q\n", step.Change.Kind, step.Change.Delta)
	}
	fmt.Println(s.Snapshot().Result.Status)
	// Output:
	// runBegan ""
	// toolCallAdded ""
	// argumentsAppended "{\"city\":\"Oslo\"}"
	// toolCallClosed ""
	// runEnded ""
	// runBegan ""
	// messageAdded ""
	// textAppended "In Oslo: "
	// textAppended "-3 °C and snow"
	// messageClosed ""
	// runEnded ""
	// succeeded
}

func ExampleSession_Resume() {
	deployer := client.Emit(func(_ context.Context, in event.RunInput, emit func(...event.Event) error) error {
		finished := &event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID}
		if len(in.Resume) == 0 {
			finished.Outcome = event.Outcome{Type: event.OutcomeInterrupt, Interrupts: []event.Interrupt{
				{ID: "int-1", Reason: "approval", Message: messages.Some("Deploy to production?")},
			}}
		} else {
			finished.Result = state.String("deployed: " + in.Resume[0].Payload.Get("approved").String())
		}
		_ = emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID})
		return emit(finished)
	})
	s := client.NewSession(deployer, nil)
	result, _ := s.Send(context.Background(), messages.UserText("Ship it."))
	fmt.Println(result.Status, result.Interrupts[0].Message.Or(""))

	result, _ = s.Resume(context.Background(), client.AnswerAll(result.Interrupts, func(in event.Interrupt) client.Answer {
		return client.Resolve(in.ID, map[string]bool{"approved": true})
	})...)
	fmt.Println(result.Status, result.Result)
	// Output:
	// interrupted Deploy to production?
	// succeeded "deployed: true"
}

func ExampleNewTool() {
	type args struct {
		City string `json:"city" jsonschema:"where to look"`
		Days int    `json:"days,omitempty"`
	}
	tool := client.NewTool("weather", "The weather in a city", func(_ context.Context, a args) (any, error) {
		return map[string]any{"city": a.City, "celsius": -3}, nil
	})
	fmt.Println(tool.Parameters.Get("required"), tool.Parameters.Get("properties").Get("city"))

	result, _ := tool.Call(context.Background(), &messages.ToolCall{Name: "weather", Arguments: `{"city":"Oslo"}`})
	fmt.Println(result)
	_, err := tool.Call(context.Background(), &messages.ToolCall{Name: "weather", Arguments: `{"days":2}`})
	fmt.Println(err)
	// Output:
	// ["city"] {"type":"string","description":"where to look"}
	// map[celsius:-3 city:Oslo]
	// invalid arguments for weather: validating root: required: missing properties: ["city"]
}

// A conversation is stored while an interrupt pends, and another process continues it.
func ExampleNewSession_stored() {
	deployer := client.Emit(func(_ context.Context, in event.RunInput, emit func(...event.Event) error) error {
		finished := &event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID}
		if len(in.Resume) == 0 {
			finished.Outcome = event.Outcome{Type: event.OutcomeInterrupt, Interrupts: []event.Interrupt{
				{ID: "int-1", Reason: "approval", Message: messages.Some("Deploy to production?")},
			}}
		} else {
			finished.Result = state.String("deployed: " + in.Resume[0].Payload.Get("approved").String())
		}
		_ = emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID})
		return emit(finished)
	})
	s := client.NewSession(deployer, nil)
	result, _ := s.Send(context.Background(), messages.UserText("Ship it."))
	fmt.Println(result.Status)
	text, err := json.Marshal(s.Thread()) // into a file or a database
	if err != nil {
		fmt.Println(err)
		return
	}
	s.Close()

	var th reducer.Thread
	if err := json.Unmarshal(text, &th); err != nil {
		fmt.Println(err)
		return
	}
	s = client.NewSession(deployer, &client.SessionOptions{Thread: &th})
	defer s.Close()
	fmt.Println(th.Interrupts[0].Message.Or(""))
	result, err = s.Resume(context.Background(), client.Resolve(th.Interrupts[0].ID, map[string]bool{"approved": true}))
	fmt.Println(result.Status, result.Result, err)
	// Output:
	// interrupted
	// Deploy to production?
	// succeeded "deployed: true" <nil>
}

func ExampleSession_Start() {
	ctx := context.Background()
	s := client.NewSession(forecaster, &client.SessionOptions{Tools: []client.Tool{weatherTool}, WhenBusy: client.Queue})
	defer s.Close()
	turn, err := s.Start(ctx, &client.RunOptions{Messages: []*messages.Message{messages.UserText("Weather in Oslo?")}})
	if err != nil {
		fmt.Println("not sent:", err)
		return
	}
	res, err := turn.Wait(ctx) // or <-turn.Done(), or snapshots until Phase.Busy() is false
	fmt.Println(res.Status, err)
	fmt.Println(s.Snapshot().Phase)
	// Output:
	// succeeded <nil>
	// idle
}
