package transcript

import (
	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/messages"
)

// call writes a tool call: its name, its id, its arguments, and the results that directly follow it.
func (v *View) call(p *page, c *messages.ToolCall) {
	head := p.paint(term.Yellow, term.Lit("▸ ")).Plus(p.paint(term.Bold, name(c.Name)), p.paint(term.Dim, dot.Plus(name(c.ID))))
	args := jsonOf(c.Arguments)
	switch {
	case c.Arguments == "":
		p.wrap(head)
	case args.Exists() && fits(args, p.room()-head.Columns()-1) >= 0:
		p.line(head, term.Lit(" "), flat(args))
	default:
		p.wrap(head)
		p.deeper(term.Lit("    "), func() { p.text(c.Arguments) })
	}
	p.deeper(tab, func() {
		unfinished := false
		switch c.Status {
		case messages.ToolCallBroken:
			unfinished = true
			p.cutOff()
		case messages.ToolCallStreaming:
			unfinished = true
			p.line(p.paint(term.Dim, term.Lit("… arguments still arriving")))
		}
		p.encrypted(c.EncryptedValue)
		p.metadata(c.Metadata)
		results, info := v.results[c.ID], v.calls[c.ID]
		for _, m := range results {
			p.answer(m)
		}
		switch {
		case len(results) > 0 || unfinished:
		case info.answered:
			p.line(p.paint(term.Dim, term.Lit("↳ answered below")))
		case info.pending:
			p.line(p.paint(term.Yellow, term.Lit("↳ waiting for the client's answer")))
		case v.over():
			p.line(p.paint(term.Yellow, term.Lit("↳ never answered")))
		}
	})
}

// answer writes a result after an arrow.
func (p *page) answer(m *messages.Message) {
	inner := p.Style.page()
	inner.cols = p.cols + 2
	inner.result(m)
	inner.metadata(m.Metadata)
	if inner.b.Len() == 0 {
		inner.line(p.paint(term.Dim, term.Lit("(empty)")))
	}
	arrow := p.paint(term.Green, term.Lit("↳ "))
	for _, line := range inner.b.Text().Lines() {
		if line.Empty() && arrow == tab {
			p.line()
			continue
		}
		p.line(arrow, line)
		arrow = tab
	}
}
