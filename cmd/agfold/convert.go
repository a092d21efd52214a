package main

import (
	"context"
	"crypto/rand"

	"github.com/agfold/agfold/recording"
)

// convertFlags is the command line of agfold convert.
type convertFlags struct {
	To       string `enum:",sse,lines,array,object,agfold" default:"" help:"The form to write: sse, lines, array, object or agfold. Otherwise that of FILE."`
	Redact   bool   `help:"Replace texts, arguments, results, state strings, member names and ids, so that the recording can be shown to others."`
	Seed     string `placeholder:"TEXT" help:"With --redact: replace the same by the same in every call with this secret seed. Otherwise it is random."`
	OTLP     bool   `name:"otlp" help:"Print the runs as OpenTelemetry traces, with the recorded times."`
	Content  int    `placeholder:"BYTES" help:"With --otlp: how much of each text, arguments and result to put into the traces; otherwise none of it."`
	JSON     bool   `help:"Print no recording, but one JSON object: form, eventsAfter, bytesAfter; with --otlp form, traces, spans, times."`
	MaxEvent int    `placeholder:"MIB" default:"64" help:"The largest event to accept, in MiB (64)."`
	File     string `arg:"" name:"FILE" help:"A recording; - is standard input."`
}

// Help is what --help says before the flags.
func (f *convertFlags) Help() string {
	return `Prints a recording in another form:

    sse       server-sent events
    lines     one event per line (NDJSON)
    array     a JSON array of events
    object    a JSON object with "stream" and, if known, the first run's "input"
    agfold    as agfold run --record writes it, with inputs and times

The inputs of further runs become those of RUN_STARTED where the form has no place for them.

--redact keeps what a fold depends on: equal strings become equal ones, lengths, letter case, digits,
punctuation and the shape of JSON stay. Numbers, booleans and the names of tools, steps and activity
types stay too: look at the result before you attach it to a bug report.

--otlp prints OTLP/JSON, which trace viewers such as Jaeger open and OpenTelemetry's collectors read: a
span for each turn, run, message, tool call, step and subagent, each turn a trace on a line of its own.`
}

func (f *convertFlags) epilog() string {
	return `Exit status:
  0    FILE was converted
  2    wrong usage
  4    FILE is cut off or empty; what came before is printed
  5    FILE is not a recording, or cannot be read; or the output cannot be written
  130  stopped by Ctrl-C

Examples:
  agfold convert run.sse --to lines | jq .type
  agfold convert conversation.agfold --redact > report.agfold
  agfold convert conversation.agfold --otlp > traces.jsonl
`
}

func (f *convertFlags) check() string {
	if f.Seed != "" && !f.Redact {
		return "--seed needs --redact"
	}
	switch {
	case f.OTLP && (f.To != "" || f.Redact):
		return "--otlp can't be used with --to or --redact: pipe one call into another"
	case f.Content != 0 && !f.OTLP:
		return "--content needs --otlp"
	case f.Content < 0:
		return "--content counts bytes: it cannot be negative"
	}
	return wrongMaxEvent(f.MaxEvent)
}

func (f *convertFlags) run(ctx context.Context, t *terminal) int {
	src, ok := openSource(ctx, f.File, f.MaxEvent, t)
	if !ok {
		return exitUnreadable
	}
	defer src.file.Close()
	if f.OTLP {
		return f.traces(ctx, t, src)
	}
	entries := src.rec.Entries()
	input := src.rec.Input()
	if f.Redact {
		seed := f.Seed
		if seed == "" {
			seed = rand.Text()
		}
		r := recording.NewRedactor([]byte(seed))
		entries, input = r.Entries(entries), r.Input(input)
	}
	return writeRecording(ctx, t, src, input, f.File, f.To, f.JSON, entries, nil)
}
