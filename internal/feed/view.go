package feed

import (
	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// AppendView appends the view of s, one JSON object. It has the members of [reducer.Thread.AppendJSON], but revision and
// unfinished: each message and each call has its status itself, and a call
// has args, its arguments as far as they can be read. phase and queued are what s says.
func AppendView(dst []byte, s Snapshot) []byte {
	t := s.thread()
	dst = append(dst, '{')
	for key, v := range head(t).Members() {
		dst = codec.AppendValue(dst, key, v)
	}
	if s.Phase != "" {
		dst = codec.AppendString(dst, "phase", s.Phase)
	}
	dst = codec.AppendList(dst, "queued", s.Queued, func(dst []byte, m *messages.Message) []byte { return m.AppendJSON(dst) })
	dst = append(codec.AppendKey(dst, "messages"), '[')
	for i, m := range t.Messages.All() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendMessage(dst, m)
	}
	dst = append(dst, ']')
	if dst = codec.AppendKey(dst, "state"); t.State.Exists() {
		dst = t.State.AppendJSON(dst)
	} else {
		dst = append(dst, "{}"...)
	}
	dst = append(codec.AppendKey(dst, "runs"), '[')
	for i, run := range t.Runs.All() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendJSON(dst, run)
	}
	dst = append(dst, ']')
	dst = appendJSON(codec.AppendKey(dst, "subagents"), t.Subagents)
	return append(dst, '}')
}

// notInHead are the members of a thread's JSON that the head does not have.
var notInHead = [...]string{"revision", "messages", "state", "runs", "subagents"}

// head returns the members of the view that the thread's JSON has and that are not its lists: they depend on the last
// run, the interrupts and the id.
func head(t *reducer.Thread) state.Value {
	h := *t
	h.Messages, h.Runs, h.State, h.Subagents = messages.List[*messages.Message]{}, messages.List[*reducer.Run]{}, state.Value{}, reducer.Subagents{}
	if run := t.LastRun(); run != nil {
		last := *run
		last.Steps, last.Result, last.Metadata = messages.List[reducer.Step]{}, state.Value{}, messages.Metadata{}
		h.Runs = messages.NewList(&last)
	}
	v := parse(h.AppendJSON(nil))
	for _, key := range notInHead {
		v = v.Without(key)
	}
	return v
}

// appendMessage appends a message as a view holds it: as on the wire, with its status, and with that of its calls.
func appendMessage(dst []byte, m *messages.Message) []byte {
	bare := *m
	bare.ToolCalls = messages.List[*messages.ToolCall]{}
	dst = open(bare.AppendJSON(dst))
	if m.Role == messages.RoleAssistant && m.ToolCalls.Len() > 0 {
		dst = appendCalls(codec.AppendKey(dst, "toolCalls"), m.ToolCalls)
	}
	return append(codec.AppendString(dst, "status", messageStatus(m)), '}')
}

func appendCalls(dst []byte, calls messages.List[*messages.ToolCall]) []byte {
	dst = append(dst, '[')
	for i, c := range calls.All() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendCall(dst, c)
	}
	return append(dst, ']')
}

func appendCall(dst []byte, c *messages.ToolCall) []byte {
	dst = codec.AppendString(open(appendJSON(dst, c)), "status", c.Status.String())
	return append(codec.AppendValue(dst, "args", c.PartialArgs()), '}')
}

// The statuses of a message.
const (
	statusStreaming = "streaming"
	statusCut       = "cut"
	statusComplete  = "complete"
)

func messageStatus(m *messages.Message) string {
	switch {
	case m.Streaming:
		return statusStreaming
	case m.Cut:
		return statusCut
	}
	return statusComplete
}

// open removes the brace that ends the object at the end of dst.
func open(dst []byte) []byte { return dst[:len(dst)-1] }

// appendJSON appends the JSON of v, which never fails.
func appendJSON(dst []byte, v interface{ MarshalJSON() ([]byte, error) }) []byte {
	text, _ := v.MarshalJSON()
	return append(dst, text...)
}

// depthOf is how deep what this package wrote may nest: a state, an activity or a result in the lists around it.
const depthOf = state.DefaultMaxDepth + 8

// parse reads what this module wrote.
func parse(text []byte) state.Value {
	v, err := state.ParseDepth(text, depthOf)
	if err != nil {
		return state.Null() // not reached: the encoders write JSON
	}
	return v
}
