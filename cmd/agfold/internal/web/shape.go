package web

import (
	"bytes"
	"time"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

// shape is what the timeline draws: when each event came and whose it is, what lasted from one event to another, and the
// pauses, with what was waited for. It is made step by step, so it grows with its log.
type shape struct {
	types  []string       // the names of the types that occurred
	typeOf map[string]int // their places
	at     []int64        // when each row came, in microseconds since the first one
	typ    []uint8        // its type
	owner  []uint16       // its lane

	lanes  []lane
	laneOf map[messages.Owner]int
	spans  []span
	open   openSpans
	pauses pauses
	clock  clock
}

// A timeline has at most mostLanes lanes; whoever comes later shares the last one. A lane has at most mostRows rows for one
// group of spans; what is open at the same time beyond that is drawn over each other.
const (
	mostLanes  = 400
	mostRows   = 8
	mostTypes  = 200
	mostRunes  = maxSaid // of an id or a name
	mostPauses = 2000
	leastPause = 150 * time.Millisecond
)

// lane is the place of one owner.
type lane struct {
	id, name string
	parent   int // the lane that it is nested under; -1 if none
	rows     [groups]int
	busy     [groups][mostRows]int // how many open spans stand in a row
	last     int                   // its last row, 0 before the first
}

// newShape returns the shape of an empty log.
func newShape() *shape {
	s := &shape{typeOf: make(map[string]int), laneOf: make(map[messages.Owner]int), open: newOpenSpans()}
	s.laneOf[messages.Owner{}] = 0
	s.lanes = append(s.lanes, lane{parent: -1})
	return s
}

// step takes the next position of the log.
func (s *shape) step(st step) {
	ev := st.delivery.Event
	var owner messages.Owner
	name := st.raw.TypeName()
	if ev != nil {
		owner, name = ev.Owner(), ev.Type().String()
	}
	if st.end != nil || name == "" {
		name = "END"
		if st.end == nil {
			name = "not an event"
		}
	}
	at := s.laneFor(owner, ev)
	s.at = append(s.at, s.clock.at(st))
	s.typ = append(s.typ, s.typeFor(name))
	s.owner = append(s.owner, uint16(at))
	s.pause(st, at)
	s.lanes[at].last = st.n
	s.span(st, at)
}

// typeFor returns the place of a type's name. The names of types that nobody knows are bounded.
func (s *shape) typeFor(name string) uint8 {
	if i, known := s.typeOf[name]; known {
		return uint8(i)
	}
	if len(s.types) >= mostTypes {
		name = "unknown"
		if i, known := s.typeOf[name]; known {
			return uint8(i)
		}
	}
	s.typeOf[name] = len(s.types)
	s.types = append(s.types, short(name))
	return uint8(len(s.types) - 1)
}

// laneFor returns the lane of an owner, which may be new. SUBAGENT_STARTED names it.
func (s *shape) laneFor(owner messages.Owner, ev event.Event) int {
	i, known := s.laneOf[owner]
	if !known {
		i = len(s.lanes)
		if i == mostLanes {
			i--
		} else {
			id, _ := owner.RunID()
			s.lanes = append(s.lanes, lane{id: short(id), parent: 0})
			if i == mostLanes-1 {
				s.lanes[i].name = "further subagents"
			}
			s.laneOf[owner] = i
		}
	}
	if started, ok := ev.(*event.SubagentStarted); ok && i < mostLanes-1 {
		s.lanes[i].name = short(started.Name)
		if parent, ok := s.laneOf[started.ParentSubagentRunID]; ok && !s.above(parent, i) {
			s.lanes[i].parent = parent
		}
	}
	return i
}

// above reports whether lane i is lane of, or stands above it.
func (s *shape) above(of, i int) bool {
	for ; of >= 0; of = s.lanes[of].parent {
		if of == i {
			return true
		}
	}
	return false
}

// clock puts the steps on one axis. If the log has no times, the timestamps of the events stand in.
type clock struct {
	source string // "recorded", "timestamps" or "" while there were none
	last   int64  // in microseconds
	first  int64  // the first timestamp, in milliseconds
}

// at returns when a step came, never before the one before it.
func (c *clock) at(st step) int64 {
	switch {
	case st.at >= 0:
		c.source, c.last = "recorded", max(c.last, st.at.Microseconds())
	case c.source != "recorded":
		if stamp, ok := timestamp(st.raw); ok {
			if c.source == "" {
				c.source, c.first = "timestamps", stamp
			}
			if since := stamp - c.first; since < 1<<42 { // a hundred years; the product fits
				c.last = max(c.last, since*1000)
			}
		}
	}
	return c.last
}

// timestamp returns an event's own timestamp, in milliseconds.
func timestamp(raw event.Frame) (int64, bool) {
	if !bytes.Contains(raw.Data(), []byte(`"timestamp"`)) {
		return 0, false
	}
	stamp, ok := raw.Value().Get("timestamp").AsInt()
	return stamp, ok && stamp > -1<<53 && stamp < 1<<53
}

// shortText cuts a sentence, as short cuts an id or a name.
func shortText(text string) string {
	n := 0
	for i := range text {
		if n == 4*mostRunes {
			return text[:i] + "…"
		}
		n++
	}
	return text
}
