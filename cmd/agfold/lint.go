package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/cmd/agfold/internal/transcript"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/lint"
)

// lintFlags is the command line of agfold lint.
type lintFlags struct {
	JSON      bool          `xor:"form" help:"Print each finding as one JSON object on one line: file, code, level, ordinal, type, id, text, more, why, mend."`
	SARIF     bool          `name:"sarif" xor:"form" help:"Print the findings as SARIF 2.1.0, which code hosts and editors show."`
	Only      []string      `placeholder:"CODE" help:"Make only these checks; see docs/lint.md for the codes."`
	Off       []string      `placeholder:"CODE" help:"Leave these checks out."`
	Fail      string        `enum:"error,warning,note" default:"warning" help:"The lowest level that makes the exit status 1: error, warning (the default) or note."`
	MaxGap    time.Duration `default:"30s" placeholder:"TIME" help:"The longest time that may pass between two events (30s)."`
	MaxState  int           `placeholder:"KIB" default:"1024" help:"The largest state, in KiB (1024)."`
	MinDeltas int           `placeholder:"N" default:"40" help:"How many deltas a text must have before their lengths are judged (40)."`
	MaxEvent  int           `placeholder:"MIB" default:"64" help:"The largest event to accept, in MiB (64)."`
	Declared  string        `name:"capabilities" placeholder:"FILE" help:"What the agent declares about itself, as JSON (AgentCapabilities): what a stream contradicts of it is found, too."`
	Files     []string      `arg:"" name:"FILE" help:"A recording; - is standard input."`
}

// Help is what --help says before the flags.
func (f *lintFlags) Help() string {
	return `Finds what the protocol allows and an agent's author did not mean: ids that are used twice, results
for nobody, deltas of one character, patches that never apply. Each finding says why it hurts and how to
mend it.`
}

func (f *lintFlags) epilog() string {
	return `Exit status, the highest of all FILEs:
  0    there is nothing of the level of --fail or above
  1    there is
  2    wrong usage
  4    a FILE is cut off or empty
  5    a FILE is not a recording, or cannot be read; or the output cannot be written
  130  stopped by Ctrl-C

Examples:
  agfold lint run.sse
  agfold lint --off usage-missing,gap --fail error recordings/*
  agfold lint --sarif run.sse > agent.sarif
`
}

func (f *lintFlags) check() string {
	for _, code := range slices.Concat(f.Only, f.Off) {
		if _, ok := lint.CheckOf(code); !ok {
			return fmt.Sprintf("there is no check %q; the codes are in docs/lint.md", code)
		}
	}
	switch {
	case f.MaxGap <= 0:
		return "--max-gap must be more than 0"
	case f.MaxState < 1:
		return "--max-state must be at least 1"
	case f.MinDeltas < 1:
		return "--min-deltas must be at least 1"
	}
	return wrongMaxEvent(f.MaxEvent)
}

// fileFinding is a finding with the file that it is in.
type fileFinding struct {
	file string
	lint.Finding
}

func (f *lintFlags) run(ctx context.Context, t *terminal) int {
	status := exitOK
	var all []fileFinding
	capabilities, err := readCapabilities(f.Declared, t)
	if err != nil {
		t.say("agfold: %s: %v", f.Declared, err)
		return exitUnreadable
	}
	told := make(map[string]bool) // the checks that were explained
	for _, name := range f.Files {
		src, ok := openSource(ctx, name, f.MaxEvent, t)
		if !ok {
			status = max(status, exitUnreadable)
			continue
		}
		found, seen, err := f.lint(ctx, src, capabilities)
		src.file.Close()
		for _, one := range found {
			if at := f.level(one); at > exitOK {
				status = max(status, at)
			}
			if f.SARIF {
				all = append(all, fileFinding{name, one})
			} else {
				f.print(t, name, one, told)
			}
		}
		if len(found) == 0 && seen > 0 && err == nil && !f.JSON && !f.SARIF {
			t.stdout.Print(term.Sprintf("%s: nothing found in %s\n", name, transcript.Count(seen, "event")))
		}
		one := sourceVerdict(ctx, t, name, seen, err)
		if one >= exitInterrupted {
			return one
		}
		status = max(status, one)
	}
	if f.SARIF {
		t.stdout.JSON(sarif(all))
	}
	return max(status, t.written(t.stdout.Flush()))
}

// lint lints one recording, and returns the findings and the number of events.
func (f *lintFlags) lint(ctx context.Context, src *source, declared *event.Capabilities) ([]lint.Finding, int, error) {
	seen := 0
	found, err := lint.Recording(src.rec, &lint.Options{
		Only: f.Only, Off: f.Off, MaxGap: f.MaxGap, MaxStateBytes: f.MaxState << 10, MinDeltas: f.MinDeltas, Capabilities: declared,
		OnEvent: func(n int) bool { seen = n; return ctx.Err() == nil },
	})
	return found, seen, err
}

// level returns the exit status that a finding means.
func (f *lintFlags) level(found lint.Finding) int {
	levels := []lint.Level{lint.LevelNote, lint.LevelWarning, lint.LevelError}
	if slices.Index(levels, found.Level) >= slices.Index(levels, lint.Level(f.Fail)) {
		return exitFailed
	}
	return exitOK
}

// print prints a finding as a line of JSON, or as text, which explains each check once.
func (f *lintFlags) print(t *terminal, name string, found lint.Finding, told map[string]bool) {
	c, _ := lint.CheckOf(found.Code)
	if f.JSON {
		text, _ := json.Marshal(struct {
			File    string     `json:"file"`
			Code    string     `json:"code"`
			Level   lint.Level `json:"level"`
			Ordinal int        `json:"ordinal"`
			Type    string     `json:"type"`
			ID      string     `json:"id"`
			Text    string     `json:"text"`
			More    int        `json:"more"`
			Why     string     `json:"why"`
			Mend    string     `json:"mend"`
		}{name, found.Code, found.Level, found.Ordinal, found.Type, found.ID, found.Text, found.More, c.Why, c.Mend})
		t.stdout.JSON(text)
		return
	}
	ink := map[lint.Level]term.Ink{lint.LevelError: term.Red, lint.LevelWarning: term.Yellow, lint.LevelNote: term.Cyan}[found.Level]
	head := term.Sprintf("%s: ", name)
	if found.Ordinal > 0 {
		head = term.Sprintf("%s: event %d %s: ", name, found.Ordinal, found.Type)
	}
	text := term.Concat(head, t.color.Paint(ink, term.Sprintf("%s %s", found.Level, found.Code)), term.Sprintf(": %s", found.Text))
	if found.More > 0 {
		text = text.Plus(term.Sprintf(" (and %d more)", found.More))
	}
	text = text.Plus(term.Lit("\n"))
	if !told[found.Code] {
		told[found.Code] = true
		text = text.Plus(term.Sprintf("  why:  %s\n  mend: %s\n", c.Why, c.Mend))
	}
	t.stdout.Print(text.Fold(t.width))
}

// sarif returns findings as a SARIF log. A region is an event, not a line: the ordinal is the best that is known.
func sarif(all []fileFinding) []byte {
	type text struct {
		Text string `json:"text"`
	}
	type rule struct {
		ID      string `json:"id"`
		Short   text   `json:"shortDescription"`
		Full    text   `json:"fullDescription"`
		Help    text   `json:"help"`
		Default struct {
			Level lint.Level `json:"level"`
		} `json:"defaultConfiguration"`
	}
	type location struct {
		Physical struct {
			Artifact struct {
				URI string `json:"uri"`
			} `json:"artifactLocation"`
		} `json:"physicalLocation"`
		Message *text `json:"message,omitempty"`
	}
	type result struct {
		Rule      string         `json:"ruleId"`
		Level     lint.Level     `json:"level"`
		Message   text           `json:"message"`
		Locations []location     `json:"locations"`
		Props     map[string]any `json:"properties"`
	}
	rules := []rule{}
	for _, c := range lint.Checks() {
		r := rule{ID: c.Code, Short: text{c.Title}, Full: text{c.Why}, Help: text{c.Mend}}
		r.Default.Level = c.Level
		rules = append(rules, r)
	}
	results := []result{}
	for _, one := range all {
		var at location
		at.Physical.Artifact.URI = strings.ReplaceAll(filepath.ToSlash(one.file), " ", "%20")
		if one.Ordinal > 0 {
			at.Message = &text{fmt.Sprintf("event %d %s", one.Ordinal, one.Type)}
		}
		results = append(results, result{one.Code, one.Level, text{one.Text}, []location{at},
			map[string]any{"ordinal": one.Ordinal, "type": one.Type, "id": one.ID, "more": one.More}})
	}
	log := map[string]any{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []any{map[string]any{
			"tool":    map[string]any{"driver": map[string]any{"name": "agfold", "rules": rules}},
			"results": results,
		}},
	}
	out, _ := json.Marshal(log)
	return out
}
