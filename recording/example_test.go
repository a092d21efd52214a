package recording_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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

func ExampleRecording_Entries() {
	recorded := `{"agfold":"recording/1","input":{"threadId":"t","runId":"r","messages":[{"id":"u","role":"user","content":"Hi"}]}}
{"at":132.5,"event":{"type":"RUN_STARTED","threadId":"t","runId":"r"}}
{"at":940,"error":"connection reset by peer","truncated":true}
`
	rec, err := recording.Open(strings.NewReader(recorded), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for e, err := range rec.Entries() {
		switch {
		case err != nil:
			fmt.Println("cannot be read:", err)
		case e.Head != nil:
			fmt.Println("a run begins with", e.Head.Input.Messages[0].Text())
		case e.Err != nil:
			fmt.Println(e.At, "the stream ended:", e.Err)
		default:
			fmt.Println(e.At, e.Event.Type())
		}
	}
	// Output:
	// a run begins with Hi
	// 132.5ms RUN_STARTED
	// 940ms the stream ended: connection reset by peer
}

func ExampleFold() {
	events := `{"type":"RUN_STARTED","threadId":"t","runId":"r"}
{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"Hello."}
{"type":"RUN_FINISHED","threadId":"t","runId":"r"}
`
	th, err := recording.Fold(strings.NewReader(events), nil)
	fmt.Println(th.Status(), err)
	for _, m := range th.Messages.All() {
		fmt.Println(m.Role+":", m.Text())
	}
	// Output:
	// succeeded <nil>
	// assistant: Hello.
}

func ExampleFolder() {
	events := `{"type":"RUN_STARTED","threadId":"t","runId":"r"}
{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"Hel"}
{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"lo."}
{"type":"RUN_FINISHED","threadId":"t","runId":"r"}
`
	rec, err := recording.Open(strings.NewReader(events), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	f := recording.NewFolder(rec, nil)
	for d, err := range f.Deliveries() {
		if err != nil {
			fmt.Println(err)
			break
		}
		if d.Event.Type() == event.TypeTextMessageContent {
			fmt.Println(f.Thread().Messages.At(0).Text()) // the thread as it is right then
		}
	}
	fmt.Println(f.End(nil).Status(), f.Err())
	// Output:
	// Hel
	// Hello.
	// succeeded <nil>
}

func ExampleCreate() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	w, err := recording.Create(filepath.Join(dir, "run.jsonl"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = recording.Create(filepath.Join(dir, "run.jsonl"), nil)
	fmt.Println(errors.Is(err, recording.ErrLocked))
	w.Head(&event.RunInput{ThreadID: "t", RunID: "r"}, time.Now()) // client.Record calls these
	w.Event(&event.RunStarted{ThreadID: "t", RunID: "r"}, 0)
	fmt.Println(w.Close()) // the first error of writing
	// Output:
	// true
	// <nil>
}
