package transcript

import (
	"strings"

	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// maxSteps is how many of a run's steps are drawn.
const maxSteps = 12

// run writes how a run ended, or that it is still running: status, error, result, steps, interrupts, pending tool calls
// and usage.
func (v *View) run(p *page, run *reducer.Run) {
	p.wrap(v.status(run.Status, v.paint(term.Bold, idOf(run.ID))))
	p.deeper(tab, func() {
		if run.Err != nil {
			p.prosePainted(term.Red, run.Err.Error())
		}
		if parent, ok := run.ParentRunID.Get(); ok {
			p.field("after", name(parent))
		}
		if run.Steps.Len() > 0 {
			p.field("steps", v.steps(run))
		}
		if run.Result.Exists() {
			p.field("result", p.brief(run.Result))
		}
		if run != v.thread.LastRun() || len(v.thread.Interrupts) == 0 {
			p.interrupts("asked", run.Outcome.Interrupts)
		}
		p.interrupts("retired", run.RetiredInterrupts)
		if len(run.PendingToolCallIDs) > 0 {
			var calls []term.Text
			for _, id := range run.PendingToolCallIDs {
				calls = append(calls, v.callName(id))
			}
			p.field("pending", term.Join(comma, calls...))
		}
		p.usage(run.Usage)
		p.metadata(run.Metadata)
	})
}

var comma = term.Lit(", ")

// interrupts writes interrupts, one per field.
func (p *page) interrupts(label string, interrupts []event.Interrupt) {
	for _, in := range interrupts {
		about := in.Message.Or("")
		if about == "" {
			about = in.Reason
		}
		p.field(label, term.Join(term.Lit(": "), name(in.ID), term.Line(about).Clip(2*p.room())))
	}
}

// prosePainted writes a text in a color.
func (p *page) prosePainted(ink term.Ink, text string) {
	for line := range term.Clean(text).Wrap(p.room()) {
		p.line(p.paint(ink, line))
	}
}

// field writes a text after a name.
func (p *page) field(label string, text term.Text) {
	const cols = 9
	head := term.Sprintf("%-9s", label)
	for line := range text.Wrap(p.room() - cols) {
		p.line(p.paint(term.Dim, head), line)
		head = term.Lit(" ").Repeat(cols)
	}
}

func (v *View) steps(run *reducer.Run) term.Text {
	var names []term.Text
	for i, step := range run.Steps.All() {
		if i == maxSteps {
			names = append(names, term.Sprintf("and %d more", run.Steps.Len()-maxSteps))
			break
		}
		text := name(step.Name)
		if !step.Owner.IsParent() {
			text = v.place(step.Owner).name.Plus(term.Lit(" › "), text)
		}
		if !step.Finished {
			text = text.Plus(term.Lit(" (not finished)"))
		}
		names = append(names, text)
	}
	return term.Join(comma, names...)
}

// usage writes token counts, a provider and model a line.
func (p *page) usage(usage []event.TokenUsage) {
	for _, u := range usage {
		var counts []term.Text
		for _, c := range []struct {
			n    messages.Opt[int64]
			name string
		}{
			{u.InputTokens, "in"}, {u.OutputTokens, "out"}, {u.TotalTokens, "total"}, {u.ReasoningTokens, "reasoning"},
			{u.CachedInputTokens, "cached"}, {u.CacheWriteInputTokens, "cache write"},
		} {
			if n, ok := c.n.Get(); ok {
				counts = append(counts, term.Sprintf("%s %s", grouped(n), c.name))
			}
		}
		model := name(strings.Trim(u.Provider.Or("")+"/"+u.Model.Or(""), "/"))
		text := term.Join(term.Lit(": "), model, term.Join(comma, counts...))
		if text.Empty() {
			text = term.Lit("not reported")
		}
		p.field("tokens", text)
	}
}

// Interrupt draws an interrupt. Without a message it shows what the agent sent instead of one: the interrupt's metadata
// and the arguments of the call that it is about.
func (v *View) Interrupt(in event.Interrupt) term.Text {
	p := v.page()
	p.wrap(v.paint(term.Yellow, term.Lit("? ")), term.Join(dot, v.paint(term.Bold, name(in.ID)), name(in.Reason)))
	p.deeper(tab, func() {
		message := strings.TrimSpace(in.Message.Or(""))
		p.prose(message, false)
		id, aboutCall := in.ToolCallID.Get()
		if aboutCall {
			p.field("call", v.callName(id))
		}
		if message == "" {
			if c := v.calls[id].call; aboutCall && c != nil {
				p.text(c.Arguments)
			}
			if in.Metadata.Len() > 0 && !p.Full {
				p.value(in.Metadata.Value(), p.limit(maxLines))
			}
		}
		if !in.SubagentRunID.IsParent() {
			p.field("from", v.place(in.SubagentRunID).name)
		}
		if date, ok := in.ExpiresAt.Get(); ok {
			p.field("expires", name(date))
		}
		if in.ResponseSchema.Exists() {
			p.field("schema", p.brief(in.ResponseSchema))
		}
		p.metadata(in.Metadata)
	})
	return p.b.Text()
}
