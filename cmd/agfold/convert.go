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
	JSON     bool   `help:"Print no recording, but one JSON object: form, eventsAfter, bytesAfter."`
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
types stay too: look at the result before you attach it to a bug report.`
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
`
}

func (f *convertFlags) check() string {
	if f.Seed != "" && !f.Redact {
		return "--seed needs --redact"
	}
	return wrongMaxEvent(f.MaxEvent)
}

func (f *convertFlags) run(ctx context.Context, t *terminal) int {
	src, ok := openSource(ctx, f.File, f.MaxEvent, t)
	if !ok {
		return exitUnreadable
	}
	defer src.file.Close()
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
