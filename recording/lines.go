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

// lineSlack is how much longer a line may be than the event in it: for white space, or for what Writer writes around it.
const lineSlack = 1 << 10

// tooLarge returns the error about an event of n bytes that begins at a line, nil if the bound allows it: exactly limit
// bytes are allowed, and zero or less is no bound.
func tooLarge(n, limit, line int) error {
	if limit <= 0 || n <= limit {
		return nil
	}
	return &event.TooLargeError{Limit: limit, Line: line}
}

// next returns the next line without its LF and white space around it, valid until the next call, and whether it had an
// LF. Of a line that is longer than limit and lineSlack it returns the beginning and an *event.TooLargeError; rest
// returns the whole of it. The end is io.EOF.
func (l *lines) next(limit int) (line []byte, whole bool, err error) {
	l.line++
	l.offset = l.src.n - int64(l.r.Buffered())
	l.long = l.long[:0]
	if cap(l.long) > 1<<20 {
		l.long = nil
	}
	return l.rest(limit)
}

// rest returns the line of which next returned the beginning, as next does.
func (l *lines) rest(limit int) (line []byte, whole bool, err error) {
	if bytes.HasSuffix(l.long, []byte("\n")) {
		return trim(l.long), true, tooLarge(len(l.long)-lineSlack, limit, l.line)
	}
	for {
		part, err := l.r.ReadSlice('\n')
		if err := tooLarge(len(l.long)+len(part)-lineSlack, limit, l.line); err != nil {
			l.long = append(l.long, part...)
			return l.long, false, err
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
	first []byte // a line read before, nil if there is none;
	whole bool   // whether it had an LF;
	err   error  // and the error that came with it
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
		if err := tooLarge(len(line), s.limit, s.lines.line); err != nil {
			return Entry{}, err
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
		line, s.first = s.first, nil
		return line, s.whole, s.err
	}
	return s.lines.next(s.limit)
}
