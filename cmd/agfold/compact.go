package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/recording"
)

// compactFlags is the command line of agfold compact.
type compactFlags struct {
	To       string `enum:",sse,lines,array,object,agfold" default:"" help:"The form to write: sse, lines, array, object or agfold. Otherwise that of FILE."`
	Keep     bool   `help:"Keep RAW and CUSTOM events, and the rawEvent of the events that stay."`
	JSON     bool   `help:"Print no recording, but one JSON object: form, eventsBefore, eventsAfter, bytesAfter."`
	MaxEvent int    `placeholder:"MIB" default:"64" help:"The largest event to accept, in MiB (64)."`
	File     string `arg:"" name:"FILE" help:"A recording; - is standard input."`
}

// Help is what --help says before the flags.
func (f *compactFlags) Help() string {
	return `Prints the shortest ordinary stream that makes the same thread as FILE does, at the end of
each run: deltas merged, patches folded, snapshots that later ones replace dropped, chunks and
retired shapes as ordinary events. Nothing is reordered.`
}

func (f *compactFlags) epilog() string {
	return `Exit status:
  0    FILE was compacted, however its runs ended
  2    wrong usage
  4    FILE is cut off or empty; what came before is printed
  5    FILE is not a recording, or cannot be read; or the output cannot be written
  130  stopped by Ctrl-C

Examples:
  agfold compact run.sse > short.sse
  agfold compact run.sse --json
`
}

func (f *compactFlags) check() string { return wrongMaxEvent(f.MaxEvent) }

// wrongMaxEvent says what is wrong with --max-event.
func wrongMaxEvent(n int) string {
	if n < 1 || n > maxMaxEvent {
		return fmt.Sprintf("--max-event must be from 1 to %d", maxMaxEvent)
	}
	return ""
}

func (f *compactFlags) run(ctx context.Context, t *terminal) int {
	src, ok := openSource(ctx, f.File, f.MaxEvent, t)
	if !ok {
		return exitUnreadable
	}
	defer src.file.Close()
	before := 0
	var tally warningTally
	entries := recording.Compact(src.rec, &recording.CompactOptions{
		PassedThrough: f.Keep, OnWarning: tally.add, OnEvent: func(recording.Entry) { before++ },
	})
	defer func() { t.tell(tally.lines(term.Sprintf("%s: ", f.File))) }()
	return writeRecording(ctx, t, src, src.rec.Input(), f.File, f.To, f.JSON, entries, &before)
}

// writeRecording prints entries in a form, or, as JSON, what they come to.
func writeRecording(ctx context.Context, t *terminal, src *source, input *event.RunInput, name, to string, asJSON bool, entries iter.Seq2[recording.Entry, error], before *int) int {
	form := recording.Form(to)
	if form == "" {
		form = src.rec.Form()
	}
	if form == recording.FormValues || form == recording.FormEmpty {
		form = recording.FormLines
	}
	after := 0
	counted := func(yield func(recording.Entry, error) bool) {
		for e, err := range entries {
			if err == nil && ctx.Err() != nil {
				err = ctx.Err()
			}
			if err == nil && e.Head == nil && e.Err == nil {
				after++
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
	var w io.Writer = &recordingWriter{out: t.stdout}
	var size byteCount
	if asJSON {
		w = &size
	}
	err := recording.Write(w, form, input, counted)
	if asJSON {
		line := struct {
			Form   recording.Form `json:"form"`
			Before *int           `json:"eventsBefore,omitempty"`
			After  int            `json:"eventsAfter"`
			Bytes  int64          `json:"bytesAfter"`
		}{form, before, after, int64(size)}
		text, _ := json.Marshal(line)
		t.stdout.JSON(text)
	}
	if status := t.written(t.stdout.Flush()); status != exitOK {
		return status
	}
	return sourceVerdict(ctx, t, name, after, err)
}

// sourceVerdict says how reading a recording ended, and returns the exit status.
func sourceVerdict(ctx context.Context, t *terminal, name string, events int, err error) int {
	_, cut := errors.AsType[*recording.CutError](err)
	switch {
	case ctx.Err() != nil:
		t.say("agfold: %s: stopped", name)
		return exitInterrupted
	case cut:
		t.say("agfold: %s: %v", name, err)
		return exitTruncated
	case err != nil:
		t.say("agfold: %s: %v", name, err)
		return exitUnreadable
	case events == 0:
		t.say("agfold: %s: it holds no events", name)
		return exitTruncated
	}
	return exitOK
}

// byteCount counts what is written.
type byteCount int64

func (n *byteCount) Write(p []byte) (int, error) {
	*n += byteCount(len(p))
	return len(p), nil
}
