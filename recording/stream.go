package recording

import (
	"bytes"
	"errors"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/sse"
)

// stream is a captured stream of server-sent events.
type stream struct {
	r      *sse.Reader
	before int // lines before the stream's first
	keep   keeper
	queue  []Entry // what is left of pasted lines,
	err    error   // and the error after them
}

func (s *stream) next() (Entry, error) {
	if len(s.queue) > 0 {
		e := s.queue[0]
		s.queue = s.queue[1:]
		return e, nil
	}
	if s.err != nil {
		return Entry{}, s.err
	}
	data, err := s.r.Next()
	line := s.before + s.r.Line()
	if err != nil {
		var large *event.TooLargeError
		if errors.As(err, &large) {
			return Entry{}, &event.TooLargeError{Limit: large.Limit, Line: s.before + large.Line}
		}
		return Entry{}, readError(err)
	}
	f := s.keep.frame(data)
	switch {
	case s.r.Partial() && isCut(f):
		return Entry{}, &CutError{Line: line}
	case f.Err() != nil && s.paste(f.Data(), line):
		return s.next()
	}
	return Entry{Event: f, Line: line}, nil
}

// paste queues the events of data lines that have no blank lines between them, which are one event to the
// format. Searching a capture for its data lines makes such a text. It reports false if the first line is not an event.
func (s *stream) paste(data []byte, line int) bool {
	for text := range bytes.SplitSeq(data, []byte("\n")) {
		if len(trim(text)) > 0 {
			f := s.keep.framer.Frame(text)
			switch {
			case len(s.queue) == 0 && f.Err() != nil:
				return false
			case s.r.Partial() && isCut(f):
				s.err = &CutError{Line: line}
				return true
			}
			s.queue = append(s.queue, Entry{Event: f, Line: line})
		}
		line++
	}
	return len(s.queue) > 0
}
