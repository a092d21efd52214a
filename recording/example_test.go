package recording_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/recording"
)

func ExampleOpen() {
	capture := `: connected

data: {"type":"RUN_STARTED","threadId":"t","runId":"r"}

data: {"type":"RUN_FINISHED","threadId":"t","runId":"r"}
`
	rec, err := recording.Open(strings.NewReader(capture), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(rec.Form())
	for ev, err := range rec.Events() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(ev.Type())
	}
	// Output:
	// sse
	// RUN_STARTED
	// RUN_FINISHED
}

func ExampleWriter() {
	var file bytes.Buffer
	w := recording.NewWriter(&file)
	start := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	w.Head(&event.RunInput{ThreadID: "t", RunID: "r"}, start)
	w.Event(&event.RunStarted{ThreadID: "t", RunID: "r"}, 132507*time.Microsecond)
	fmt.Print(file.String())
	// Output:
	// {"agfold":"recording/1","start":"2026-03-01T10:00:00Z","input":{"threadId":"t","runId":"r","messages":[]}}
	// {"at":132.507,"event":{"type":"RUN_STARTED","threadId":"t","runId":"r"}}
}

func ExampleNewReplay() {
	recorded := `{"agfold":"recording/1","input":{"threadId":"t","runId":"r","messages":[]}}
{"at":0,"event":{"type":"RUN_STARTED","threadId":"t","runId":"r"}}
{"at":9000,"event":{"type":"RUN_FINISHED","threadId":"t","runId":"r"}}
`
	agent := recording.NewReplay(func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(recorded)), nil }, nil)
	for ev, err := range agent.Run(context.Background(), event.RunInput{}) {
		fmt.Println(ev.Type(), err)
	}
	// Output:
	// RUN_STARTED <nil>
	// RUN_FINISHED <nil>
}
