package client

import (
	"strconv"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// repair makes the messages of a thread a history that can be sent (P-HIS-1).
type repair struct {
	session *Session
	thread  *reducer.Thread
	waits   map[string]bool   // calls that have no result yet
	why     map[string]string // calls that pend, and why they get no other result
	items   []*messages.Message

	called map[string]bool // the calls of the thread
	place  map[slot]int    // of the results of calls
	stays  map[int]bool    // the places of results that are where they belong
	moves  map[int]bool    // the places of results that are put after their calls

	out      []*messages.Message
	again    bool // a call waits
	changed  bool
	warnings []event.Warning
}

// slot is a call of the message at a place.
type slot struct {
	message int
	call    string
}

func (r *repair) warn(rule, id, text string) {
	r.changed = true
	r.warnings = append(r.warnings, event.Warning{Rule: rule, Path: id, Text: text})
}

func (r *repair) do() {
	r.find()
	for i := 0; i < len(r.items); i++ {
		m := r.items[i]
		switch {
		case m.Role == messages.RoleTool:
			r.result(i, m)
		case isNothing(m):
			r.warn("P-HIS-5", m.ID, "the message "+strconv.Quote(m.ID)+" broke off before anything of it came, and was removed")
		case m.ToolCalls.Len() == 0:
			r.out = append(r.out, m)
		default:
			holder, place := r.holder(m), i
			for ; i+1 < len(r.items) && follows(r.items[i+1]); i++ {
				if next := r.items[i+1]; next.Role == messages.RoleTool {
					r.result(i+1, next)
				} else {
					r.out = append(r.out, next)
				}
			}
			r.complete(place, holder)
		}
	}
}

// find looks for the result of each call: the last one that follows its message, else the last one anywhere that no other
// call has.
func (r *repair) find() {
	r.called, r.place, r.stays, r.moves = make(map[string]bool), make(map[slot]int), make(map[int]bool), make(map[int]bool)
	loose := make(map[string][]int)
	var holders []int
	holder := -1
	var calls map[string]bool // of the holder
	for i, m := range r.items {
		switch {
		case m.Role == messages.RoleTool && calls[m.ToolCallID]:
			r.place[slot{holder, m.ToolCallID}] = i
		case m.Role == messages.RoleTool:
			loose[m.ToolCallID] = append(loose[m.ToolCallID], i)
		case !follows(m):
			holder, calls = i, make(map[string]bool, m.ToolCalls.Len())
			for _, tc := range m.ToolCalls.All() {
				calls[tc.ID], r.called[tc.ID] = true, true
			}
			if len(calls) > 0 {
				holders = append(holders, i)
			}
		}
	}
	for _, i := range r.place {
		r.stays[i] = true
	}
	for _, i := range holders {
		for _, tc := range r.items[i].ToolCalls.All() {
			at := slot{i, tc.ID}
			if found := loose[tc.ID]; len(found) > 0 {
				if _, has := r.place[at]; !has {
					last := found[len(found)-1]
					r.place[at], r.moves[last], loose[tc.ID] = last, true, found[:len(found)-1]
				}
			}
		}
	}
}

// result keeps a result where it is, or leaves it out: a call has another one, or it is put after its call. One of a
// call that the thread does not hold stays: the agent may hold it.
func (r *repair) result(i int, m *messages.Message) {
	switch {
	case r.stays[i] || !r.called[m.ToolCallID]:
		r.out = append(r.out, m)
	case !r.moves[i]:
		r.warn("P-HIS-5", m.ID, "the result "+strconv.Quote(m.ID)+" was removed: the call "+strconv.Quote(m.ToolCallID)+" has another one")
	}
}

// holder adds a message with calls, with arguments that can be sent, and returns it.
func (r *repair) holder(m *messages.Message) *messages.Message {
	seen := make(map[string]bool, m.ToolCalls.Len())
	calls := make([]*messages.ToolCall, 0, m.ToolCalls.Len())
	edited := false
	for _, tc := range m.ToolCalls.All() {
		if seen[tc.ID] {
			edited = true
			r.warn("P-HIS-5", tc.ID, "the message "+strconv.Quote(m.ID)+" held the call "+strconv.Quote(tc.ID)+" twice; the second one was removed")
			continue
		}
		seen[tc.ID] = true
		if !isObject(tc.Arguments) {
			edited, r.changed = true, true
			if tc.Arguments != "" { // "" means {}, see ToolCall.Args
				r.warn("P-HIS-4", tc.ID, "the arguments of the call "+strconv.Quote(tc.ID)+" are not a JSON object and became {}: "+strconv.Quote(shorten(tc.Arguments, maxShown)))
			}
			c := *tc
			c.Arguments = "{}"
			tc = &c
		}
		calls = append(calls, tc)
	}
	if edited {
		c := *m
		c.ToolCalls = messages.NewList(calls...)
		r.out = append(r.out, &c)
		return m
	}
	r.out = append(r.out, m)
	return m
}

// complete adds the results that the calls of a message lack.
func (r *repair) complete(place int, m *messages.Message) {
	done := make(map[string]bool, m.ToolCalls.Len())
	for _, tc := range m.ToolCalls.All() {
		if done[tc.ID] {
			continue
		}
		done[tc.ID] = true
		i, has := r.place[slot{place, tc.ID}]
		switch {
		case has && r.stays[i]:
		case has:
			r.warn("P-HIS-5", r.items[i].ID, "the result "+strconv.Quote(r.items[i].ID)+" was put after its call "+strconv.Quote(tc.ID))
			r.out = append(r.out, r.items[i])
		case r.waits[tc.ID]:
			r.again = true
		default:
			text := r.reason(tc)
			r.warn("P-HIS-2", tc.ID, "the call "+strconv.Quote(tc.ID)+" of "+strconv.Quote(tc.Name)+" got a result for the agent: "+text)
			p := pendingCall{call: tc, owner: m.Owner}
			answer := p.answer(messages.Text(text), messages.Some(text))
			answer.ID = r.session.newID()
			r.out = append(r.out, answer)
		}
	}
}

// maxShown is how many bytes of arguments that cannot be sent are shown.
const maxShown = 200

// reason says to the agent, and to people, why a call has no other result.
func (r *repair) reason(tc *messages.ToolCall) string {
	if tc.Status == messages.ToolCallBroken {
		text := "the tool was not called, because the arguments broke off: " + because(r.thread)
		if tc.Arguments != "" {
			text += "; of the arguments came " + strconv.Quote(shorten(tc.Arguments, maxShown))
		}
		return text
	}
	if why, pends := r.why[tc.ID]; pends {
		return why
	}
	return "there is no result: " + because(r.thread)
}

func noTool(name string) string { return "there is no tool " + strconv.Quote(name) }

// because says how the last run ended, the one whose calls are settled.
func because(th *reducer.Thread) string {
	switch th.Status() {
	case reducer.Stopped:
		return "the user stopped the run"
	case reducer.Cancelled:
		return "the run was cancelled"
	case reducer.Failed:
		return "the run failed"
	case reducer.Rejected:
		return "the stream of the run was not in order"
	case reducer.Truncated:
		return "the connection to the run was lost"
	}
	return "none came"
}
