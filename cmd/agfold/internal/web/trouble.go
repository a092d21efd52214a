package web

import (
	"errors"
	"fmt"
	"slices"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/lint"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/reducer"
)

// trouble is what went wrong in a log: warnings, rejections, runs that failed or broke off, and what the linter found.
type trouble struct {
	places   places
	last     int             // the last position
	thread   *reducer.Thread // there
	problems []problem
	more     int                 // problems that are not listed
	noted    error               // the last rejection or end
	linter   *lint.Linter        // of the streams so far
	linted   bool                // the stream at hand was linted to its end
	events   int                 // that the linter has seen
	cited    map[string]struct{} // the rules of problems
}

// mostProblems bounds the problems that are listed.
const mostProblems = 2000

// problem is something that went wrong at a position.
type problem struct {
	n, ordinal int    // ordinal is 0 if it is about no event
	kind       string // "warning", "rejected", "failed", "cut", "damaged"
	rule, typ  string
	path, text string
}

func newTrouble() *trouble {
	return &trouble{linter: lint.New(nil), cited: make(map[string]struct{})}
}

// entry takes an entry of the recording before it is folded.
func (t *trouble) entry(e recording.Entry, ordinal int) {
	switch {
	case e.Head != nil:
		t.endStream()
		t.linter.Head()
	case e.Err == nil:
		t.events, t.linted = t.events+1, false
		t.linter.Event(e.Event, ordinal, e.At)
	}
}

// endStream lints the end of the stream at hand.
func (t *trouble) endStream() {
	if t.linted || t.events == 0 {
		return
	}
	t.linted = true
	t.linter.End(t.thread.BreakOff(nil))
}

// step takes the next position of the log.
func (t *trouble) step(st step) {
	t.last, t.thread = st.n, st.thread
	d := st.delivery
	if d.Ordinal > 0 {
		t.places.note(d.Ordinal, st.n)
		t.linter.Deliver(d, func() *reducer.Thread { return st.thread })
	}
	for _, w := range d.Warnings {
		t.warn(w, st.n)
	}
	switch ev := d.Event.(type) {
	case nil:
		t.ended(st.thread, st.end, st.n)
	case *event.RunError:
		t.add(problem{n: st.n, ordinal: d.Ordinal, kind: "failed", typ: ev.Type().String(), text: withCode(ev.Message, ev.Code)})
	case *event.SubagentError:
		t.add(problem{n: st.n, ordinal: d.Ordinal, kind: "failed", typ: ev.Type().String(), text: withCode(ev.Message, ev.Code)})
	}
}

func withCode(message string, code messages.Opt[string]) string {
	if code, ok := code.Get(); ok {
		return fmt.Sprintf("%s (%s)", message, code)
	}
	return message
}

// ended notes why the thread's last run did not end well, once.
func (t *trouble) ended(th *reducer.Thread, cause error, n int) {
	status := th.Status()
	if cause == nil && (status == reducer.Rejected || status == reducer.Truncated) {
		cause = th.Err()
	}
	if cause == nil || cause == t.noted || errors.Is(cause, reducer.ErrStopped) {
		return
	}
	t.noted = cause
	p := problem{n: n, kind: "cut", text: cause.Error()}
	if v, ok := errors.AsType[*reducer.Violation](cause); ok {
		p.kind, p.ordinal, p.rule, p.typ, p.path, p.text = "rejected", v.Ordinal, v.Rule, v.Type.String(), v.ID, v.Reason
	} else if m, ok := errors.AsType[*messages.MalformedError](cause); ok {
		p.kind, p.ordinal, p.rule, p.typ, p.path = "rejected", m.Ordinal, m.Rule, m.Type, m.Path
		p.text = fmt.Sprintf("want %s, found %s", m.Want, m.Found)
		if m.Hint != "" {
			p.text += "; " + m.Hint
		}
	}
	if p.ordinal > 0 {
		p.n = t.places.position(p.ordinal, t.last)
	}
	t.add(p)
}

// warn takes a warning, which stands at position n or, of a run's input, before it.
func (t *trouble) warn(w event.Warning, n int) {
	t.add(problem{n: n, ordinal: w.Ordinal, kind: "warning", rule: w.Rule, typ: w.Type, path: w.Path, text: w.Text})
}

func (t *trouble) add(p problem) {
	if p.rule != "" {
		t.cited[p.rule] = struct{}{}
	}
	if len(t.problems) >= mostProblems {
		t.more++
		return
	}
	p.typ, p.path, p.text = short(p.typ), short(p.path), shortText(p.text)
	t.problems = append(t.problems, p)
}

// end takes the end of a recording, with its final thread and the error of reading it, if there was one.
func (t *trouble) end(th *reducer.Thread, err error) {
	t.thread = th
	t.ended(th, nil, t.last)
	if err != nil && !errors.Is(t.noted, err) { // else the cut run's error tells it
		t.add(problem{n: t.last, kind: "damaged", text: err.Error()})
	}
	t.endStream()
}

// places finds the first position of an event. Most events make one delivery, so only the others are kept.
type places struct {
	ordinals, positions []int // where the distance between the two changes
	last                int
}

// note notes a position of an event; events come in order.
func (p *places) note(ordinal, n int) {
	if ordinal == p.last {
		return
	}
	p.last = ordinal
	if i := len(p.ordinals) - 1; i < 0 || p.positions[i]-p.ordinals[i] != n-ordinal {
		p.ordinals, p.positions = append(p.ordinals, ordinal), append(p.positions, n)
	}
}

// position returns the first position of an event, at most last.
func (p *places) position(ordinal, last int) int {
	i, found := slices.BinarySearch(p.ordinals, ordinal)
	if !found {
		i--
	}
	if i < 0 {
		return min(1, last)
	}
	return min(p.positions[i]+ordinal-p.ordinals[i], last)
}
