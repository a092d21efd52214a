package recording

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/jsontext"
	"github.com/agfold/agfold/state"
)

// format is the mark of a head.
const format = "recording/1"

// headMark is how Writer begins a head, always at the beginning of a line. Elsewhere it is text of an agent.
const headMark = `{"agfold":"recording/`

// versionError reports a recording of another version.
type versionError struct{ version string }

func (e *versionError) Error() string {
	return fmt.Sprintf("the recording's version is %q, want %q", e.version, format)
}

// heads is what Writer writes.
type heads struct {
	lines   eventLines
	members object
	keep    keeper
	start   time.Time    // of the run, or of its first event if its head says nothing
	lost    *DamageError // the lines since the one that is damaged
	queue   []Entry
	err     error // after the queue
}

// next returns the next entry. What cannot be read is skipped up to the next head, and reported by a separate entry.
func (s *heads) next() (Entry, error) {
	for len(s.queue) == 0 {
		if s.err != nil {
			return Entry{}, s.err
		}
		text, whole, err := s.line()
		if err != nil {
			s.end(err)
			continue
		}
		if len(text) == 0 {
			continue
		}
		e, err := s.parse(text)
		if _, ok := errors.AsType[*versionError](err); ok {
			s.end(&FormatError{Line: e.Line, Err: err})
			continue
		}
		if _, ok := errors.AsType[*event.TooLargeError](err); ok {
			s.end(err)
			continue
		}
		if err == nil && (s.lost == nil || e.Head != nil) {
			s.tellLost()
			s.queue = append(s.queue, e)
			break
		}
		if s.lost == nil {
			if !whole && jsontext.IsCut(text, maxDepth) {
				return Entry{}, &CutError{Line: e.Line}
			}
			s.lost = &DamageError{Line: e.Line, Err: err}
		}
		s.lost.Lines++
	}
	e := s.queue[0]
	s.queue = s.queue[1:]
	return e, nil
}

// end lets the entries end with an error, after what is lost.
func (s *heads) end(err error) {
	s.tellLost()
	s.err = err
}

// line returns the next line, of which only the text of the event is bounded: a head and an error may be as long as a
// document, and the string of data that is not an event as its escapes make it.
func (s *heads) line() (text []byte, whole bool, err error) {
	text, whole, err = s.lines.line()
	if _, large := errors.AsType[*event.TooLargeError](err); !large {
		return text, whole, err
	}
	members, _, _ := parseObject(nil, text)
	switch bound := s.lines.limit; {
	case members.get("agfold") != nil || members.get("error") != nil:
		return s.lines.lines.rest(max(bound, maxDocument))
	case members.get("data") != nil:
		text, whole, long := s.lines.lines.rest(len(`\u0000`) * bound)
		if _, large := errors.AsType[*event.TooLargeError](long); !large {
			return text, whole, long
		}
	}
	return nil, false, err
}

// tellLost queues the entry about the lines that are lost, if there are any.
func (s *heads) tellLost() {
	if s.lost != nil {
		s.queue = append(s.queue, Entry{Err: s.lost, Line: s.lost.Line})
		s.lost = nil
	}
}

// parse reads one line. The entry's Line is set in any case.
func (s *heads) parse(text []byte) (Entry, error) {
	e := Entry{Line: s.lines.lines.line}
	members, end, err := parseObject(s.members[:0], text)
	s.members = members
	if err == nil && end < len(text) {
		err = jsontext.Unexpected(text, end, "the end of the line")
	}
	if err == nil {
		err = s.entry(&e, members)
	}
	return e, err
}

func (s *heads) entry(e *Entry, members object) error {
	if members.get("agfold") != nil {
		return s.head(e, members)
	}
	at, err := s.at(members.get("at"))
	if err != nil {
		return err
	}
	e.At = at
	data, text := members.get("event"), ""
	ok := data != nil
	if !ok {
		text, ok = members.str("data")
		data = []byte(text)
	}
	if ok {
		if err := tooLarge(len(data), s.lines.limit, e.Line); err != nil {
			return err
		}
		e.Event = s.keep.frame(data)
	} else if text, ok := members.str("error"); ok {
		e.Err = &StreamError{Text: text, Truncated: string(members.get("truncated")) == "true"}
	} else {
		return errors.New("want a head, an event or an error")
	}
	return nil
}

func (s *heads) head(e *Entry, members object) error {
	if v, _ := members.str("agfold"); v != format {
		return &versionError{v}
	}
	e.Head = &Head{offset: s.lines.lines.offset, line: e.Line}
	if start, _ := members.str("start"); start != "" {
		t, err := time.Parse(time.RFC3339, start)
		if err != nil {
			return err
		}
		e.Head.Start = t
	}
	s.start = e.Head.Start
	if text := members.get("input"); text != nil {
		var err error
		if e.Head.Input, e.Head.Warnings, err = parseInput(text); err != nil { // the run's events are sound all the same
			e.Head.Input = nil
			e.Head.Warnings = append(e.Head.Warnings, event.Warning{Rule: "recording", Type: "RunAgentInput", Path: "/input",
				Text: "the input of the run cannot be read and is left out: " + err.Error()})
		}
	}
	return nil
}

// at reads when an event came, as the time since its run's start.
func (s *heads) at(text []byte) (time.Duration, error) {
	if len(text) == 0 {
		return 0, nil
	}
	if text[0] != '"' {
		ms, err := strconv.ParseFloat(string(text), 64)
		if err != nil || ms < 0 || ms > math.MaxInt64/1e6 {
			return 0, fmt.Errorf("at is %.40s, want milliseconds since the run's start", text)
		}
		return time.Duration(math.Round(ms * 1e6)), nil
	}
	t, err := time.Parse(time.RFC3339, jsontext.Text(text[1:len(text)-1]))
	if err != nil {
		return 0, err
	}
	if s.start.IsZero() {
		s.start = t
	}
	return max(0, t.Sub(s.start)), nil
}

// parseInput reads a run input. The members that one must have may be missing, as they are in test data.
func parseInput(text []byte) (*event.RunInput, []event.Warning, error) {
	v, err := state.Parse(text)
	if err != nil {
		return nil, nil, err
	}
	if v.Kind() == state.KindNull {
		return nil, nil, nil
	}
	if v.Kind() == state.KindObject {
		for key, missing := range map[string]state.Value{"threadId": state.String(""), "runId": state.String(""), "messages": state.Array()} {
			if !v.Get(key).Exists() {
				v = v.With(key, missing)
			}
		}
	}
	v, converted := event.UpgradeInput(v)
	in, removed, err := event.DecodeRunInput(v, nil)
	return in, append(converted, removed...), err
}
