package live

import (
	"fmt"
	"io"
	"slices"
)

// Screen draws pictures on a terminal, each over the one before, where the cursor stood at first. Whatever
// was on the terminal above stays. It is for one goroutine at a time.
//
// The cursor is hidden, and lines are cut at the terminal's edge, from the first Draw until Clear: whoever
// draws has to see to it that Clear is called, also when it panics.
type Screen struct {
	w     io.Writer
	lines []string // on the terminal, the cursor being on the last
	drawn bool
	buf   []byte
}

// NewScreen returns a Screen on the terminal that w writes to.
func NewScreen(w io.Writer) *Screen { return &Screen{w: w} }

// The sequences that a terminal is told. One that does not know them ignores the private ones.
const (
	hideCursor = "\x1b[?25l\x1b[?7l" // and do not wrap
	showCursor = "\x1b[?7h\x1b[?25h"
	begin      = "\x1b[?2026h" // show nothing until end
	end        = "\x1b[?2026l"
	clearLine  = "\x1b[K"
	clearBelow = "\x1b[J"
)

// Draw puts lines on the terminal, which is width columns wide, in place of what was drawn before. They must
// be fewer than the terminal is high, and hold no control characters but colours. It writes once, and
// nothing at all if nothing changed. The error is the writer's.
func (s *Screen) Draw(lines []string, width int) error {
	if s.drawn && slices.Equal(lines, s.lines) {
		return nil
	}
	buf := append(s.buf[:0], begin...)
	if !s.drawn {
		buf = append(buf, hideCursor...)
	}
	buf = s.home(buf, width)
	for i, line := range lines {
		if i > 0 {
			buf = append(buf, "\r\n"...)
		}
		buf = append(buf, line...)
		if columns(line) < width { // else the cursor stands on the last column, and would clear that
			buf = append(buf, clearLine...)
		}
	}
	buf = append(buf, clearBelow...)
	buf = append(buf, end...)
	s.buf, s.lines, s.drawn = buf, slices.Clone(lines), true
	_, err := s.w.Write(buf)
	return err
}

// Clear takes the picture off the terminal, which is width columns wide, and gives the cursor back at the
// place where it stood at first. It does nothing if nothing is drawn. The error is the writer's.
func (s *Screen) Clear(width int) error {
	if !s.drawn {
		return nil
	}
	buf := append(s.home(nil, width), clearBelow+showCursor...)
	s.lines, s.drawn = nil, false
	_, err := s.w.Write(buf)
	return err
}

// home goes to the first line of the picture. On a terminal that has become narrower its lines have been
// broken into several.
func (s *Screen) home(buf []byte, width int) []byte {
	up := -1
	for _, line := range s.lines {
		up += max(1, (columns(line)+width-1)/max(width, 1))
	}
	buf = append(buf, '\r')
	if up > 0 {
		buf = fmt.Appendf(buf, "\x1b[%dA", up)
	}
	return buf
}
