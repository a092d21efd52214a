package main

import (
	"iter"
	"slices"
	"strings"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// oneStep is an event of a recording and what it changed.
type oneStep struct {
	ordinal, line int
	typ, text     string // the event as it came; a long text is cut
	deliveries    []reducer.Delivery
	warnings      []event.Warning
	before, after *reducer.Thread
}

// windowSize is how many steps are kept. What lies further back is folded again.
const windowSize = 10_000

// longestText bounds the text that is kept of an event.
const longestText = 4 << 10

// stepper walks through a recording.
type stepper struct {
	open   func() (*recording.Recording, func(), error)
	window []oneStep
	at     int // the place in the window; -1 before the first event
	pull   func() (oneStep, error, bool)
	stop   func()
	err    error // what the recording ended with
	ended  bool
}

// newStepper returns a stepper before the first event.
func newStepper(open func() (*recording.Recording, func(), error)) (*stepper, error) {
	s := &stepper{open: open}
	return s, s.rewind()
}

// rewind begins anew.
func (s *stepper) rewind() error {
	s.close()
	rec, done, err := s.open()
	if err != nil {
		return err
	}
	next, stop := iter.Pull2(steps(rec))
	s.pull, s.stop = next, func() { stop(); done() }
	s.window, s.at, s.ended, s.err = s.window[:0], -1, false, nil
	return nil
}

func (s *stepper) close() {
	if s.stop != nil {
		s.stop()
		s.stop = nil
	}
}

// steps yields the steps of a recording.
func steps(rec *recording.Recording) iter.Seq2[oneStep, error] {
	return func(yield func(oneStep, error) bool) {
		var cur oneStep
		var entry recording.Entry
		folder := recording.NewFolder(rec, &recording.FoldOptions{OnEntry: func(e recording.Entry) {
			if e.Head == nil && e.Err == nil {
				entry = e
			}
		}})
		last := folder.Thread()
		for d, err := range folder.Deliveries() {
			if err != nil {
				if cur.ordinal > 0 && !yield(cur, nil) {
					return
				}
				yield(oneStep{}, err)
				return
			}
			if d.Ordinal != cur.ordinal {
				if cur.ordinal > 0 {
					last = cur.after
					if !yield(cur, nil) {
						return
					}
				}
				text := string(entry.Event.Data())
				if len(text) > longestText {
					text = text[:longestText] + "…"
				}
				cur = oneStep{ordinal: d.Ordinal, line: entry.Line, typ: entry.Event.TypeName(), text: strings.Clone(text), before: last}
			}
			cur.warnings = append(cur.warnings, d.Warnings...)
			d.Warnings = nil
			if d.Event != nil {
				cur.deliveries = append(cur.deliveries, d)
			}
			cur.after = folder.Thread()
		}
		if cur.ordinal > 0 {
			yield(cur, nil)
		}
	}
}

// current returns the step at hand, nil before the first event.
func (s *stepper) current() *oneStep {
	if s.at < 0 || s.at >= len(s.window) {
		return nil
	}
	return &s.window[s.at]
}

// position returns the ordinal of the step at hand, 0 before the first event.
func (s *stepper) position() int {
	if cur := s.current(); cur != nil {
		return cur.ordinal
	}
	return 0
}

// forward goes to the next event, and reports whether there is one.
func (s *stepper) forward() bool {
	if s.at+1 < len(s.window) {
		s.at++
		return true
	}
	if s.ended {
		return false
	}
	next, err, ok := s.pull()
	if !ok || err != nil {
		s.ended, s.err = true, err
		return false
	}
	if len(s.window) >= windowSize {
		s.window = slices.Delete(s.window, 0, windowSize/2)
	}
	s.window = append(s.window, next)
	s.at = len(s.window) - 1
	return true
}

// back goes to the event before, and reports whether there is one.
func (s *stepper) back() bool { return s.to(s.position() - 1) }

// to goes to an event, or to the last one before it, and reports whether it is there. 0 is before the first one.
func (s *stepper) to(ordinal int) bool {
	if ordinal < 0 {
		return false
	}
	if len(s.window) > 0 && ordinal >= s.window[0].ordinal {
		s.at = min(ordinal-s.window[0].ordinal, len(s.window)-1)
	} else if ordinal == 0 && len(s.window) > 0 && s.window[0].ordinal == 1 {
		s.at = -1
	} else if s.position() > ordinal && s.rewind() != nil {
		return false
	}
	for s.position() < ordinal {
		if !s.forward() {
			return false
		}
	}
	return s.position() == ordinal
}

// find goes to the next step that matches, or, backwards, to the last one before; if there is none it stays.
func (s *stepper) find(backwards bool, match func(*oneStep) bool) bool {
	from := s.position()
	if !backwards {
		for s.forward() {
			if match(s.current()) {
				return true
			}
		}
		s.to(from)
		return false
	}
	for s.at > 0 {
		if s.at--; match(s.current()) {
			return true
		}
	}
	found, limit := 0, s.position()
	if limit > 1 { // the window does not begin at the beginning
		if s.rewind() == nil {
			for s.forward() && s.position() < limit {
				if match(s.current()) {
					found = s.position()
				}
			}
		}
	}
	if found == 0 {
		s.to(from)
		return false
	}
	return s.to(found)
}

// changesState reports whether the step changed the state at a pointer, or below or above it.
func (st *oneStep) changesState(pointer string) bool {
	was, _ := st.before.State.Lookup(pointer)
	now, _ := st.after.State.Lookup(pointer)
	return !state.Same(was, now) && !was.Equal(now)
}

// changesMessage reports whether the step is about the message with an id.
func (st *oneStep) changesMessage(id string) bool {
	return slices.ContainsFunc(st.deliveries, func(d reducer.Delivery) bool { return d.Change.MessageID == id && d.Change.Index >= 0 })
}
