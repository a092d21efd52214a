package transcript

import (
	"github.com/agfold/agfold/messages"
)

// ToolCall draws a tool call of the thread: its name, its arguments, and the results that answer it.
func (v *View) ToolCall(c *messages.ToolCall) string {
	p := v.page()
	v.call(p, c)
	return p.b.String()
}

func (v *View) call(p *page, c *messages.ToolCall) {
	name := CleanLine(c.Name)
	head := p.Paint(Yellow, "▸ ") + p.Paint(Bold, name)
	id := p.Paint(Dim, " · "+CleanLine(c.ID))
	args := jsonOf(c.Arguments)
	used := 2 + columns(name) + 1
	switch {
	case c.Arguments == "":
		p.line(head + id)
	case args.Exists() && fits(args, p.room()-used) >= 0:
		p.line(head + " " + flat(args))
	default:
		p.line(head + id)
		p.deeper("    ", 4, func() { p.text(c.Arguments) })
	}
	p.deeper("  ", 2, func() {
		if c.Status == messages.ToolCallStreaming {
			p.line(p.Paint(Dim, "… its arguments were still arriving"))
		}
		if secret, ok := c.EncryptedValue.Get(); ok {
			p.line(p.Paint(Dim, "(encrypted value, "+size(len(secret))+")"))
		}
		p.metadata(c.Metadata)
		results := v.results[c.ID]
		for _, m := range results {
			p.answer(m)
		}
		if len(results) == 0 && v.pending[c.ID] {
			p.line(p.Paint(Yellow, "↳ waiting for the client's answer"))
		}
	})
}

// answer writes a result behind an arrow.
func (p *page) answer(m *messages.Message) {
	inner := p.Style.page()
	inner.cols = p.cols + 2
	inner.result(m)
	inner.metadata(m.Metadata)
	if inner.b.Len() == 0 {
		inner.line(p.Paint(Dim, "(empty)"))
	}
	first := true
	for line := range lines(inner.b.String()) {
		if first {
			p.line(p.Paint(Green, "↳ ") + line)
		} else if line == "" {
			p.line("")
		} else {
			p.line("  " + line)
		}
		first = false
	}
}
