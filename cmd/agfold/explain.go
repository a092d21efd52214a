package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/agfold/agfold/cmd/agfold/internal/rules"
	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/cmd/agfold/internal/transcript"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/reducer"
)

// explainFlags is the command line of agfold explain.
type explainFlags struct {
	JSON     bool   `help:"Print each problem as one JSON object on one line: ordinal, type, rule, rejected, text, path, count, ruleText, events, open, instead."`
	Errors   bool   `help:"Explain only what the stream is rejected for, not warnings."`
	Max      int    `placeholder:"N" default:"20" help:"The most problems to explain (20)."`
	MaxEvent int    `placeholder:"MIB" default:"64" help:"The largest event to accept, in MiB (64)."`
	File     string `arg:"" name:"FILE" help:"A recording; - is standard input."`
}

// Help is what --help says before the flags.
func (f *explainFlags) Help() string {
	return `Explains why a stream is rejected, and its warnings: the event with its neighbors, the rule, what was open
and whose, and what the producer should send instead.`
}

func (f *explainFlags) epilog() string {
	return `Exit status:
  0    the stream is in order, perhaps with warnings
  2    wrong usage
  3    the stream is rejected
  4    FILE is cut off or empty, or a run did not end
  5    FILE is not a recording, or cannot be read; or the output cannot be written
  130  stopped by Ctrl-C

Examples:
  agfold explain run.sse
  agfold explain --json run.sse | jq -r .instead[]
`
}

func (f *explainFlags) check() string {
	if f.Max < 1 {
		return "--max must be at least 1"
	}
	return wrongMaxEvent(f.MaxEvent)
}

// neighbor is an event near a problem.
type neighbor struct {
	Ordinal int    `json:"ordinal"`
	Line    int    `json:"line"`
	Text    string `json:"text"`
}

// problem is something to explain.
type problem struct {
	Ordinal  int         `json:"ordinal"`
	Type     string      `json:"type"`
	Rule     string      `json:"rule"`
	Rejected bool        `json:"rejected"`
	Text     string      `json:"text"`
	Path     string      `json:"path"`
	Count    int         `json:"count"` // of warnings like this one
	RuleText string      `json:"ruleText"`
	Events   []neighbor  `json:"events"`
	Open     []openThing `json:"-"`
	Opens    []string    `json:"open"`
	Instead  []string    `json:"instead"`
}

const neighbors = 3 // events shown before a problem, and after it

// explainer explains one recording.
type explainer struct {
	*explainFlags
	recent   []neighbor
	seen     int
	frame    event.Frame // at hand
	open     *openThings
	problems []*problem
	like     map[string]*problem
	more     int
	broken   bool // the stream at hand was rejected
}

func (f *explainFlags) run(ctx context.Context, t *terminal) int {
	src, ok := openSource(ctx, f.File, f.MaxEvent, t)
	if !ok {
		return exitUnreadable
	}
	defer src.file.Close()
	x := &explainer{explainFlags: f, open: newOpenThings(), like: make(map[string]*problem)}
	status := exitOK
	folder := recording.NewFolder(src.rec, &recording.FoldOptions{
		OnWarning: x.warning,
		OnEntry: func(e recording.Entry) {
			if e.Head != nil {
				x.open, x.broken = newOpenThings(), false
			} else if e.Err == nil {
				x.entry(e)
			}
		},
	})
	var cause error
	for d, err := range folder.Deliveries() {
		if err == nil && ctx.Err() != nil {
			err = ctx.Err()
		}
		if err != nil {
			cause = err
			break
		}
		if d.Event != nil {
			x.open.note(d.Event, d.Ordinal)
		}
		if err := folder.Thread().Err(); err != nil && folder.Thread().Status() == reducer.Rejected && !x.broken {
			x.rejected(err)
			status = exitRejected
		}
	}
	for e, err := range src.rec.Entries() { // what comes after a rejection
		if err != nil || x.seen >= folder.Seen()+neighbors || ctx.Err() != nil {
			break
		}
		if e.Head == nil && e.Err == nil {
			x.entry(e)
		}
	}
	th := folder.End(cause)
	for _, p := range x.problems {
		x.print(t, p)
	}
	if x.more > 0 {
		t.say("agfold: %s: %s more, not shown: use --max", f.File, transcript.Count(x.more, "problem"))
	}
	if err := t.written(t.stdout.Flush()); err != exitOK {
		return err
	}
	if verdict := sourceVerdict(ctx, t, f.File, folder.Seen(), cause); verdict != exitOK {
		return max(status, verdict)
	}
	if th.Status() == reducer.Truncated && status == exitOK {
		t.say("agfold: %s: the stream ends before the run does; still open: %s", f.File, strings.Join(x.opens(), "; "))
		return exitTruncated
	}
	if len(x.problems) == 0 && !f.JSON {
		t.say("agfold: %s: nothing to explain: %s, in order", f.File, transcript.Count(folder.Seen(), "event"))
	}
	return status
}

// entry notes an event.
func (x *explainer) entry(e recording.Entry) {
	x.seen++
	x.frame = e.Event
	text := string(e.Event.Data())
	const most = 1000
	if len(text) > most {
		text = text[:most] + "…"
	}
	n := neighbor{x.seen, e.Line, strings.Clone(text)}
	for i := len(x.problems) - 1; i >= 0 && x.problems[i].Ordinal >= x.seen-neighbors; i-- {
		if p := x.problems[i]; p.Ordinal < x.seen {
			p.Events = append(p.Events, n)
		}
	}
	if x.recent = append(x.recent, n); len(x.recent) > neighbors+1 {
		x.recent = x.recent[1:]
	}
}

// add notes a problem of the event at hand.
func (x *explainer) add(p *problem) {
	if len(x.problems) >= x.Max {
		x.more++
		return
	}
	p.Count, p.RuleText = 1, rules.Text(p.Rule)
	p.Events = append(p.Events, x.recent...)
	p.Opens = x.opens()
	p.Instead = append(p.Instead, rules.Advice(p.Rule))
	x.problems = append(x.problems, p)
}

// opens returns what is open, in words.
func (x *explainer) opens() []string {
	words := []string{}
	for _, o := range x.open.open {
		whose := "the parent agent"
		if id, ok := o.Owner.RunID(); ok {
			whose = fmt.Sprintf("the subagent %q", id)
		}
		words = append(words, fmt.Sprintf("the %s %q of %s, since event %d", o.What, o.ID, whose, o.Ordinal))
	}
	return words
}

func (x *explainer) warning(w event.Warning) {
	if x.Errors {
		return
	}
	key := w.Rule + w.Type + strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, w.Path)
	if p := x.like[key]; p != nil {
		p.Count++
		return
	}
	before := len(x.problems)
	x.add(&problem{Ordinal: w.Ordinal, Type: w.Type, Rule: w.Rule, Text: w.Text, Path: w.Path})
	if len(x.problems) > before {
		x.like[key] = x.problems[before]
	}
}

// rejected notes what the stream was rejected for.
func (x *explainer) rejected(err error) {
	x.broken = true
	p := &problem{Ordinal: x.seen, Type: x.frame.TypeName(), Rejected: true}
	if v, ok := errors.AsType[*reducer.Violation](err); ok {
		p.Rule, p.Text, p.Type = v.Rule, v.Reason, v.Type.String()
		p.Instead = x.instead(v)
	} else if m, ok := errors.AsType[*messages.MalformedError](err); ok {
		p.Rule, p.Path = m.Rule, m.Path
		p.Text = fmt.Sprintf("want %s, found %s", m.Want, m.Found)
		if m.Path != "" {
			p.Instead = append(p.Instead, fmt.Sprintf("%s at %s", m.Want, m.Path))
		}
	}
	x.add(p)
}

// instead returns the events that would have been in order.
func (x *explainer) instead(v *reducer.Violation) (events []string) {
	switch v.Rule {
	case "P-VER-3":
		for i := len(x.open.open) - 1; i >= 0; i-- {
			events = append(events, x.open.open[i].closing())
		}
	case "P-VER-2", "P-VER-4", "P-VER-7":
		is, known := opening[v.Type]
		if !known { // a START of what is open
			for _, o := range x.open.open {
				if o.ID == v.ID {
					return append(events, o.closing())
				}
			}
			return nil
		}
		if at := x.open.closed[openKey{is.what, v.ID, messages.Owner{}}]; at > 0 {
			events = append(events, fmt.Sprintf("nothing: event %d has closed the %s %q", at, is.what, v.ID))
		}
		start := fmt.Sprintf(`{"type":%q,%q:%q`, is.start, is.member, v.ID)
		switch is.start {
		case "TOOL_CALL_START":
			start += `,"toolCallName":"…"`
		case "REASONING_MESSAGE_START":
			start += `,"role":"reasoning"`
		case "SUBAGENT_STARTED":
			start += `,"name":"…"`
		}
		events = append(events, "before it: "+start+"}")
	case "P-VER-1":
		if x.seen == 1 {
			events = append(events, `first: {"type":"RUN_STARTED","threadId":"…","runId":"…"}`)
		}
	}
	return events
}

// print prints a problem.
func (x *explainer) print(t *terminal, p *problem) {
	if x.JSON {
		text, _ := json.Marshal(p)
		t.stdout.JSON(text)
		return
	}
	var b term.Builder
	title := term.Sprintf("%s event %d %s: %s", p.Rule, p.Ordinal, p.Type, p.Text)
	if p.Ordinal == 0 {
		title = term.Sprintf("%s: %s", p.Rule, p.Text)
	}
	if p.Rejected {
		b.Add(t.color.Paint(term.Red, term.Lit("rejected")))
	} else {
		b.Add(t.color.Paint(term.Yellow, term.Lit("warning")))
	}
	b.Add(term.Lit(": "), title)
	if p.Path != "" && !strings.Contains(p.Text, p.Path) {
		b.Add(term.Sprintf(" (%s)", p.Path))
	}
	if p.Count > 1 {
		b.Add(term.Sprintf(" (%d times)", p.Count))
	}
	b.Add(term.Lit("\n\n"))
	width := max(t.width, 80)
	for _, n := range p.Events {
		mark := term.Lit("  ")
		if n.Ordinal == p.Ordinal {
			mark = t.color.Paint(term.Bold, term.Lit("> "))
		}
		b.Add(mark, t.color.Paint(term.Dim, term.Sprintf("%6d", n.Ordinal)), term.Lit("  "), term.Line(n.Text).Clip(width-10), term.Lit("\n"))
	}
	part := func(name term.Constant, lines ...string) {
		if len(lines) > 0 {
			b.Add(term.Lit("\n"), t.color.Paint(term.Bold, term.Lit(name)), term.Lit("\n"))
			for _, line := range lines {
				b.Add(term.Sprintf("  %s\n", line).Fold(width))
			}
		}
	}
	if p.RuleText != "" {
		part("the rule", p.RuleText)
	}
	if p.Rejected {
		if len(p.Opens) == 0 {
			part("open", "nothing was open")
		} else {
			part("open", p.Opens...)
		}
	}
	part("instead", p.Instead...)
	b.Add(term.Lit("\n"))
	t.stdout.Print(b.Text())
}
