package reducer

import (
	"cmp"
	"slices"

	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// WithMessages returns the thread with messages that its client has added between runs. They go to the end; a tool
// message goes after the call that it answers and the answers already there, and the call no longer pends (P-TOL-3).
// It costs a pass over the messages if there are answers among the new ones. The revision is one higher; with no
// messages the thread is returned as it is.
//
// The messages are not judged: they must be well-formed and their keys new to the thread.
func (t *Thread) WithMessages(msgs ...*messages.Message) *Thread {
	if len(msgs) == 0 {
		return t
	}
	waits := make(map[string]bool) // calls that the new messages answer
	for _, m := range msgs {
		if m.Role == messages.RoleTool {
			waits[m.ToolCallID] = true
		}
	}
	called := make(map[string]bool) // those of them that the thread will hold
	if len(waits) > 0 {
		note := func(m *messages.Message) {
			for _, tc := range m.ToolCalls.All() {
				if waits[tc.ID] {
					called[tc.ID] = true
				}
			}
		}
		for _, m := range t.Messages.All() {
			note(m)
		}
		for _, m := range msgs {
			note(m)
		}
	}
	c := *t
	c.Revision++
	answers := make(map[string][]*messages.Message)
	for _, m := range msgs {
		if m.Role == messages.RoleTool && called[m.ToolCallID] {
			answers[m.ToolCallID] = append(answers[m.ToolCallID], m)
		} else {
			c.Messages = c.Messages.Append(still(m))
		}
	}
	if len(answers) > 0 {
		order := make(map[*messages.Message]int, len(msgs))
		for i, m := range msgs {
			order[m] = i
		}
		first := make(map[string]int) // the places of the calls' messages; if several share an id, it means the first
		for i, m := range c.Messages.All() {
			for _, tc := range m.ToolCalls.All() {
				if _, known := first[tc.ID]; !known && waits[tc.ID] {
					first[tc.ID] = i
				}
			}
		}
		c.place(answers, order, first)
	}
	return &c
}

// place puts answers after the calls that they are for, from the last message to the first, so that no place
// shifts before it is used.
func (t *Thread) place(answers map[string][]*messages.Message, order map[*messages.Message]int, first map[string]int) {
	before := t.Messages
	for i, m := range before.Backward() {
		var here []*messages.Message
		calls := m.ToolCalls
		for j, tc := range m.ToolCalls.All() {
			if found, ok := answers[tc.ID]; ok && first[tc.ID] == i {
				here = append(here, found...)
				delete(answers, tc.ID)
				calls = calls.Set(j, answered(tc))
			}
		}
		if here == nil {
			continue
		}
		slices.SortFunc(here, func(a, b *messages.Message) int { return cmp.Compare(order[a], order[b]) })
		holder := *m
		holder.ToolCalls = calls
		t.Messages = t.Messages.Set(i, &holder)
		at := i + 1
		for at < before.Len() && before.At(at).Role == messages.RoleTool {
			at++
		}
		done := make(map[string]bool, len(here))
		for k, answer := range here {
			t.Messages = t.Messages.Insert(at+k, answer)
			done[answer.ToolCallID] = true
		}
		t.keepPending(func(id string) bool { return !done[id] })
		if len(answers) == 0 {
			return
		}
	}
}

// ReplaceMessages returns the thread with other messages in place of its own. A call is answered if a tool message
// among them answers it. Pending calls without an answer still pend. The revision is one higher.
//
// The messages are not judged: they must be well-formed and their keys different.
func (t *Thread) ReplaceMessages(msgs ...*messages.Message) *Thread {
	results := make(map[string]bool)
	for _, m := range msgs {
		if m.Role == messages.RoleTool {
			results[m.ToolCallID] = true
		}
	}
	msgs = slices.Clone(msgs)
	waiting := make(map[string]bool)
	for i, m := range msgs {
		m = still(m)
		calls := m.ToolCalls
		for j, tc := range m.ToolCalls.All() {
			switch {
			case !results[tc.ID]:
				waiting[tc.ID] = true
			case tc.Status != messages.ToolCallAnswered:
				calls = calls.Set(j, answered(tc))
			}
		}
		if !messages.Same(calls, m.ToolCalls) {
			c := *m
			c.ToolCalls = calls
			m = &c
		}
		msgs[i] = m
	}
	c := *t
	c.Revision++
	c.Messages = messages.NewList(msgs...)
	c.keepPending(func(id string) bool { return waiting[id] })
	return &c
}

func answered(tc *messages.ToolCall) *messages.ToolCall {
	c := *tc
	c.Status = messages.ToolCallAnswered
	return &c
}

// keepPending removes the pending calls for which keep returns false; t is not shared yet.
func (t *Thread) keepPending(keep func(id string) bool) {
	pending := t.PendingToolCallIDs()
	kept := slices.DeleteFunc(slices.Clone(pending), func(id string) bool { return !keep(id) })
	if len(kept) == len(pending) {
		return
	}
	run := *t.LastRun()
	run.PendingToolCallIDs = kept
	t.Runs = t.Runs.Set(t.Runs.Len()-1, &run)
}

// addBetweenRuns is WithMessages for those messages that the thread does not hold. Of several with one key the first
// counts.
func (d *draft) addBetweenRuns(msgs []*messages.Message) {
	var added []*messages.Message
	seen := make(map[messages.Key]bool)
	called := make(map[string]bool) // by what is added
	for _, m := range msgs {
		if k := m.Key(); d.findKey(k) == nil && !seen[k] {
			seen[k] = true
			added = append(added, m)
			for _, tc := range m.ToolCalls.All() {
				called[tc.ID] = true
			}
		}
	}
	if len(added) == 0 {
		return
	}
	d.revised()
	var answers []*messages.Message
	for _, m := range added {
		if c := d.calls[m.ToolCallID]; m.Role == messages.RoleTool && (called[m.ToolCallID] || c != nil && c.tc != nil) {
			answers = append(answers, m)
		} else {
			d.add(still(m), 0)
		}
	}
	done := make(map[string]bool, len(answers))
	for _, m := range answers {
		c := d.calls[m.ToolCallID]
		d.addResult(c, m, 0)
		c.stale, done[m.ToolCallID] = 0, true
	}
	t := Thread{Runs: d.runs}
	t.keepPending(func(id string) bool { return !done[id] })
	d.runs = t.Runs
}

// setBetweenRuns makes what the input of a run gives as the state the thread's.
func (d *draft) setBetweenRuns(v state.Value) {
	if !codec.Given(v) {
		return
	}
	if !d.state.Equal(v) {
		d.revised()
	}
	d.state, d.hasState = v, d.hasState || !isEmptyObject(v)
}
