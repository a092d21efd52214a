package recording

import (
	"bufio"
	"bytes"
	"io"

	"github.com/agfold/agfold/event"
)

// lines reads a text line by line.
type lines struct {
	r      *bufio.Reader
	src    *counter
	long   []byte // a line that is longer than r's buffer
	line   int    // the number of the line read last, from 1
	offset int64  // where it begins
}

const peekSize = 64 << 10

func newLines(r io.Reader) *lines {
	src := &counter{r: r}
	return &lines{r: bufio.NewReaderSize(src, peekSize), src: src}
}

// counter counts what is read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// next returns the next line without its LF and white space around it, valid until the next call, and
// whether it had an LF. Of a line with more than limit bytes, if limit is positive, it returns the beginning and an
// *event.TooLargeError. The end is io.EOF.
func (l *lines) next(limit int) (line []byte, whole bool, err error) {
	l.line++
	l.offset = l.src.n - int64(l.r.Buffered())
	l.long = l.long[:0]
	if cap(l.long) > 1<<20 {
		l.long = nil
	}
	for {
		part, err := l.r.ReadSlice('\n')
		if limit > 0 && len(l.long)+len(part) > limit+len("\r\n") {
			l.long = append(l.long, part...)
			return l.long, false, &event.TooLargeError{Limit: limit, Line: l.line}
		}
		if err == bufio.ErrBufferFull {
			l.long = append(l.long, part...)
			continue
		}
		if len(l.long) > 0 {
			l.long = append(l.long, part...)
			part = l.long
		}
		if err != nil && err != io.EOF || len(part) == 0 {
			return nil, false, readError(err)
		}
		return trim(part), err == nil, nil
	}
}

// trim removes JSON's white space around text.
func trim(text []byte) []byte { return bytes.Trim(text, " \t\r\n") }

// eventLines is one event a line.
type eventLines struct {
	lines *lines
	limit int
	first []byte // a line read before, and
	whole bool   // whether it had an LF; nil if there is none
	keep  keeper
}

func (s *eventLines) next() (Entry, error) {
	for {
		line, whole, err := s.line()
		if err != nil {
			return Entry{}, err
		}
		if len(line) == 0 {
			continue
		}
		f := s.keep.frame(line)
		if !whole && isCut(f) {
			return Entry{}, &CutError{Line: s.lines.line}
		}
		return Entry{Event: f, Line: s.lines.line}, nil
	}
}

func (s *eventLines) line() (line []byte, whole bool, err error) {
	if s.first != nil {
		line, whole, s.first = s.first, s.whole, nil
		if s.limit > 0 && len(line) > s.limit {
			return nil, false, &event.TooLargeError{Limit: s.limit, Line: s.lines.line}
		}
		return line, whole, nil
	}
	return s.lines.next(s.limit)
}
