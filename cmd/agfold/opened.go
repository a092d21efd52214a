package main

import (
	"slices"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// openThing is something that a run has opened and not closed.
type openThing struct {
	What    string         // such as "text message"
	ID      string         // its id, or the name of a step
	Owner   messages.Owner // whose it is
	Ordinal int            // of the event that opened it
	end     event.Type     // what closes it
	member  string         // the member that names it there
}

// openThings keeps account of what is open in a run, and what was closed.
type openThings struct {
	open   []openThing
	closed map[openKey]int // by what closed it
}

type openKey struct {
	what, id string
	owner    messages.Owner // of a step
}

func newOpenThings() *openThings { return &openThings{closed: make(map[openKey]int)} }

// note takes note of an event that was delivered.
func (o *openThings) note(ev event.Event, ordinal int) {
	begin := func(what, id string, end event.Type, member string) {
		o.open = append(o.open, openThing{what, id, ev.Owner(), ordinal, end, member})
	}
	end := func(what, id string, owner messages.Owner) {
		for i, t := range o.open {
			if t.What == what && t.ID == id && (what != "step" || t.Owner == owner) {
				o.open = slices.Delete(o.open, i, i+1)
				break
			}
		}
		o.closed[openKey{what, id, messages.Owner{}}] = ordinal
	}
	switch e := ev.(type) {
	case *event.RunStarted, *event.RunFinished, *event.RunError:
		o.open = nil
		clear(o.closed)
	case *event.TextMessageStart:
		begin("text message", e.MessageID, event.TypeTextMessageEnd, "messageId")
	case *event.TextMessageEnd:
		end("text message", e.MessageID, messages.Owner{})
	case *event.ReasoningMessageStart:
		begin("reasoning message", e.MessageID, event.TypeReasoningMessageEnd, "messageId")
	case *event.ReasoningMessageEnd:
		end("reasoning message", e.MessageID, messages.Owner{})
	case *event.ReasoningStart:
		begin("reasoning span", e.MessageID, event.TypeReasoningEnd, "messageId")
	case *event.ReasoningEnd:
		end("reasoning span", e.MessageID, messages.Owner{})
	case *event.ToolCallStart:
		begin("tool call", e.ToolCallID, event.TypeToolCallEnd, "toolCallId")
	case *event.ToolCallEnd:
		end("tool call", e.ToolCallID, messages.Owner{})
	case *event.StepStarted:
		begin("step", e.StepName, event.TypeStepFinished, "stepName")
	case *event.StepFinished:
		end("step", e.StepName, e.SubagentRunID)
	case *event.SubagentStarted:
		id, _ := e.SubagentRunID.RunID()
		begin("subagent", id, event.TypeSubagentFinished, "subagentRunId")
	case *event.SubagentFinished, *event.SubagentError:
		id, _ := e.Owner().RunID()
		end("subagent", id, messages.Owner{})
	}
}

// closing returns the event that closes the thing, as JSON.
func (t openThing) closing() string {
	members := []state.Member{
		{Key: "type", Value: state.String(t.end.String())}, {Key: t.member, Value: state.String(t.ID)},
	}
	if id, ok := t.Owner.RunID(); ok && t.What == "step" {
		members = append(members, state.Member{Key: "subagentRunId", Value: state.String(id)})
	}
	v := state.Object(members...)
	return v.String()
}

// opening are the things that an event can continue or end, the member that names them, and what opens them.
var opening = map[event.Type]struct{ what, member, start string }{
	event.TypeTextMessageContent:      {"text message", "messageId", "TEXT_MESSAGE_START"},
	event.TypeTextMessageEnd:          {"text message", "messageId", "TEXT_MESSAGE_START"},
	event.TypeReasoningMessageContent: {"reasoning message", "messageId", "REASONING_MESSAGE_START"},
	event.TypeReasoningMessageEnd:     {"reasoning message", "messageId", "REASONING_MESSAGE_START"},
	event.TypeReasoningEnd:            {"reasoning span", "messageId", "REASONING_START"},
	event.TypeToolCallArgs:            {"tool call", "toolCallId", "TOOL_CALL_START"},
	event.TypeToolCallEnd:             {"tool call", "toolCallId", "TOOL_CALL_START"},
	event.TypeStepFinished:            {"step", "stepName", "STEP_STARTED"},
	event.TypeSubagentFinished:        {"subagent", "subagentRunId", "SUBAGENT_STARTED"},
	event.TypeSubagentError:           {"subagent", "subagentRunId", "SUBAGENT_STARTED"},
}
