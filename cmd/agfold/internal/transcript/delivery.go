package transcript

import (
	"strings"

	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// Event draws a delivery in one line: the event's ordinal, its type, its owner if that is a subagent, and what it
// says. It is empty if nothing was delivered. With a Width the line is clipped there, or folded if Full is set.
func (s Style) Event(d reducer.Delivery) term.Text {
	if d.Event == nil {
		return term.Text{}
	}
	said := describe(d.Event)
	if id, ok := d.Event.Owner().RunID(); ok {
		said = words(term.Sprintf("[%s]", name(id)), said)
	}
	kind := term.Sprintf("%-25s", d.Event.Type())
	if s.Width > 0 && !s.Full {
		said = said.Clip(max(minWidth, s.Width-6-kind.Columns()-2))
	}
	line := words(s.paint(term.Dim, term.Sprintf("%6d", d.Ordinal)), s.paint(ink(d.Event.Type()), kind), said)
	return line.TrimRight().Plus(newLine).Fold(s.Width)
}

func ink(t event.Type) term.Ink {
	name := t.String()
	switch {
	case strings.HasPrefix(name, "TEXT_"):
		return term.Cyan
	case strings.HasPrefix(name, "TOOL_"):
		return term.Yellow
	case strings.HasPrefix(name, "REASONING_"):
		return term.Dim
	case t == event.TypeRunError, t == event.TypeSubagentError:
		return term.Red
	}
	return term.Bold
}

// describe returns one line about an event.
func describe(ev event.Event) term.Text {
	switch e := ev.(type) {
	case *event.RunStarted:
		return words(name(e.ThreadID), name(e.RunID))
	case *event.RunFinished:
		text := name(e.RunID)
		if e.Outcome.Type != "" {
			outcome, _ := e.Outcome.MarshalJSON()
			text = words(text, term.JSON(outcome))
		}
		return words(text, result(e.Result))
	case *event.RunError:
		return words(term.Line(e.Message), name(e.Code.Or("")))
	case *event.StepStarted:
		return name(e.StepName)
	case *event.StepFinished:
		return name(e.StepName)
	case *event.TextMessageStart:
		return words(name(e.MessageID), name(string(e.Role)), name(e.Name.Or("")))
	case *event.TextMessageContent:
		return words(name(e.MessageID), quoted(e.Delta))
	case *event.TextMessageEnd:
		return name(e.MessageID)
	case *event.ReasoningStart:
		return name(e.MessageID)
	case *event.ReasoningEnd:
		return name(e.MessageID)
	case *event.ReasoningMessageStart:
		return name(e.MessageID)
	case *event.ReasoningMessageContent:
		return words(name(e.MessageID), quoted(e.Delta))
	case *event.ReasoningMessageEnd:
		return name(e.MessageID)
	case *event.ReasoningEncryptedValue:
		return words(name(string(e.Subtype)), name(e.EntityID), term.Sprintf("(%s)", size(len(e.EncryptedValue))))
	case *event.ToolCallStart:
		text := words(name(e.ToolCallID), name(e.ToolCallName))
		if parent, ok := e.ParentMessageID.Get(); ok {
			text = words(text, term.Lit("in"), name(parent))
		}
		return text
	case *event.ToolCallArgs:
		return words(name(e.ToolCallID), quoted(e.Delta))
	case *event.ToolCallEnd:
		return name(e.ToolCallID)
	case *event.ToolCallResult:
		return words(name(e.ToolCallID), content(e.Content))
	case *event.StateSnapshot:
		return flat(e.Snapshot)
	case *event.StateDelta:
		return flat(e.Delta.Value())
	case *event.MessagesSnapshot:
		return Count(len(e.Messages), "message")
	case *event.ActivitySnapshot:
		return words(name(e.MessageID), name(e.ActivityType), flat(e.Content))
	case *event.ActivityDelta:
		return words(name(e.MessageID), name(e.ActivityType), flat(e.Patch.Value()))
	case *event.Raw:
		return words(name(e.Source.Or("")), flat(e.Event))
	case *event.Custom:
		return words(name(e.Name), flat(e.Value))
	case *event.SubagentStarted:
		text := name(e.Name)
		if id, ok := e.ParentSubagentRunID.RunID(); ok {
			text = words(text, term.Lit("under"), name(id))
		}
		return text
	case *event.SubagentFinished:
		return words(name(string(e.Outcome.Type)), result(e.Result))
	case *event.SubagentError:
		return words(term.Line(e.Message), name(e.Code.Or("")))
	}
	return term.JSON(event.Append(nil, ev))
}

// words joins the texts that are not empty with spaces.
func words(parts ...term.Text) term.Text { return term.Join(term.Lit(" "), parts...) }

func quoted(s string) term.Text { return term.JSON(appendText(nil, s)) }

func result(v state.Value) term.Text {
	if !v.Exists() {
		return term.Text{}
	}
	return words(term.Lit("result"), flat(v))
}

func content(c messages.Content) term.Text {
	if !c.IsParts() {
		return quoted(c.Text())
	}
	var parts []term.Text
	for _, part := range c.Parts() {
		if part.Type == messages.PartText {
			parts = append(parts, quoted(part.Text))
		} else {
			parts = append(parts, medium(part))
		}
	}
	return words(parts...)
}

// Said returns one clean line about an event: what it says and whom it is about.
func Said(ev event.Event) term.Text { return describe(ev) }
