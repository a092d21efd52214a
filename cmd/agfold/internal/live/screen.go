package live

import (
	"slices"

	"github.com/agfold/agfold/cmd/agfold/internal/term"
)

// Screen draws pictures on a terminal, each over the one before, starting at the line of the cursor. What the terminal shows
// above that line stays. It is for one goroutine at a time.
//
// From the first Draw until Clear the cursor is hidden and lines are cut at the terminal's edge: Clear must be called
// even if the drawing panics.
type Screen struct {
	w     *term.Writer
	lines []term.Text // on the terminal, the cursor being on the last
	drawn bool
}

// NewScreen returns a Screen on the terminal that w writes to.
func NewScreen(w *term.Writer) *Screen { return &Screen{w: w} }

// The sequences that control the terminal. A terminal that does not know the private ones ignores them.
var (
	hideCursor = term.Lit("\x1b[?25l\x1b[?7l") // and do not wrap
	showCursor = term.Lit("\x1b[?7h\x1b[?25h")
	begin      = term.Lit("\x1b[?2026h") // show nothing until end
	end        = term.Lit("\x1b[?2026l")
	clearLine  = term.Lit("\x1b[K")
	clearBelow = term.Lit("\x1b[J")
	nextLine   = term.Lit("\r\n")
	firstCol   = term.Lit("\r")
)

// Draw puts lines on the terminal, which is width columns wide, in place of what was drawn before. They must
// be fewer than the terminal is high. It writes once, and nothing at all if nothing changed. The error is the writer's.
func (s *Screen) Draw(lines []term.Text, width int) error {
	if s.drawn && slices.Equal(lines, s.lines) {
		return nil
	}
	s.w.Print(begin)
	if !s.drawn {
		s.w.Print(hideCursor)
	}
	s.home(width)
	for i, line := range lines {
		if i > 0 {
			s.w.Print(nextLine)
		}
		s.w.Print(line)
		if line.Columns() < width { // otherwise the cursor is on the last column, and would clear it
			s.w.Print(clearLine)
		}
	}
	s.w.Print(clearBelow, end)
	s.lines, s.drawn = slices.Clone(lines), true
	return s.w.Flush()
}

// Clear takes the picture off the terminal, which is width columns wide, and returns the cursor to the
// place where it was at first. It does nothing if nothing is drawn. The error is the writer's.
func (s *Screen) Clear(width int) error {
	if !s.drawn {
		return nil
	}
	s.home(width)
	s.w.Print(clearBelow, showCursor)
	s.lines, s.drawn = nil, false
	return s.w.Flush()
}

// home moves to the first line of the picture. If the terminal has become narrower, it counts the lines that the
// terminal has wrapped.
func (s *Screen) home(width int) {
	up := -1
	for _, line := range s.lines {
		up += max(1, (line.Columns()+width-1)/max(width, 1))
	}
	s.w.Print(firstCol)
	if up > 0 {
		s.w.Print(term.Sprintf("\x1b[%dA", up))
	}
}
