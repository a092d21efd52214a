package transcript

import (
	"fmt"
	"strings"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// Event draws a step in one line: the event's ordinal, its type, who it is from if that is a subagent, and
// what it says. It is "" for a step that delivered nothing. With a Width the line is cut there, unless all
// is to be seen.
func (s Style) Event(step reducer.Delivery) string {
	if step.Event == nil {
		return ""
	}
	said := describe(step.Event)
	if id, ok := step.Event.Owner().RunID(); ok {
		said = strings.TrimSpace("[" + CleanLine(id) + "] " + said)
	}
	name := fmt.Sprintf("%-25s", step.Event.Type())
	if s.Width > 0 && !s.Full {
		said = cut(said, max(minWidth, s.Width-6-len(name)-2))
	}
	line := s.Paint(Dim, fmt.Sprintf("%6d", step.Ordinal)) + " " + s.Paint(family(step.Event.Type()), name) + " " + said
	return strings.TrimRight(line, " ") + "\n"
}

func family(t event.Type) Ink {
	switch t.Family() {
	case event.FamilyTextMessage:
		return Cyan
	case event.FamilyToolCall:
		return Yellow
	case event.FamilyReasoning, event.FamilyThinking:
		return Dim
	}
	if t == event.TypeRunError || t == event.TypeSubagentError {
		return Red
	}
	return Bold
}

// describe says in one clean line what an event says.
func describe(ev event.Event) string {
	switch e := ev.(type) {
	case *event.RunStarted:
		return words(e.ThreadID, e.RunID)
	case *event.RunFinished:
		text := words(e.RunID)
		if e.Outcome.Type != "" {
			text += " " + flatJSON(e.Outcome.AppendJSON(nil))
		}
		return text + valued("result", e.Result)
	case *event.RunError:
		return words(e.Message, e.Code.Or(""))
	case *event.StepStarted:
		return words(e.StepName)
	case *event.StepFinished:
		return words(e.StepName)
	case *event.TextMessageStart:
		return words(e.MessageID, string(e.Role), e.Name.Or(""))
	case *event.TextMessageContent:
		return words(e.MessageID) + " " + quoted(e.Delta)
	case *event.TextMessageEnd:
		return words(e.MessageID)
	case *event.ReasoningStart:
		return words(e.MessageID)
	case *event.ReasoningEnd:
		return words(e.MessageID)
	case *event.ReasoningMessageStart:
		return words(e.MessageID)
	case *event.ReasoningMessageContent:
		return words(e.MessageID) + " " + quoted(e.Delta)
	case *event.ReasoningMessageEnd:
		return words(e.MessageID)
	case *event.ReasoningEncryptedValue:
		return words(string(e.Subtype), e.EntityID) + " (" + size(len(e.EncryptedValue)) + ")"
	case *event.ToolCallStart:
		text := words(e.ToolCallID, e.ToolCallName)
		if parent, ok := e.ParentMessageID.Get(); ok {
			text += " in " + words(parent)
		}
		return text
	case *event.ToolCallArgs:
		return words(e.ToolCallID) + " " + quoted(e.Delta)
	case *event.ToolCallEnd:
		return words(e.ToolCallID)
	case *event.ToolCallResult:
		return words(e.ToolCallID) + " " + content(e.Content)
	case *event.StateSnapshot:
		return flat(e.Snapshot)
	case *event.StateDelta:
		return patch(e.Delta)
	case *event.MessagesSnapshot:
		return count(len(e.Messages), "message")
	case *event.ActivitySnapshot:
		return words(e.MessageID, e.ActivityType) + " " + flat(e.Content)
	case *event.ActivityDelta:
		return words(e.MessageID, e.ActivityType) + " " + patch(e.Patch)
	case *event.Raw:
		return strings.TrimSpace(words(e.Source.Or("")) + " " + flat(e.Event))
	case *event.Custom:
		return words(e.Name) + " " + flat(e.Value)
	case *event.SubagentStarted:
		text := words(e.Name)
		if id, ok := e.ParentSubagentRunID.RunID(); ok {
			text += " under " + words(id)
		}
		return text
	case *event.SubagentFinished:
		return strings.TrimSpace(string(e.Outcome.Type) + valued("result", e.Result))
	case *event.SubagentError:
		return words(e.Message, e.Code.Or(""))
	}
	return flatJSON(ev.AppendJSON(nil))
}

// words joins what is not empty by spaces, clean.
func words(parts ...string) string {
	var kept []string
	for _, part := range parts {
		if part != "" {
			kept = append(kept, CleanLine(part))
		}
	}
	return strings.Join(kept, " ")
}

func quoted(s string) string { return string(appendText(nil, s)) }

func flatJSON(text []byte) string { return string(CleanJSON(nil, text)) }

func valued(name string, v state.Value) string {
	if !v.Exists() {
		return ""
	}
	return " " + name + " " + flat(v)
}

func patch(ops state.Patch) string { return flat(ops.Value()) }

func content(c messages.Content) string {
	if !c.IsParts() {
		return quoted(c.Text())
	}
	var parts []string
	for _, part := range c.Parts() {
		if part.Type == messages.PartText {
			parts = append(parts, quoted(part.Text))
		} else {
			parts = append(parts, medium(part))
		}
	}
	return strings.Join(parts, " ")
}
