package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/agfold/agfold/client/lenient"
	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/cmd/agfold/internal/transcript"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/reducer"
)

// replayFlags is the command line of agfold replay.
type replayFlags struct {
	JSON     bool     `help:"Print each thread as one JSON object on one line: threadId, revision (not that of the live run), status, error, messages (as on the wire), state, runs, subagents, interrupts, pendingToolCallIds, and the warnings (the first 10000, and how many more there were)."`
	Events   bool     `xor:"events,state" help:"Print the events as they are delivered, one per line; with --json each as an object with ordinal, event, change and warnings."`
	State    bool     `xor:"events,state" help:"Print only the state, as JSON; with --json on one line."`
	At       *int     `placeholder:"N" help:"Stop after the Nth event of the FILE, counted from 1 as --events does, and print the thread as it is then."`
	Strict   bool     `help:"Treat what is unknown to the protocol as an error, not as a warning."`
	Lenient  bool     `help:"Repair what some servers are known to get wrong, with a warning; the error of a rejected stream says if that would help."`
	Full     bool     `help:"Leave nothing out, and show metadata. Otherwise long tool results, arguments, activities and states are shortened."`
	MaxEvent int      `placeholder:"MIB" default:"64" help:"The largest event to accept, in MiB (64)."`
	Files    []string `arg:"" name:"FILE" help:"A recording; - is standard input."`
}

// Help is what --help says before the flags.
func (f *replayFlags) Help() string {
	return `A FILE is a recording in one of these forms, recognized by its content:

    server-sent events   a raw capture of a response body, or its data: lines
    NDJSON               one event per line
    JSON array           of events
    JSON object          the events as "stream", and the run's "input" if known
    agfold recording     as agfold run --record writes it

Each FILE is a thread of its own. The runs within a FILE continue one thread.`
}

func (f *replayFlags) epilog() string {
	return `Warnings go to standard error, one line for each rule, type and path, with a count. Text is
colored on a terminal, unless NO_COLOR is set. AGFOLD_DEBUG, a list such as chunks,verify
or all, logs what happens to each event on standard error.

Exit status, the highest of all FILEs:
  0    the last run succeeded, was interrupted or cancelled; with --at, it may also
       be still running
  1    the run failed: it reported RUN_ERROR
  2    wrong usage
  3    the stream was rejected: an event is malformed or broke the protocol
  4    the stream ended before the run did, or holds no run
  5    a FILE is not a recording, or cannot be read; or the output cannot be written
  130  stopped by Ctrl-C

Examples:
  agfold replay run.sse
  curl -sN http://127.0.0.1:8787/ -H 'Content-Type: application/json' \
       -d '{"threadId":"t","runId":"r","messages":[{"id":"1","role":"user","content":"Hello"}]}' | agfold replay -
  agfold replay run.ndjson --json | jq .messages
  agfold replay run.ndjson --events | less
  agfold replay run.ndjson --at 120 --state
`
}

func (f *replayFlags) check() string {
	stdins := 0
	for _, name := range f.Files {
		if name == "-" {
			stdins++
		}
	}
	switch {
	case f.MaxEvent < 1 || f.MaxEvent > maxMaxEvent:
		return fmt.Sprintf("--max-event must be from 1 to %d", maxMaxEvent)
	case f.At != nil && *f.At < 0:
		return "--at counts events: it cannot be negative"
	case stdins > 1:
		return "- can be read only once"
	}
	return ""
}

// replayer is one call of agfold replay.
type replayer struct {
	*replayFlags
	t      *terminal
	style  transcript.Style
	at     int // stop after this event; negative: after the last
	titles bool
	files  int        // the number of files begun
	debug  *debugFold // of the file, nil if the debug log is off
}

func (f *replayFlags) run(ctx context.Context, t *terminal) int {
	r := &replayer{replayFlags: f, t: t, at: -1, titles: len(f.Files) > 1 && !f.JSON}
	r.style = transcript.Style{Width: t.width, Color: t.color, Full: f.Full}
	if f.At != nil {
		r.at = *f.At
	}
	status := exitOK
	for _, name := range f.Files {
		one := r.file(ctx, name)
		status = max(status, one)
		if one >= exitInterrupted {
			return one
		}
	}
	return status
}

// file replays one file and returns its exit status.
func (r *replayer) file(ctx context.Context, name string) int {
	src, size, err := openRecording(ctx, name, r.t)
	if err != nil {
		r.t.say("agfold: %s: %v", name, err)
		return exitUnreadable
	}
	defer src.Close()
	var in io.Reader = src
	var bar *progress
	if r.t.live && size >= progressBytes && !(r.Events && r.t.width > 0) {
		bar = newProgress(r.t, in, name, size)
		in = bar
		defer bar.close()
	}
	if r.titles {
		if r.files > 0 {
			r.t.stdout.Print(term.Lit("\n"))
		}
		r.t.stdout.Print(term.Sprintf("==> %s <==\n", name))
	}
	r.files++
	status, err := r.recording(ctx, name, in, bar)
	if err == nil {
		err = r.t.stdout.Flush()
	}
	if status == exitInterrupted {
		return status
	}
	return max(status, r.t.written(err))
}

// recording replays what in holds. The error is one in writing the output.
func (r *replayer) recording(ctx context.Context, name string, in io.Reader, bar *progress) (int, error) {
	rec, err := recording.Open(in, &recording.Options{MaxEventBytes: r.MaxEvent << 20})
	if err != nil && ctx.Err() == nil {
		r.t.say("agfold: %s: %v", name, advised(err))
		return exitUnreadable, nil
	}
	if err != nil {
		return r.stopped(name, 0), nil
	}
	var kept warningList
	var tally warningTally
	o := &recording.FoldOptions{Strict: r.Strict, Through: max(r.at, 0), OnWarning: func(w event.Warning) {
		if r.JSON && !r.Events && !r.State {
			kept.add(w)
		}
		tally.add(w)
	}}
	if r.Lenient {
		o.Repair = lenient.Repair
	}
	if r.debug = nil; r.t.debug != nil {
		r.debug = &debugFold{log: r.t.debug}
		o.OnEntry = r.debug.entry
	}
	f := recording.NewFolder(rec, o)
	writer := transcript.NewWriter(r.t.stdout, r.style, false)
	err = r.apply(ctx, f, writer, bar)
	r.t.tell(tally.lines(term.Sprintf("%s: ", name)))
	var broken *writeError
	_, cut := errors.AsType[*recording.CutError](err)
	switch {
	case ctx.Err() != nil:
		return r.stopped(name, f.Seen()), nil
	case errors.As(err, &broken):
		return exitOK, broken.error
	case f.Seen() == 0 && err != nil && !cut:
		r.t.say("agfold: %s: %v", name, err)
		return exitUnreadable, nil
	}
	th := f.Thread()
	if !r.reached(f) {
		th = f.End(err)
	}
	if bar != nil {
		bar.clear()
	}
	printed := r.thread(th, writer, kept.all())
	return r.verdict(name, f, th, err), printed
}

// stopped says that the command was interrupted.
func (r *replayer) stopped(name string, seen int) int {
	r.t.say("agfold: %s: stopped after event %d", name, seen)
	return exitInterrupted
}

// apply folds the recording up to the event that --at names.
func (r *replayer) apply(ctx context.Context, f *recording.Folder, writer *transcript.Writer, bar *progress) error {
	if r.reached(f) {
		return nil
	}
	for d, err := range f.Deliveries() {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if bar != nil {
			bar.events = f.Seen()
		}
		if r.debug != nil {
			r.debug.deliver(d, f.Err())
		}
		if !r.Events {
			writer.Deliver(d, f.Thread)
		} else if err := printDelivery(r.t.stdout, d, r.style, r.JSON); err != nil {
			return &writeError{err}
		}
	}
	return nil
}

// printDelivery prints an event as it was delivered.
func printDelivery(out *term.Writer, d reducer.Delivery, style transcript.Style, asJSON bool) error {
	switch {
	case d.Event == nil:
		return nil
	case asJSON:
		text, _ := d.MarshalJSON()
		return out.JSON(text)
	}
	return out.Print(style.Event(d))
}

// writeError is an error in writing the output.
type writeError struct{ error }

// reached reports whether the event that --at names was seen.
func (r *replayer) reached(f *recording.Folder) bool { return r.at >= 0 && f.Seen() >= r.at }

// thread prints the thread in the way that the flags ask for.
func (r *replayer) thread(th *reducer.Thread, writer *transcript.Writer, warnings []event.Warning) error {
	out := r.t.stdout
	switch {
	case r.Events:
		return nil
	case r.State && r.JSON:
		return out.JSON(th.State.AppendJSON(nil))
	case r.State:
		width := r.style.Width
		if width == 0 {
			width = transcript.DefaultWidth
		}
		return transcript.WriteValue(out, th.State, width)
	case r.JSON:
		return out.JSON(appendThread(nil, th, warnings))
	}
	writer.Thread(th)
	return nil
}

// appendThread appends a thread as JSON with the warnings after its own members.
func appendThread(dst []byte, th *reducer.Thread, warnings []event.Warning) []byte {
	dst = th.AppendJSON(dst)
	dst = append(dst[:len(dst)-1], `,"warnings":[`...)
	for i, w := range warnings {
		if i > 0 {
			dst = append(dst, ',')
		}
		text, _ := w.MarshalJSON()
		dst = append(dst, text...)
	}
	return append(dst, "]}"...)
}

// verdict says on standard error what is wrong, if something is, and returns the exit status. cause is the
// error that the recording ended with.
func (r *replayer) verdict(name string, f *recording.Folder, th *reducer.Thread, cause error) int {
	status := exitOK
	switch th.Status() {
	case reducer.Failed:
		status = exitFailed
	case reducer.Rejected:
		status = exitRejected
	case reducer.Truncated, reducer.Stopped, reducer.Unstarted:
		status = exitTruncated
	case reducer.Empty:
		if !r.reached(f) {
			r.t.say("agfold: %s: it holds no run", name)
			status = exitTruncated
		}
	}
	switch err := th.Err(); {
	case err == nil:
	case status == exitRejected:
		r.t.say("agfold: %s: rejected: %v", name, err)
	default:
		r.t.say("agfold: %s: %v", name, err)
	}
	if r.at > f.Seen() && status != exitRejected {
		r.t.say("agfold: %s: --at %d: it holds only %s", name, r.at, transcript.Count(f.Seen(), "event"))
	}
	if cause == nil {
		return status
	}
	if st := th.Status(); st != reducer.Truncated && st != reducer.Unstarted { // otherwise the run's error says it
		r.t.say("agfold: %s: %v", name, cause)
	}
	if _, cut := errors.AsType[*recording.CutError](cause); cut {
		return status
	}
	return exitUnreadable
}
