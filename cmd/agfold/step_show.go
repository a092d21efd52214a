package main

import (
	"encoding/json"
	"fmt"

	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/cmd/agfold/internal/transcript"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// mostChanges bounds the lines that are shown of what one event changed.
const mostChanges = 12

// show draws a step: the event and what it changed.
func (x *stepSession) show(st *oneStep) term.Text {
	if st == nil {
		return term.Lit("before the first event\n")
	}
	color := x.t.color
	var b term.Builder
	width := max(x.t.width, 80)
	b.Add(color.Paint(term.Bold, term.Sprintf("event %d", st.ordinal)), term.Sprintf(" · line %d · %s\n", st.line, st.typ))
	b.Add(term.Lit("  "), color.Paint(term.Dim, term.Line(st.text).Clip(width-2)), term.Lit("\n"))
	for _, line := range changeLines(st) {
		b.Add(term.Lit("  "), line.Clip(width-2), term.Lit("\n"))
	}
	for _, w := range st.warnings {
		b.Add(color.Paint(term.Yellow, term.Sprintf("  warning: %s %s", w.Rule, w.Text).Clip(width)), term.Lit("\n"))
	}
	return b.Text()
}

// changeLines says what a step changed, a line for each.
func changeLines(st *oneStep) []term.Text {
	var lines []term.Text
	for _, d := range st.deliveries {
		c := d.Change
		line := term.Sprintf("%s", c.Kind)
		if c.MessageID != "" || c.Index >= 0 {
			line = line.Plus(term.Sprintf(" · message %d %s", c.Index+1, c.MessageID))
		}
		if c.ToolCallID != "" {
			line = line.Plus(term.Sprintf(" · call %s", c.ToolCallID))
		}
		if c.StepName != "" {
			line = line.Plus(term.Sprintf(" · step %s", c.StepName))
		}
		if c.RunID != "" {
			line = line.Plus(term.Sprintf(" · run %s", c.RunID))
		}
		if id, ok := c.Subagent.RunID(); ok {
			line = line.Plus(term.Sprintf(" · subagent %s", id))
		}
		if c.Delta != "" {
			line = line.Plus(term.Sprintf(" · %q", c.Delta))
		}
		lines = append(lines, line)
	}
	changes := st.after.ChangesSince(st.before)
	if r := changes.Rows; r.Removed > 0 || r.Inserted > 1 {
		lines = append(lines, term.Sprintf("messages: %d removed, %d inserted at %d", r.Removed, r.Inserted, r.At+1))
	}
	for _, op := range changes.State {
		value := ""
		if op.Value.Exists() {
			value = op.Value.String()
		}
		lines = append(lines, term.Sprintf("state: %s %s %s", string(op.Kind), op.Path, value))
	}
	if changes.Interrupts {
		lines = append(lines, term.Sprintf("open interrupts: %d", len(st.after.Interrupts)))
	}
	if err := st.after.Err(); err != nil && st.after.Status() == reducer.Rejected && st.before.Err() == nil {
		lines = append(lines, term.Sprintf("rejected: %s", err))
	}
	if len(lines) == 0 && len(st.warnings) > 0 {
		lines = append(lines, term.Sprintf("nothing changed: %s", st.warnings[0].Text))
	}
	if len(lines) == 0 {
		lines = append(lines, term.Lit("nothing changed"))
	}
	if len(lines) > mostChanges {
		more := len(lines) - mostChanges
		lines = append(lines[:mostChanges], term.Sprintf("and %s", transcript.Count(more, "more change")))
	}
	return lines
}

// lineText draws a step in one line, for lists.
func (st *oneStep) lineText(width int) term.Text {
	lines := changeLines(st)
	mark := term.Lit("  ")
	if len(st.warnings) > 0 || st.after.Status() == reducer.Rejected {
		mark = term.Lit("! ")
	}
	return term.Concat(mark, term.Sprintf("%6d %-26s ", st.ordinal, st.typ), lines[0]).Clip(width).Plus(term.Lit("\n"))
}

// stepJSON returns a step as one JSON object.
func stepJSON(st *oneStep) []byte {
	out := struct {
		Ordinal    int                `json:"ordinal"`
		Line       int                `json:"line"`
		Type       string             `json:"type"`
		Event      string             `json:"event"`
		Deliveries []reducer.Delivery `json:"deliveries"`
		Warnings   []event.Warning    `json:"warnings"`
		State      json.RawMessage    `json:"statePatch"`
		Status     reducer.Status     `json:"status"`
	}{Deliveries: []reducer.Delivery{}, Warnings: []event.Warning{}, State: json.RawMessage("[]")}
	if st != nil {
		out.Ordinal, out.Line, out.Type, out.Event, out.Status = st.ordinal, st.line, st.typ, st.text, st.after.Status()
		out.Deliveries = append(out.Deliveries, st.deliveries...)
		out.Warnings = append(out.Warnings, st.warnings...)
		if patch := state.Diff(st.before.State, st.after.State); len(patch) > 0 {
			v := patch.Value()
			out.State = v.AppendJSON(nil)
		}
	}
	text, err := json.Marshal(out)
	if err != nil {
		text, _ = json.Marshal(fmt.Sprint(err))
	}
	return text
}
