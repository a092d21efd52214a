package transcript

import (
	"fmt"
	"strings"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// maxSteps is how many of a run's steps are drawn.
const maxSteps = 12

// Run draws how a run ended, or that it goes on: status, error, result, steps, pending tool calls and usage.
func (s Style) Run(run *reducer.Run) string {
	return s.run(run, func(o messages.Owner) string { return CleanLine(o.String()) })
}

func (s Style) run(run *reducer.Run, owner func(messages.Owner) string) string {
	p := s.page()
	id := "(no id)"
	if run.ID != "" {
		id = CleanLine(run.ID)
	}
	status := run.Status.String()
	p.line(s.mark(status) + " " + join(s.Paint(Bold, id), s.status(status)))
	p.deeper("  ", 2, func() {
		if run.Err != nil {
			wrap(Clean(run.Err.Error()), p.room(), func(line string) bool { p.line(p.Paint(Red, line)); return true })
		}
		if parent, ok := run.ParentRunID.Get(); ok {
			p.field("after", CleanLine(parent))
		}
		if run.Steps.Len() > 0 {
			p.field("steps", steps(run, owner))
		}
		if run.Result.Exists() {
			p.field("result", cut(flat(run.Result), 4*p.room()))
		}
		if len(run.PendingToolCallIDs) > 0 {
			p.field("pending", CleanLine(strings.Join(run.PendingToolCallIDs, ", ")))
		}
		p.usage(run.Usage)
		p.metadata(run.Metadata)
	})
	return p.b.String()
}

// field writes a clean text behind a name.
func (p *page) field(name, text string) {
	const cols = 9
	label := name + strings.Repeat(" ", max(1, cols-len(name)))
	wrap(text, p.room()-cols, func(line string) bool {
		p.line(p.Paint(Dim, label) + line)
		label = strings.Repeat(" ", cols)
		return true
	})
}

func steps(run *reducer.Run, owner func(messages.Owner) string) string {
	var names []string
	for i, step := range run.Steps.All() {
		if i == maxSteps {
			names = append(names, fmt.Sprintf("and %d more", run.Steps.Len()-maxSteps))
			break
		}
		name := CleanLine(step.Name)
		if !step.Owner.IsParent() {
			name = owner(step.Owner) + " › " + name
		}
		if !step.Finished {
			name += " (not finished)"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// usage writes token counts, a provider and model a line.
func (p *page) usage(usage []event.TokenUsage) {
	for _, u := range usage {
		var counts []string
		for _, c := range []struct {
			n    messages.Opt[int64]
			name string
		}{
			{u.InputTokens, "in"}, {u.OutputTokens, "out"}, {u.TotalTokens, "total"}, {u.ReasoningTokens, "reasoning"},
			{u.CachedInputTokens, "cached"}, {u.CacheWriteInputTokens, "cache write"},
		} {
			if n, ok := c.n.Get(); ok {
				counts = append(counts, fmt.Sprintf("%s %s", grouped(n), c.name))
			}
		}
		model := strings.Trim(CleanLine(u.Provider.Or(""))+"/"+CleanLine(u.Model.Or("")), "/")
		text := strings.Join(counts, ", ")
		switch {
		case model != "" && text != "":
			text = model + ": " + text
		case model != "":
			text = model
		}
		if text == "" {
			text = "not told"
		}
		p.field("tokens", text)
	}
}

// grouped writes a number with a space between thousands.
func grouped(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}

// Interrupt draws an interrupt.
func (s Style) Interrupt(in event.Interrupt) string {
	p := s.page()
	p.line(s.Paint(Yellow, "?") + " " + join(s.Paint(Bold, CleanLine(in.ID)), CleanLine(in.Reason)))
	p.deeper("  ", 2, func() {
		if text, ok := in.Message.Get(); ok {
			p.prose(text, false)
		}
		if id, ok := in.ToolCallID.Get(); ok {
			p.field("call", CleanLine(id))
		}
		if id, ok := in.SubagentRunID.RunID(); ok {
			p.field("from", CleanLine(id))
		}
		if date, ok := in.ExpiresAt.Get(); ok {
			p.field("expires", CleanLine(date))
		}
		if in.ResponseSchema.Exists() {
			p.field("schema", cut(flat(in.ResponseSchema), 4*p.room()))
		}
		p.metadata(in.Metadata)
	})
	return p.b.String()
}
