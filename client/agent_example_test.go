package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/state"
)

func ExampleNewHTTP() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: {\"type\":\"RUN_STARTED\",\"threadId\":\"t-1\",\"runId\":\"r-1\"}\n\n")
		io.WriteString(w, "data: {\"type\":\"RUN_FINISHED\",\"threadId\":\"t-1\",\"runId\":\"r-1\"}\n\n")
	}))
	defer server.Close()

	agent := client.NewHTTP(server.URL, &client.HTTPOptions{Header: http.Header{"Authorization": {"Bearer secret"}}})
	for ev, err := range agent.Run(context.Background(), event.RunInput{ThreadID: "t-1", RunID: "r-1"}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(ev.Type())
	}
	// Output:
	// RUN_STARTED
	// RUN_FINISHED
}

func ExampleEmit() {
	agent := client.Emit(func(ctx context.Context, in event.RunInput, emit func(...event.Event) error) error {
		if err := emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID}); err != nil {
			return err
		}
		return emit(&event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID})
	})
	for ev, err := range agent.Run(context.Background(), event.RunInput{ThreadID: "t-1", RunID: "r-1"}) {
		fmt.Println(ev.Type(), err)
	}
	// Output:
	// RUN_STARTED <nil>
	// RUN_FINISHED <nil>
}

func ExampleChain() {
	agent := client.Emit(func(_ context.Context, _ event.RunInput, emit func(...event.Event) error) error {
		emit(&event.ToolCallStart{ToolCallID: "1", ToolCallName: "delete_everything"})
		return emit(&event.Custom{Name: "done", Value: state.Bool(true)})
	})
	allowed := []string{"weather"}
	chained := client.Chain(agent,
		client.FilterToolCalls(func(name string) bool { return slices.Contains(allowed, name) }),
		client.Peer("0.0.57"),
	)
	for ev := range chained.Run(context.Background(), event.RunInput{ThreadID: "t-1", RunID: "r-1"}) {
		if f, ok := ev.(event.Frame); ok && f.IsNotice() {
			continue // it replaces the call that was filtered
		}
		fmt.Println(ev.Type())
	}
	// Output:
	// CUSTOM
}

func ExampleRecord() {
	agent := client.Emit(func(_ context.Context, in event.RunInput, emit func(...event.Event) error) error {
		return emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID})
	})
	file, err := os.CreateTemp("", "run-*.jsonl")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.Remove(file.Name())
	w := recording.NewWriter(file)
	for range client.Chain(agent, client.Record(w)).Run(context.Background(), event.RunInput{ThreadID: "t", RunID: "r"}) {
	}
	if err := errors.Join(w.Close(), file.Close()); err != nil { // w's is the first error of writing
		fmt.Println(err)
	}

	for ev := range recording.ReplayFile(file.Name(), nil).Run(context.Background(), event.RunInput{}) {
		fmt.Println(ev.Type())
	}
	// Output:
	// RUN_STARTED
}
