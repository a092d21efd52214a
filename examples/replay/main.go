// Command replay folds a recording and prints the thread, then plays its first run, at the recorded speed if the
// recording has times.
//
//	go run ./examples/replay testdata/chat-tools.sse
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/recording"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: replay FILE")
		os.Exit(2)
	}
	if err := replay(context.Background(), os.Args[1], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func replay(ctx context.Context, file string, out io.Writer) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	th, err := recording.Fold(f, nil)
	if err != nil {
		return err // the stream was rejected or cut; th holds what came before
	}
	fmt.Fprintf(out, "thread %s: %d messages, %s\n", th.ID, th.Messages.Len(), th.Status())
	for _, m := range th.Messages.All() {
		for _, call := range m.ToolCalls.All() {
			fmt.Fprintf(out, "  %s %s: %s\n", call.Name, call.Arguments, call.Status)
		}
	}
	fmt.Fprintf(out, "state %s\n", th.State)

	s := client.NewSession(recording.ReplayFile(file, &recording.ReplayOptions{Speed: 1}), nil)
	for step, err := range s.Run(ctx, nil) {
		if err != nil {
			return err
		}
		if step.Event != nil { // nil: an event of an unknown type delivers nothing
			fmt.Fprintf(out, "%4d %s\n", step.Ordinal, step.Event.Type())
		}
	}
	return nil
}
