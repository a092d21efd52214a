package main

import (
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// callIndex finds the tool calls of a thread that grows, so that a result costs no pass over the thread. The
// zero value is that of an empty thread.
type callIndex struct {
	calls   map[string]knownCall
	holders map[[2]string]*messages.Message // the messages that hold them, without their content and calls
	stale   bool                            // any of it may have changed
}

// knownCall is a tool call and its place: which message holds it, and where there.
type knownCall struct {
	call   *messages.ToolCall
	holder [2]string
	place  int
}

// fill starts anew with all calls of a thread.
func (x *callIndex) fill(th *reducer.Thread) {
	*x = callIndex{}
	for _, m := range th.Messages.All() {
		x.hold(m)
	}
}

// hold takes up the calls of a message. Of several with one id the first counts.
func (x *callIndex) hold(m *messages.Message) {
	for i, c := range m.ToolCalls.All() {
		if _, known := x.calls[c.ID]; !known {
			x.set(m, c, i)
		}
	}
}

func (x *callIndex) set(m *messages.Message, c *messages.ToolCall, place int) {
	if x.calls == nil {
		x.calls, x.holders = map[string]knownCall{}, map[[2]string]*messages.Message{}
	}
	bare := *m
	bare.Content, bare.ToolCalls = messages.Content{}, messages.List[*messages.ToolCall]{}
	x.calls[c.ID], x.holders[key(m)] = knownCall{c, key(m), place}, &bare
}

// follow takes up what a change tells of a call.
func (x *callIndex) follow(ch reducer.Change, th *reducer.Thread) {
	if x.stale {
		x.fill(th)
		return
	}
	m := th.Messages.At(ch.Index)
	place := m.ToolCalls.Len() - 1 // of one that is new
	if known, ok := x.calls[ch.ToolCallID]; ok && known.holder == key(m) {
		place = known.place
	}
	if place >= 0 && place < m.ToolCalls.Len() && m.ToolCalls.At(place).ID == ch.ToolCallID {
		x.set(m, m.ToolCalls.At(place), place)
		return
	}
	for i, c := range m.ToolCalls.All() {
		if c.ID == ch.ToolCallID {
			x.set(m, c, i)
			return
		}
	}
}

// find returns the call with that id, nil if the thread holds none.
func (x *callIndex) find(id string, th *reducer.Thread) *messages.ToolCall {
	if x.stale {
		x.fill(th)
	}
	return x.calls[id].call
}
