package recording

import (
	"bytes"
	"fmt"
	"io"

	"github.com/agfold/agfold/internal/jsontext"
)

// values is a JSON array of events, read element by element, or, without brackets and commas, events one
// after the other.
type values struct {
	r     io.Reader
	limit int
	array bool  // there are an opening bracket, commas and a closing bracket
	after error // what comes after the closing bracket, if anything but white space must not

	buf      []byte
	pos, end int   // buf[pos:end] is read and not consumed
	err      error // what r ended with
	line     int   // the line of buf[pos], from 1
	state    arrayState
	keep     keeper
}

type arrayState uint8

const (
	beforeArray arrayState = iota
	beforeFirst            // a value or the closing bracket
	afterValue             // a comma or the closing bracket
	afterComma             // a value
	afterArray
)

func (s *values) next() (Entry, error) {
	for {
		c, err := s.peek()
		if err == io.EOF && s.cut() {
			err = &CutError{Line: s.line}
		}
		if err != nil {
			return Entry{}, err
		}
		switch {
		case !s.array:
			return s.value()
		case s.state == beforeArray && c == '[':
			s.state = beforeFirst
		case (s.state == beforeFirst || s.state == afterValue) && c == ']':
			s.state = afterArray
			if s.after != nil {
				return Entry{}, s.after
			}
		case s.state == afterValue && c == ',':
			s.state = afterComma
		case s.state == afterValue:
			return Entry{}, s.unexpected(c, "a comma or ]")
		case s.state == afterArray:
			return Entry{}, s.unexpected(c, "nothing after the array")
		case bytes.IndexByte([]byte(",:]}"), c) >= 0:
			return Entry{}, s.unexpected(c, "an event")
		default:
			s.state = afterValue
			return s.value()
		}
		s.pos++
	}
}

// cut reports whether the end of the input now is one in the middle.
func (s *values) cut() bool { return s.array && s.state != afterArray }

func (s *values) unexpected(c byte, want string) error {
	return &FormatError{Line: s.line, Err: fmt.Errorf("unexpected %q, want %s", c, want)}
}

// peek skips white space and returns the byte after it.
func (s *values) peek() (byte, error) {
	for {
		i := jsontext.Space(s.buf[:s.end], s.pos)
		s.line += bytes.Count(s.buf[s.pos:i], []byte("\n"))
		s.pos = i
		if i < s.end {
			return s.buf[i], nil
		}
		if !s.more() {
			return 0, readError(s.err)
		}
	}
}

// value reads the value at pos. Its end is found by its quotes and brackets alone; whether it is an event
// is judged then.
func (s *values) value() (Entry, error) {
	n, depth, inString := 0, 0, false // n bytes are looked at
	for {
		done := false
		n, depth, inString, done = scanValue(s.buf[s.pos:s.end], n, depth, inString)
		if err := tooLarge(n, s.limit, s.line); err != nil {
			return Entry{}, err
		}
		if done {
			break
		}
		if s.more() {
			continue
		}
		if s.err != io.EOF {
			return Entry{}, readError(s.err)
		}
		if s.array || jsontext.IsCut(s.buf[s.pos:s.end], maxDepth) {
			return Entry{}, &CutError{Line: s.line}
		}
		n = s.end - s.pos
		break
	}
	text, line := s.buf[s.pos:s.pos+n], s.line
	s.pos += n
	s.line += bytes.Count(text, []byte("\n"))
	return Entry{Event: s.keep.frame(text), Line: line}, nil
}

// scanValue looks for the end of the value that text begins with, of which n bytes were looked at and have
// left depth brackets and perhaps a string open. It returns the same for all that it has looked at, and
// whether it has found the end; n is then at least 1.
func scanValue(text []byte, n, depth int, inString bool) (int, int, bool, bool) {
	for n < len(text) {
		if inString {
			n = jsontext.Plain(text, n)
			if n == len(text) {
				break
			}
			switch text[n] {
			case '"':
				inString = false
			case '\\':
				if n+1 == len(text) {
					return n, depth, inString, false // the escaped byte has yet to come
				}
				n++
			}
			n++
			if !inString && depth == 0 {
				return n, depth, inString, true
			}
			continue
		}
		switch text[n] {
		case '"':
			inString = true
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth == 0 || n == 0 {
				return n + 1, depth, inString, true
			}
			if depth < 0 { // it closes what the value is in
				return n, depth, inString, true
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 && n > 0 {
				return n, depth, inString, true
			}
		}
		n++
	}
	return n, depth, inString, false
}

// more reads more bytes into buf[end:] and reports whether there were any.
func (s *values) more() bool {
	if s.err != nil {
		return false
	}
	if s.end-s.pos > len(s.buf)/2 || len(s.buf) == 0 {
		bigger := make([]byte, max(64<<10, 2*len(s.buf)))
		s.end = copy(bigger, s.buf[s.pos:s.end])
		s.buf, s.pos = bigger, 0
	} else if s.pos > 0 {
		s.end = copy(s.buf, s.buf[s.pos:s.end])
		s.pos = 0
	}
	for range 100 {
		read, err := s.r.Read(s.buf[s.end:])
		s.end += read
		s.err = err
		if read > 0 {
			return true
		}
		if err != nil {
			return false
		}
	}
	s.err = io.ErrNoProgress
	return false
}
