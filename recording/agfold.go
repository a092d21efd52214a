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

// heads is what Writer writes.
type heads struct {
	lines   eventLines
	members object
	keep    keeper
	start   time.Time // of the run, or of its first event if its head says nothing
}

func (s *heads) next() (Entry, error) {
	var torn error
	for {
		text, whole, err := s.lines.line()
		if torn != nil && err != nil {
			return Entry{}, torn
		}
		if err != nil {
			return Entry{}, err
		}
		if len(text) == 0 {
			continue
		}
		e, err := s.parse(text)
		switch {
		case torn != nil && (err != nil || e.Head == nil):
			return Entry{}, torn // no crash and restart, but a broken line
		case torn != nil:
			e.Head.AfterCut = true
		case err != nil && jsontext.IsCut(text, maxDepth):
			torn = &CutError{Line: e.Line}
			if whole {
				continue // the next run's head may follow
			}
			return Entry{}, torn
		}
		return e, err
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
	var format *FormatError
	if err != nil && !errors.As(err, &format) {
		err = &FormatError{Line: e.Line, Err: err}
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
	if data := members.get("event"); data != nil {
		e.Event = s.keep.frame(data)
	} else if data, ok := members.str("data"); ok {
		e.Event = s.keep.frame([]byte(data))
	} else if text, ok := members.str("error"); ok {
		e.Err = &StreamError{Text: text, Truncated: string(members.get("truncated")) == "true"}
	} else {
		return errors.New("want a head, an event or an error")
	}
	return nil
}

func (s *heads) head(e *Entry, members object) error {
	if v, _ := members.str("agfold"); v != format {
		return fmt.Errorf("the recording's version is %q, want %q", v, format)
	}
	e.Head = &Head{}
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
		e.Head.Input, e.Head.Warnings, err = parseInput(text)
		return err
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
