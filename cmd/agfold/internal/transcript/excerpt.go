package transcript

import (
	"maps"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// Excerpt draws messages of a thread while it grows. It knows the subagents that it was told of, so that no
// drawing costs a pass over the thread. It is for one goroutine at a time.
type Excerpt struct {
	Style
	places    map[messages.Owner]place
	suspended map[messages.Owner]bool // those that keep their place when they come back
}

// Excerpt returns an excerpt that knows no subagents.
func (s Style) Excerpt() *Excerpt {
	return &Excerpt{s, map[messages.Owner]place{}, map[messages.Owner]bool{}}
}

// Restate tells of all subagents of a thread. It costs a pass over them.
func (x *Excerpt) Restate(t *reducer.Thread) {
	clear(x.suspended)
	for depth, n := range t.Subagents.Walk() {
		x.places[n.RunID] = place{subagentName(n), min(depth+1, maxGutter)}
		x.suspended[n.RunID] = n.Status == reducer.SubagentSuspended
	}
	maps.DeleteFunc(x.suspended, func(_ messages.Owner, is bool) bool { return !is })
}

// Began tells that a subagent has begun, or come back to where it was (P-SUB-1).
func (x *Excerpt) Began(e *event.SubagentStarted) {
	pl := place{subagentName(&reducer.Subagent{RunID: e.SubagentRunID, Name: e.Name}), 1}
	switch {
	case x.suspended[e.SubagentRunID]:
		pl.depth = x.places[e.SubagentRunID].depth
	case !e.ParentSubagentRunID.IsParent():
		pl.depth = min(x.place(e.ParentSubagentRunID).depth+1, maxGutter)
	}
	x.places[e.SubagentRunID] = pl
	delete(x.suspended, e.SubagentRunID)
}

// Suspended tells that a subagent waits and may come back.
func (x *Excerpt) Suspended(o messages.Owner) { x.suspended[o] = true }

// place is where a subagent stands: under the parent agent if nothing announced it.
func (x *Excerpt) place(o messages.Owner) place {
	if pl, ok := x.places[o]; ok || o.IsParent() {
		return pl
	}
	return place{subagentName(&reducer.Subagent{RunID: o}), 1}
}

// Message draws a message, its tool calls without results.
func (x *Excerpt) Message(m *messages.Message) string { return x.around(m, nil).Message(m) }

// Call draws a tool call with results that answer it, under the heading of the message that holds it.
func (x *Excerpt) Call(holder *messages.Message, c *messages.ToolCall, results ...*messages.Message) string {
	m := *holder
	m.Content, m.ToolCalls = messages.Content{}, messages.NewList(c)
	return x.around(&m, map[string][]*messages.Message{c.ID: results}).Message(&m)
}

// around is a view of what a message needs.
func (x *Excerpt) around(m *messages.Message, results map[string][]*messages.Message) *View {
	return &View{Style: x.Style, results: results, places: map[messages.Owner]place{m.Owner: x.place(m.Owner)}}
}
