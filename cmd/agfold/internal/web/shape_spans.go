package web

import (
	"slices"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// span is what lasts from one row to another: a run, a message, a call.
type span struct {
	kind      spanKind
	lane, row int
	id, label string
	from      int // the row at which it begins
	mid       int // of a call, the row at which its arguments are complete; of an activity, its last change; 0 if there is none
	to        int // the row at which it ends; 0 while it is open
	status    string
	touched   int // the row that changed it last
}

type spanKind uint8

const (
	spanRun spanKind = iota
	spanSubagent
	spanStep
	spanMessage
	spanReasoning
	spanActivity
	spanCall
	spanKinds
)

var spanNames = [spanKinds]string{"run", "subagent", "step", "message", "reasoning", "activity", "call"}

// The spans of a lane are drawn in groups, one below the other.
const (
	groupOwner = iota // runs and invocations
	groupStep
	groupMessage
	groupActivity
	groupCall
	groups
)

func (k spanKind) group() int {
	switch k {
	case spanRun, spanSubagent:
		return groupOwner
	case spanStep:
		return groupStep
	case spanActivity:
		return groupActivity
	case spanCall:
		return groupCall
	}
	return groupMessage
}

type spanKey struct {
	kind  spanKind
	owner messages.Owner // of a step, of a subagent
	id    string
}

// openSpans are the spans that have not ended, by what they are, and what the pauses need of them.
type openSpans struct {
	by       map[spanKey]int
	seen     map[messages.Owner]bool // the invocations that the run at hand has a span of
	run      int                     // the open run, -1 if none
	runBegan int                     // the row
	waiting  map[int][]int           // by lane, the calls that wait for a result, the last one on top; some may have ended
	saying   map[int]int             // by lane, the message that was opened last
	child    map[int]int             // by lane, the lane nested under it that had an event last
}

func newOpenSpans() openSpans {
	return openSpans{
		by: make(map[spanKey]int), seen: make(map[messages.Owner]bool), run: -1,
		waiting: make(map[int][]int), saying: make(map[int]int), child: make(map[int]int),
	}
}

// span opens and ends what a step opens and ends.
func (s *shape) span(st step, at int) {
	ev, c := st.delivery.Event, st.delivery.Change
	if st.head != nil || st.end != nil {
		s.endRun(st)
	}
	if ev == nil {
		if s.open.run >= 0 && st.thread.Status() == reducer.Rejected {
			s.endRun(st)
		}
		return
	}
	owner := ev.Owner()
	if !owner.IsParent() && c.Kind != reducer.SubagentEnded && !s.open.seen[owner] {
		id, _ := owner.RunID()
		s.open.seen[owner] = true
		s.begin(st.n, at, spanKey{spanSubagent, owner, ""}, id, s.lanes[at].name)
	}
	switch c.Kind {
	case reducer.RunBegan:
		s.endRun(st)
		s.open.run, s.open.runBegan = s.begin(st.n, at, spanKey{kind: spanRun}, c.RunID, ""), st.n
		s.answered(st)
	case reducer.RunEnded:
		s.endRun(st)
	case reducer.StepBegan:
		s.begin(st.n, at, spanKey{spanStep, owner, c.StepName}, c.StepName, "")
	case reducer.StepEnded:
		s.end(st.n, spanKey{spanStep, owner, c.StepName}, "finished")
	case reducer.SubagentEnded:
		status := "finished"
		if _, failed := ev.(*event.SubagentError); failed {
			status = "failed"
		}
		s.end(st.n, spanKey{kind: spanSubagent, owner: owner}, status)
	case reducer.MessageAdded, reducer.MessageReopened, reducer.MessageReplaced, reducer.MessageClosed, reducer.ActivityPatched, reducer.MetadataMerged:
		s.message(st, at)
	case reducer.ToolCallAdded, reducer.ToolCallReopened, reducer.ToolCallClosed:
		s.call(st, at)
	}
	if result, ok := ev.(*event.ToolCallResult); ok {
		s.end(st.n, spanKey{kind: spanCall, id: result.ToolCallID}, "answered")
	}
}

// message opens or ends what a message says.
func (s *shape) message(st step, at int) {
	c := st.delivery.Change
	key := spanKey{id: c.MessageID}
	label := ""
	switch c.MessageKind {
	case messages.KindText:
		key.kind = spanMessage
	case messages.KindReasoning:
		key.kind = spanReasoning
	case messages.KindActivity:
		key.kind = spanActivity
		if i, open := s.open.by[key]; open {
			s.spans[i].mid, s.spans[i].touched = st.n, st.n
			return
		}
		if snapshot, ok := st.delivery.Event.(*event.ActivitySnapshot); ok {
			label = snapshot.ActivityType
		}
	default:
		return
	}
	if c.Kind == reducer.MessageClosed {
		s.end(st.n, key, "complete")
		return
	}
	if i := s.begin(st.n, at, key, c.MessageID, label); key.kind != spanActivity {
		s.open.saying[at] = i
	}
}

// call opens a call, or notes that its arguments are complete.
func (s *shape) call(st step, at int) {
	c := st.delivery.Change
	key := spanKey{kind: spanCall, id: c.ToolCallID}
	i, open := s.open.by[key]
	switch {
	case c.Kind == reducer.ToolCallClosed && open:
		s.spans[i].mid, s.spans[i].touched = st.n, st.n
		s.open.waiting[at] = append(s.open.waiting[at], i)
	case c.Kind == reducer.ToolCallClosed:
	case open:
		s.spans[i].mid, s.spans[i].touched = 0, st.n
	default:
		label := ""
		if start, ok := st.delivery.Event.(*event.ToolCallStart); ok {
			label = start.ToolCallName
		}
		s.begin(st.n, at, key, c.ToolCallID, label)
	}
}

// begin opens a span in the first row of its group that is free. One that is open already stays as it is.
func (s *shape) begin(n, at int, key spanKey, id, label string) int {
	if i, open := s.open.by[key]; open {
		return i
	}
	l, group := &s.lanes[at], key.kind.group()
	row := slices.Index(l.busy[group][:], 0)
	if row < 0 {
		row = mostRows - 1
	}
	l.busy[group][row]++
	l.rows[group] = max(l.rows[group], row+1)
	s.open.by[key] = len(s.spans)
	s.spans = append(s.spans, span{kind: key.kind, lane: at, row: row, id: short(id), label: short(label), from: n, touched: n})
	return len(s.spans) - 1
}

// end ends a span if it is open.
func (s *shape) end(n int, key spanKey, status string) {
	i, open := s.open.by[key]
	if !open {
		return
	}
	delete(s.open.by, key)
	sp := &s.spans[i]
	s.lanes[sp.lane].busy[sp.kind.group()][sp.row]--
	sp.to, sp.status, sp.touched = n, status, n
}

// endRun ends what the end of a run ends: everything but its calls that may be answered in the next one.
func (s *shape) endRun(st step) {
	clear(s.open.seen)
	if s.open.run < 0 && st.end == nil {
		return
	}
	run := lastRun(st)
	pending := make(map[string]bool, len(run.PendingToolCallIDs))
	for _, id := range run.PendingToolCallIDs {
		pending[id] = true
	}
	for key, i := range s.open.by {
		sp := &s.spans[i]
		to, status := st.n, "unfinished"
		switch key.kind {
		case spanRun:
			status = run.Status.String()
		case spanMessage, spanReasoning:
			status = "cut"
		case spanActivity:
			to, status = max(sp.from, sp.mid), "complete"
		case spanCall:
			if (pending[key.id] || run.Status == reducer.Interrupted) && sp.from >= s.open.runBegan {
				continue // its result may come with the next run
			}
			if status = "unanswered"; sp.mid == 0 {
				status = "broken"
			}
		}
		s.end(to, key, status)
		sp.touched = st.n
	}
	s.open.run = -1
	clear(s.open.waiting)
}

// lastRun returns the run that a step ends.
func lastRun(st step) *reducer.Run {
	th := st.thread
	if st.delivery.Change.Kind == reducer.RunBegan || st.head != nil {
		th = st.before
	}
	if run := th.LastRun(); run != nil {
		return run
	}
	return new(reducer.Run)
}

// answered ends the calls that the client answered before the run.
func (s *shape) answered(st step) {
	for key := range s.open.by {
		if key.kind == spanCall && st.thread.ToolResult(key.id) != nil {
			s.end(st.n, key, "answered")
		}
	}
}
