package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// beginning is what a conversation starts from.
type beginning struct {
	options  client.SessionOptions
	shown    *reducer.Thread // what was shown before, nil if nothing
	resume   []event.ResumeEntry
	warnings []event.Warning
}

// empty reports whether nothing was said before.
func (b *beginning) empty() bool {
	return b.options.Thread == nil && len(b.options.Messages) == 0
}

// speaks reports whether there is something to send without a message.
func (b *beginning) speaks() bool {
	return len(b.options.Messages) > 0 || b.options.Thread != nil && len(b.options.Thread.Interrupts) > 0
}

// load reads the files that the flags name.
func (f *runFlags) load(ctx context.Context, t *terminal) (*beginning, error) {
	b := &beginning{}
	var err error
	switch {
	case f.input != "":
		err = b.fromInput(ctx, f.input, t)
	case f.from != "":
		err = b.fromRecording(ctx, f.from, t)
	}
	if err != nil {
		return nil, err
	}
	if f.tools != "" {
		if err := b.addTools(ctx, f.tools, t); err != nil {
			return nil, fmt.Errorf("--tools %s: %w", f.tools, err)
		}
	}
	if f.thread != "" {
		if th := b.options.Thread; th != nil && th.ID != "" && th.ID != f.thread {
			return nil, fmt.Errorf("--thread: the thread of %s is %q", f.from, th.ID)
		}
		b.options.ThreadID = f.thread
	}
	if f.state == "" {
		return b, nil
	}
	text := []byte(f.state)
	if name, ok := strings.CutPrefix(f.state, "@"); ok {
		if text, err = readFile(ctx, name, t); err != nil {
			return nil, fmt.Errorf("--state: %w", err)
		}
	}
	v, err := state.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("--state: %w", err)
	}
	if th := b.options.Thread; th != nil {
		c := *th
		c.State = v
		b.options.Thread = &c
	}
	b.options.State = v
	return b, nil
}

// readFile reads a file, or standard input for "-".
func readFile(ctx context.Context, name string, t *terminal) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(interruptible(ctx, t.stdin))
	}
	return os.ReadFile(name)
}

// fromInput starts from a RunAgentInput.
func (b *beginning) fromInput(ctx context.Context, name string, t *terminal) error {
	text, err := readFile(ctx, name, t)
	if err != nil {
		return fmt.Errorf("--input: %w", err)
	}
	v, err := state.Parse(text)
	if err != nil {
		return fmt.Errorf("--input %s: %w", name, err)
	}
	in, err := b.decode(v)
	if err != nil {
		return fmt.Errorf("--input %s: %w", name, err)
	}
	b.options.ThreadID, b.options.Messages, b.options.State = in.ThreadID, in.Messages, in.State
	b.options.Context, b.options.ForwardedProps = in.Context, in.ForwardedProps
	for _, tool := range in.Tools {
		b.options.Tools = append(b.options.Tools, client.Tool{Tool: tool})
	}
	if b.resume = in.Resume; len(b.resume) > 0 {
		// What is resumed was asked by a run that we have not seen.
		th := &reducer.Thread{ID: in.ThreadID, State: in.State}
		for _, entry := range in.Resume {
			th.Interrupts = append(th.Interrupts, event.Interrupt{ID: entry.InterruptID, Reason: "answered by the input"})
		}
		b.options.Thread = th
	}
	return nil
}

// decode upgrades and reads a run input and keeps the warnings.
func (b *beginning) decode(v state.Value) (*event.RunInput, error) {
	v, legacy := event.UpgradeInput(v)
	in, warnings, err := event.DecodeRunInput(v, false)
	b.warnings = append(append(b.warnings, legacy...), warnings...)
	return in, err
}

// addTools reads tools without functions.
func (b *beginning) addTools(ctx context.Context, name string, t *terminal) error {
	text, err := readFile(ctx, name, t)
	if err != nil {
		return err
	}
	v, err := state.Parse(text)
	if err != nil {
		return err
	}
	in, err := b.decode(state.Object(
		state.Member{Key: "threadId", Value: state.String("")},
		state.Member{Key: "runId", Value: state.String("")},
		state.Member{Key: "messages", Value: state.Array()},
		state.Member{Key: "tools", Value: v},
	))
	if err != nil {
		return err
	}
	for _, tool := range in.Tools {
		b.options.Tools = append(b.options.Tools, client.Tool{Tool: tool})
	}
	return nil
}

// fromRecording goes on with a recorded thread.
func (b *beginning) fromRecording(ctx context.Context, name string, t *terminal) error {
	var src io.Reader = interruptible(ctx, t.stdin)
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return fmt.Errorf("--continue: %w", err)
		}
		defer file.Close()
		src = file
	}
	th, err := foldRecording(ctx, src)
	if err != nil {
		return fmt.Errorf("--continue %s: %w", name, err)
	}
	b.options.Thread, b.shown = th, th
	return nil
}

// foldRecording returns the thread of a recording, however its last run ended. Its warnings were told when it
// was recorded.
func foldRecording(ctx context.Context, src io.Reader) (*reducer.Thread, error) {
	rec, err := recording.Open(src, nil)
	if err != nil {
		return nil, err
	}
	f := recording.NewFolder(rec, nil)
	var cause error
	for _, err := range f.Deliveries() {
		if cause = cmp.Or(err, ctx.Err()); cause != nil {
			break
		}
	}
	if ctx.Err() != nil || cause != nil && f.Seen() == 0 {
		return nil, cause
	}
	return f.End(cause), nil
}
