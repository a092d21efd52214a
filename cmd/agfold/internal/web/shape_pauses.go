package web

import (
	"cmp"
	"slices"
)

// pause is a time in which an owner's events stopped, and what was waited for.
type pause struct {
	lane     int
	from, to int   // the rows before and after it
	long     int64 // in microseconds
	who      string
	label    string
}

// What may be waited for.
const (
	waitClient   = "client"   // the next run: a message, an answer, a result
	waitStart    = "start"    // the first event of a run
	waitSubagent = "subagent" // a subagent that worked meanwhile
	waitTool     = "tool"     // a call's result
	waitText     = "text"     // more of a message
	waitAgent    = "agent"    // the agent, nobody knows why
)

// pauses keeps the longest pauses.
type pauses struct{ list []pause }

// pause notes the time since the last event of the lane, if it was long. It is called before the step's spans change.
func (s *shape) pause(st step, at int) {
	last := s.lanes[at].last
	for above, steps := s.lanes[at].parent, 0; above >= 0 && steps < 32; above, steps = s.lanes[above].parent, steps+1 {
		s.open.child[above] = at
	}
	if last == 0 || at != 0 && last < s.open.runBegan {
		return
	}
	long := s.at[st.n-1] - s.at[last-1]
	if long < leastPause.Microseconds() {
		return
	}
	p := pause{lane: at, from: last, to: st.n, long: long}
	p.who, p.label = s.waitedFor(st, at, last)
	s.pauses.add(p)
}

// waitedFor says what a lane that had its last event at row last waited for.
func (s *shape) waitedFor(st step, at, last int) (who, label string) {
	child, nested := s.open.child[at]
	waiting := s.waiting(at)
	saying, said := s.open.saying[at]
	switch {
	case at == 0 && s.open.run < 0:
		return waitClient, clientOwes(st)
	case nested && s.lanes[child].last > last:
		return waitSubagent, cmp.Or(s.lanes[child].name, s.lanes[child].id)
	case waiting >= 0:
		return waitTool, s.spans[waiting].label
	case s.open.runBegan == last:
		return waitStart, ""
	case said && s.spans[saying].to == 0:
		return waitText, s.spans[saying].id
	}
	return waitAgent, ""
}

// waiting returns the span of the call that waits for a result in a lane, the newest one; -1 if none does.
func (s *shape) waiting(at int) int {
	calls := s.open.waiting[at]
	for len(calls) > 0 {
		if i := calls[len(calls)-1]; s.spans[i].to == 0 {
			return i
		}
		calls = calls[:len(calls)-1]
		s.open.waiting[at] = calls
	}
	return -1
}

// clientOwes says what the agent waited for between two runs.
func clientOwes(st step) string {
	if st.before == nil {
		return ""
	}
	run := st.before.LastRun()
	switch {
	case len(st.before.Interrupts) > 0:
		return "an answer"
	case run != nil && len(run.PendingToolCallIDs) > 0:
		return "a result"
	}
	return "the next run"
}

func (p *pauses) add(next pause) {
	p.list = append(p.list, next)
	if len(p.list) < 2*mostPauses {
		return
	}
	slices.SortStableFunc(p.list, func(a, b pause) int { return cmp.Compare(b.long, a.long) })
	p.list = p.list[:mostPauses]
	slices.SortFunc(p.list, func(a, b pause) int { return cmp.Compare(a.to, b.to) })
}
