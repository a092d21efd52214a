package transcript

import (
	"strings"

	"github.com/agfold/agfold/event"
)

// DefaultWidth is the width of a Style that does not say one.
const DefaultWidth = 100

// minWidth is what is left for text however deep it is indented.
const minWidth = 24

// Style says how to draw. The zero value draws without colour, DefaultWidth columns wide, and leaves out
// what is long. It is a value and safe for concurrent use.
type Style struct {
	Width int  // in columns; 0 means DefaultWidth
	Color bool // use ANSI colours
	Full  bool // draw long tool results, arguments, activities and states in full, and metadata too
}

func (s Style) width() int {
	if s.Width <= 0 {
		return DefaultWidth
	}
	return max(s.Width, minWidth)
}

// Ink is an ANSI attribute.
type Ink string

// The attributes that are drawn with.
const (
	Bold   Ink = "1"
	Dim    Ink = "2"
	Red    Ink = "31"
	Green  Ink = "32"
	Yellow Ink = "33"
	Blue   Ink = "34"
	Cyan   Ink = "36"
	Italic Ink = "3"
)

// Paint returns a clean text in a colour, or as it is if the style has none.
func (s Style) Paint(i Ink, text string) string {
	if !s.Color || text == "" {
		return text
	}
	return "\x1b[" + string(i) + "m" + text + "\x1b[0m"
}

// page collects lines.
type page struct {
	Style
	b      strings.Builder
	indent string // before every line
	cols   int    // how many columns the indent takes
}

func (s Style) page() *page { return &page{Style: s} }

// line writes one line, which is clean and short enough.
func (p *page) line(text string) {
	if text == "" {
		p.b.WriteString(strings.TrimRight(p.indent, " "))
	} else {
		p.b.WriteString(p.indent)
		p.b.WriteString(text)
	}
	p.b.WriteByte('\n')
}

// deeper calls draw with all lines indented by prefix, which takes cols columns.
func (p *page) deeper(prefix string, cols int, draw func()) {
	indent, before := p.indent, p.cols
	p.indent, p.cols = p.indent+prefix, p.cols+cols
	draw()
	p.indent, p.cols = indent, before
}

// room is how many columns a line has.
func (p *page) room() int { return max(p.width()-p.cols, minWidth) }

// rule writes the title of a section.
func (p *page) rule(title string) {
	p.line(p.Paint(Dim, "── ") + p.Paint(Bold, title) + p.Paint(Dim, " "+strings.Repeat("─", max(4, p.room()-len(title)-4))))
}

// join joins the parts that are not empty by the middle dot.
func join(parts ...string) string {
	var kept []string
	for _, part := range parts {
		if part != "" {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, " · ")
}

// Warning draws a warning in one line.
func (s Style) Warning(w event.Warning) string {
	return s.Paint(Yellow, "warning") + ": " + CleanLine(w.String()) + "\n"
}
