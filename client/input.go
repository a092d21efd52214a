package client

import (
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// input returns the input of the next run (P-INP-1). Lists are empty rather than absent, because peers before 1.0
// require them.
func (t *Turn) input() event.RunInput {
	s := t.session
	in := event.RunInput{
		ThreadID: s.thread.ID, ProtocolVersion: messages.Some(event.ProtocolVersion),
		Messages:       s.sent.next(s.thread.Messages),
		State:          s.thread.State,
		Tools:          make([]event.Tool, 0, len(s.o.Tools)),
		Context:        s.o.Context,
		ForwardedProps: s.o.ForwardedProps,
	}
	if t.runs == 0 {
		in.RunID, in.ParentRunID, in.Resume = t.options.RunID, t.options.ParentRunID, t.resume
	}
	if in.RunID == "" {
		in.RunID = s.newID()
	}
	for _, tool := range s.o.Tools {
		in.Tools = append(in.Tools, tool.Tool)
	}
	if in.Context == nil {
		in.Context = []event.Context{}
	}
	if t.options.ForwardedProps.Exists() {
		in.ForwardedProps = t.options.ForwardedProps
	}
	if !in.ForwardedProps.Exists() {
		in.ForwardedProps = state.Object()
	}
	return in
}

// sentMessages are the messages of the last input. The next one usually has more of them, and then shares the array: what an input
// holds is never written again.
type sentMessages struct {
	list messages.List[*messages.Message] // with the activities, which are not sent
	msgs []*messages.Message
}

// next returns the messages of an input for a thread with this list. It costs what differs, or a pass if that is not at the
// end.
func (k *sentMessages) next(list messages.List[*messages.Message]) []*messages.Message {
	same := min(k.list.Len(), list.Len())
	for i := range messages.Diff(k.list, list) {
		same = i
		break
	}
	keep := len(k.msgs)
	for _, m := range k.list.From(same) {
		if m.Role != messages.RoleActivity {
			keep--
		}
	}
	if keep < len(k.msgs) {
		k.msgs = k.msgs[:keep:keep] // other inputs hold what follows
	}
	if k.msgs == nil {
		k.msgs = make([]*messages.Message, 0, list.Len())
	}
	for _, m := range list.From(same) {
		if m.Role != messages.RoleActivity {
			k.msgs = append(k.msgs, m)
		}
	}
	k.list = list
	return k.msgs[:len(k.msgs):len(k.msgs)]
}
