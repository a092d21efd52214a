package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/client/lenient"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
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

// load reads the files that the flags name.
func (f *runFlags) load(ctx context.Context, t *terminal) (*beginning, error) {
	stateFile, isFile := strings.CutPrefix(f.State, "@")
	if !isFile {
		stateFile = ""
	}
	for _, file := range []struct{ flag, name string }{{"--input", f.Input}, {"--tools", f.Tools}, {"--state", stateFile}} {
		if file.name != "" && f.records(file.name, t) {
			return nil, fmt.Errorf("%s and --record name the same file, which the recording would overwrite", file.flag)
		}
	}
	b := &beginning{}
	var err error
	switch {
	case f.Input != "":
		err = b.fromInput(ctx, f.Input, t)
	case f.Continue != "":
		if err = b.fromRecording(ctx, f, t); err != nil {
			err = fmt.Errorf("--continue %s: %w", f.Continue, advised(unnamed(err)))
		}
	}
	if err != nil {
		return nil, err
	}
	if f.Tools != "" {
		if err := b.addTools(ctx, f.Tools, t); err != nil {
			return nil, fmt.Errorf("--tools %s: %w", f.Tools, unnamed(err))
		}
	}
	if f.Thread != "" {
		if th := b.options.Thread; th != nil && th.ID != "" && th.ID != f.Thread {
			return nil, fmt.Errorf("--thread: the thread of %s is %q", f.Continue, th.ID)
		}
		b.options.ThreadID = f.Thread
	}
	if f.State == "" {
		return b, nil
	}
	text := []byte(f.State)
	if name, ok := strings.CutPrefix(f.State, "@"); ok {
		if text, err = readFile(ctx, name, t); err != nil {
			return nil, fmt.Errorf("--state %s: %w", f.State, unnamed(err))
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

// fromInput starts from a RunAgentInput.
func (b *beginning) fromInput(ctx context.Context, name string, t *terminal) error {
	text, err := readFile(ctx, name, t)
	if err != nil {
		return fmt.Errorf("--input %s: %w", name, unnamed(err))
	}
	v, err := state.Parse(text)
	if err != nil {
		return fmt.Errorf("--input %s: %w", name, err)
	}
	if v.Kind() == state.KindObject { // ids that a stored input may lack: the session makes them
		v = v.With("runId", state.String(""))
		if !v.Get("threadId").Exists() {
			v = v.With("threadId", state.String(""))
		}
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
		// A run that we have not seen asked what is answered.
		th := (&reducer.Thread{ID: in.ThreadID, State: in.State}).ReplaceMessages(in.Messages...)
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
	in, warnings, err := event.DecodeRunInput(v, nil)
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
	if malformed, ok := errors.AsType[*messages.MalformedError](err); ok { // name the list, not the input made for the check
		about := *malformed
		about.Type, about.Path = "tools", strings.TrimPrefix(about.Path, "/tools")
		return &about
	}
	if err != nil {
		return err
	}
	for _, tool := range in.Tools {
		b.options.Tools = append(b.options.Tools, client.Tool{Tool: tool})
	}
	return nil
}

// fromRecording continues a recorded thread, however its last run ended, and says what could not be read. Its other
// warnings were shown when it was recorded. If the new runs are to be appended to the recording, it must be one in which
// they can be found again.
func (b *beginning) fromRecording(ctx context.Context, flags *runFlags, t *terminal) error {
	rec, err := recording.Open(openFile(ctx, flags.Continue, t), &recording.Options{MaxEventBytes: flags.MaxEvent << 20})
	if err != nil {
		return err
	}
	if rec.Form() == recording.FormEmpty {
		return fmt.Errorf("%w: leave --continue out to begin a thread", recording.ErrNoRun)
	}
	appends := flags.appends(t)
	if form := rec.Form(); appends && form != recording.FormAgfold {
		return fmt.Errorf("no run can be appended to a recording of the form %s: name another file with --record", form)
	}
	unread := func(what any) {
		t.say("agfold: --continue %s: %v; agfold continues from the rest", flags.Continue, what)
	}
	o := &recording.FoldOptions{OnWarning: func(w event.Warning) {
		if w.Rule == "recording" {
			unread(w)
		}
	}}
	if flags.Lenient {
		o.Repair = lenient.Repair
	}
	f := recording.NewFolder(rec, o)
	var cause error
	for _, err := range f.Deliveries() {
		if cause = err; cause != nil || ctx.Err() != nil {
			break
		}
	}
	var cut *recording.CutError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case cause != nil && f.Seen() == 0:
		return cause
	case cause != nil && appends && !errors.As(cause, &cut):
		return fmt.Errorf("%w: a run appended after that could not be read; name another file with --record", cause)
	case cause != nil:
		unread(cause)
	}
	th := f.End(cause)
	for _, run := range th.Runs.All() {
		if damage, ok := errors.AsType[*recording.DamageError](run.Err); ok {
			unread(damage)
		}
	}
	b.options.Thread, b.shown = th, th
	return nil
}

// advised returns an error of reading a recording, with what to do if the file is no recording but a thread.
func advised(err error) error {
	if errors.Is(err, recording.ErrThread) {
		return fmt.Errorf("%w; use the recording that agfold run --record FILE writes", err)
	}
	return err
}
