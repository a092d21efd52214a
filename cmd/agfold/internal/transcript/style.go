package transcript

import (
	"github.com/agfold/agfold/cmd/agfold/internal/term"
)

// DefaultWidth is the width of a Style that does not say one.
const DefaultWidth = 100

// minWidth is the least width for text, however deep it is indented.
const minWidth = 24

// Style says how to draw. The zero value draws without color, DefaultWidth columns wide, and leaves out what is long.
// It is a value and safe for concurrent use.
type Style struct {
	Width int         // in columns; 0 means DefaultWidth
	Color term.Colors // use ANSI colors
	Full  bool        // draw long tool results, arguments, activities and states in full, and metadata too
}

func (s Style) width() int {
	if s.Width <= 0 {
		return DefaultWidth
	}
	return max(s.Width, minWidth)
}

func (s Style) paint(i term.Ink, text term.Text) term.Text { return s.Color.Paint(i, text) }

// Rule draws a line that begins with a title.
func (s Style) Rule(title term.Text) term.Text {
	fill := term.Lit("─").Repeat(max(4, s.width()-title.Columns()-4))
	return s.paint(term.Dim, term.Lit("── ")).Plus(s.paint(term.Bold, title), s.paint(term.Dim, term.Lit(" ").Plus(fill)))
}

// page collects lines.
type page struct {
	Style
	b      term.Builder
	indent term.Text // before every line
	cols   int       // how many columns the indent takes
}

func (s Style) page() *page { return &page{Style: s} }

// line writes one line, which must not be wider than the page has room.
func (p *page) line(parts ...term.Text) {
	text := term.Concat(parts...)
	if text.Empty() {
		p.b.Add(p.indent.TrimRight(), newLine)
	} else {
		p.b.Add(p.indent, text, newLine)
	}
}

var newLine = term.Lit("\n")

// wrap writes a text in as many lines as it takes.
func (p *page) wrap(parts ...term.Text) {
	for line := range term.Concat(parts...).Wrap(p.room()) {
		p.line(line)
	}
}

// deeper calls draw with all lines indented by prefix.
func (p *page) deeper(prefix term.Text, draw func()) {
	indent, cols := p.indent, p.cols
	p.indent, p.cols = indent.Plus(prefix), cols+prefix.Columns()
	draw()
	p.indent, p.cols = indent, cols
}

// room is how many columns a line has.
func (p *page) room() int { return max(p.width()-p.cols, minWidth) }

var (
	dot = term.Lit(" · ")
	tab = term.Lit("  ")
)
