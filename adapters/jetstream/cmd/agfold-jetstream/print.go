package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// clean returns a text without what a terminal would obey.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			return r
		}
		return '\uFFFD'
	}, s)
}

// show prints snapshots as a transcript that grows. gap says why something is missing; nil if nothing can be.
func show(w io.Writer, from *reducer.Thread, snapshots <-chan client.Snapshot, gap func() string) {
	p := &printer{out: w, gap: gap}
	if from != nil {
		for range from.Messages.All() {
			p.texts = append(p.texts, "")
		}
		for i, m := range from.Messages.All() {
			p.texts[i] = line(m)
		}
		p.open = -1
	}
	for s := range snapshots {
		p.print(s)
	}
	p.end()
}

// printer prints what a snapshot adds to the one before.
type printer struct {
	out    io.Writer
	gap    func() string
	texts  []string // of the messages, as they were printed
	open   int      // the message whose line is not ended, + 1; 0 or less for none
	status string
	told   string
	err    error
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.out, format, args...)
	}
}

// line is a message as it is printed.
func line(m *messages.Message) string {
	var b strings.Builder
	b.WriteString(m.Text())
	for _, c := range m.ToolCalls.All() {
		fmt.Fprintf(&b, "[%s %s]", c.Name, c.Arguments)
	}
	if m.Role == messages.RoleActivity {
		b.WriteString(m.Activity.String())
	}
	return b.String()
}

// print prints what is new.
func (p *printer) print(s client.Snapshot) {
	for i, m := range s.Messages.All() {
		text := line(m)
		switch {
		case i < len(p.texts) && p.texts[i] == text:
		case i < len(p.texts) && p.open == i+1 && strings.HasPrefix(text, p.texts[i]):
			p.printf("%s", clean(text[len(p.texts[i]):]))
			p.texts[i] = text
		case i < len(p.texts):
			p.end()
			p.printf("~ %s: %s", clean(string(m.Role)), clean(text))
			p.texts[i], p.open = text, i+1
		default:
			p.end()
			p.printf("%s: %s", clean(string(m.Role)), clean(text))
			p.texts, p.open = append(p.texts, text), i+1
		}
	}
	p.texts = p.texts[:min(len(p.texts), s.Messages.Len())]
	if status := s.Status().String(); status != p.status && s.LastRun() != nil {
		p.status = status
		if s.Status() != reducer.Running {
			p.end()
			p.printf("-- %s", status)
			if err := s.Err(); err != nil {
				p.printf(": %s", clean(err.Error()))
			}
			p.printf("\n")
		}
	}
	if p.gap != nil {
		if gap := p.gap(); gap != p.told {
			p.told = gap
			p.end()
			if gap != "" {
				p.printf("-- what happens now is missing: %s\n", clean(gap))
			}
		}
	}
}

// end ends the line that is open.
func (p *printer) end() {
	if p.open > 0 {
		p.printf("\n")
	}
	p.open = -1
}
