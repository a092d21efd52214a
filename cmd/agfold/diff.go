package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/cmd/agfold/internal/transcript"
	"github.com/agfold/agfold/compare"
	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// diffFlags is the command line of agfold diff.
type diffFlags struct {
	JSON     bool     `help:"Print one JSON object: same, divergence (of the streams, or null), differences, more."`
	ExactIDs bool     `name:"exact-ids" help:"Compare ids as they are. Otherwise ids that stand in the same places stand for each other."`
	Ignore   []string `placeholder:"SECTION" help:"Leave out: runs, messages, calls, state, usage, metadata, subagents or interrupts."`
	Full     bool     `help:"Show values in full."`
	MaxEvent int      `placeholder:"MIB" default:"64" help:"The largest event to accept, in MiB (64)."`
	A        string   `arg:"" name:"A" help:"A recording, or the JSON of a thread; - is standard input."`
	B        string   `arg:"" name:"B" help:"The one to compare with."`
}

// Help is what --help says before the flags.
func (f *diffFlags) Help() string {
	return `Compares what two recordings came to: the first event at which they part, then runs, messages, calls,
state and usage by path. It does not matter how texts were split into deltas, or which ids were made
up. A or B may also be a thread, as agfold replay --json prints it.`
}

func (f *diffFlags) epilog() string {
	return `Exit status:
  0    A and B are the same
  1    they differ
  2    wrong usage
  4    A or B is cut off or empty; what is there was compared, and is the same
  5    A or B cannot be read; or the output cannot be written
  130  stopped by Ctrl-C

Examples:
  agfold diff before.sse after.sse
  agfold diff run.sse golden.json --ignore usage,metadata
`
}

func (f *diffFlags) check() string {
	for _, name := range f.Ignore {
		if !slices.Contains(compare.Sections(), name) {
			return fmt.Sprintf("--ignore %s: want one of %s", name, strings.Join(compare.Sections(), ", "))
		}
	}
	if f.A == "-" && f.B == "-" {
		return "- can be read only once"
	}
	return wrongMaxEvent(f.MaxEvent)
}

// side is one of the two that are compared.
type side struct {
	name   string
	data   []byte // of standard input
	thread *reducer.Thread
	events bool // it is a recording
	status int
}

func (f *diffFlags) run(ctx context.Context, t *terminal) int {
	a, b := f.side(ctx, f.A, t), f.side(ctx, f.B, t)
	if status := max(a.status, b.status); status == exitUnreadable || status == exitInterrupted {
		return status
	}
	o := &compare.Options{ExactIDs: f.ExactIDs, Ignore: f.Ignore}
	report := compare.Threads(a.thread, b.thread, o)
	var parted *compare.Divergence
	if a.events && b.events && !report.Same() {
		parted = f.streams(a, b, o)
	}
	if f.JSON {
		f.printJSON(t, report, parted)
	} else {
		f.print(t, report, parted)
	}
	if status := t.written(t.stdout.Flush()); status != exitOK {
		return status
	}
	if !report.Same() {
		return exitFailed
	}
	return max(a.status, b.status)
}

// side reads a recording or a thread.
func (f *diffFlags) side(ctx context.Context, name string, t *terminal) *side {
	s := &side{name: name, thread: new(reducer.Thread)}
	in, err := s.open(ctx, t)
	if err != nil {
		t.say("agfold: %s: %v", name, err)
		s.status = exitUnreadable
		return s
	}
	defer in.Close()
	s.thread, err = recording.Fold(interruptible(ctx, in), &recording.FoldOptions{MaxEventBytes: f.MaxEvent << 20})
	s.events = true
	if errors.Is(err, recording.ErrThread) {
		s.events = false
		if err = s.readThread(ctx, t); err != nil {
			t.say("agfold: %s: %v", name, err)
			s.status = exitUnreadable
		}
		return s
	}
	if s.thread.Status() == reducer.Rejected { // is part of what is compared
		return s
	}
	switch _, format := errors.AsType[*recording.FormatError](err); {
	case ctx.Err() != nil:
		t.say("agfold: %s: stopped", name)
		s.status = exitInterrupted
	case errors.Is(err, recording.ErrNoRun):
		t.say("agfold: %s: it holds no events", name)
		s.status = exitTruncated
	case errors.Is(err, reducer.ErrTruncated) && !format:
		t.say("agfold: %s: %v", name, err)
		s.status = exitTruncated
	case err != nil && s.thread.Status() != reducer.Failed:
		t.say("agfold: %s: %v", name, err)
		s.status = exitUnreadable
	}
	return s
}

// open opens the side anew. Standard input is kept, because it is read twice.
func (s *side) open(ctx context.Context, t *terminal) (io.ReadCloser, error) {
	if s.name != "-" {
		in, _, err := openRecording(ctx, s.name, t)
		return in, err
	}
	if s.data == nil {
		data, err := readFile(ctx, s.name, t)
		if err != nil {
			return nil, err
		}
		s.data = append([]byte{}, data...)
	}
	return io.NopCloser(bytes.NewReader(s.data)), nil
}

// readThread reads the side as the JSON of a thread.
func (s *side) readThread(ctx context.Context, t *terminal) error {
	data := s.data
	if data == nil {
		var err error
		if data, err = os.ReadFile(s.name); err != nil {
			return unnamed(err)
		}
	}
	s.thread = new(reducer.Thread)
	return s.thread.UnmarshalJSON(data)
}

// streams finds where the two recordings part, nil if that cannot be said.
func (f *diffFlags) streams(a, b *side, o *compare.Options) *compare.Divergence {
	var recs [2]*recording.Recording
	for i, s := range []*side{a, b} {
		in, err := s.open(context.Background(), nil)
		if err != nil {
			return nil
		}
		defer in.Close()
		if recs[i], err = recording.Open(in, &recording.Options{MaxEventBytes: f.MaxEvent << 20}); err != nil {
			return nil
		}
	}
	d, _ := compare.Streams(recs[0], recs[1], o)
	return d
}

// print prints what differs as text.
func (f *diffFlags) print(t *terminal, report *compare.Report, parted *compare.Divergence) {
	if report.Same() {
		t.stdout.Print(term.Lit("no difference\n"))
		return
	}
	if parted != nil {
		where := func(line int) term.Text {
			if line == 0 {
				return term.Lit("at its end")
			}
			return term.Sprintf("in line %d", line)
		}
		shown := parted.A
		if !shown.Exists() {
			shown = parted.B
		}
		typ, _ := shown.Get("type").AsString()
		t.stdout.Print(term.Sprintf("run %d parts at %s%s: A %s, B %s\n", parted.Run, typ, term.Line(parted.Path), where(parted.LineA), where(parted.LineB)))
		a, _ := parted.A.Lookup(parted.Path)
		b, _ := parted.B.Lookup(parted.Path)
		f.values(t, a, b)
	}
	last := ""
	for _, d := range report.Differences {
		if d.Where != last {
			last = d.Where
			t.stdout.Print(term.Lit("\n"), t.color.Paint(term.Bold, term.Line(d.Where)), term.Lit("\n"))
		}
		t.stdout.Print(term.Sprintf("  %s\n", d.Path))
		f.values(t, d.A, d.B)
	}
	if report.More > 0 {
		t.stdout.Print(term.Sprintf("\nand %s\n", transcript.Count(report.More, "more difference")))
	}
}

// values prints what is in A and what is in B, around the place where they differ.
func (f *diffFlags) values(t *terminal, a, b state.Value) {
	x, y := a.String(), b.String()
	if !f.Full {
		x, y = around(x, y, max(t.width, 80)-8)
	}
	if a.Exists() {
		t.stdout.Print(t.color.Paint(term.Red, term.Sprintf("    - %s", x)), term.Lit("\n"))
	}
	if b.Exists() {
		t.stdout.Print(t.color.Paint(term.Green, term.Sprintf("    + %s", y)), term.Lit("\n"))
	}
}

// around shortens two texts to n bytes from shortly before the place where they differ.
func around(a, b string, n int) (string, string) {
	if len(a) <= n && len(b) <= n {
		return a, b
	}
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	cut := func(s string) string {
		from := max(0, min(same-n/3, len(s)-n))
		to := min(len(s), from+n)
		for from > 0 && !utf8.RuneStart(s[from]) {
			from--
		}
		for to < len(s) && !utf8.RuneStart(s[to]) {
			to++
		}
		out := s[from:to]
		if from > 0 {
			out = "…" + out
		}
		if to < len(s) {
			out += "…"
		}
		return out
	}
	return cut(a), cut(b)
}

// printJSON prints what differs as one JSON object.
func (f *diffFlags) printJSON(t *terminal, report *compare.Report, parted *compare.Divergence) {
	type difference struct {
		Section string `json:"section"`
		Where   string `json:"where"`
		Path    string `json:"path"`
		A       any    `json:"a,omitempty"`
		B       any    `json:"b,omitempty"`
	}
	type divergence struct {
		Event int    `json:"event"`
		Run   int    `json:"run"`
		LineA int    `json:"lineA"`
		LineB int    `json:"lineB"`
		Path  string `json:"path"`
		A     any    `json:"a"`
		B     any    `json:"b"`
	}
	raw := func(v state.Value) any {
		if !v.Exists() {
			return nil
		}
		return json.RawMessage(v.AppendJSON(nil))
	}
	out := struct {
		Same        bool         `json:"same"`
		Divergence  *divergence  `json:"divergence"`
		Differences []difference `json:"differences"`
		More        int          `json:"more"`
	}{Same: report.Same(), Differences: []difference{}, More: report.More}
	if parted != nil {
		out.Divergence = &divergence{parted.Event, parted.Run, parted.LineA, parted.LineB, parted.Path, raw(parted.A), raw(parted.B)}
	}
	for _, d := range report.Differences {
		out.Differences = append(out.Differences, difference{d.Section, d.Where, d.Path, raw(d.A), raw(d.B)})
	}
	text, _ := json.Marshal(out)
	t.stdout.JSON(text)
}
