package event

import (
	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// SubagentStarted is SUBAGENT_STARTED: an invocation of a subagent began.
type SubagentStarted struct {
	Base
	Attribution         // required: never the parent agent
	Name                string
	Description         messages.Opt[string]
	ParentSubagentRunID messages.Owner // the parent agent when absent
	ParentToolCallID    messages.Opt[string]
	ParentMessageID     messages.Opt[string]
}

// Type returns TypeSubagentStarted.
func (*SubagentStarted) Type() Type { return TypeSubagentStarted }

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e SubagentStarted) MarshalJSON() ([]byte, error) { return Append(nil, &e), nil }

func (e *SubagentStarted) members(c *codec.Codec) {
	e.requiredTag(c)
	c.String("name", &e.Name)
	opt(c, "description", &e.Description)
	owner(c, "parentSubagentRunId", &e.ParentSubagentRunID)
	opt(c, "parentToolCallId", &e.ParentToolCallID)
	opt(c, "parentMessageId", &e.ParentMessageID)
}

// SubagentFinished is SUBAGENT_FINISHED: the invocation ended without an error.
type SubagentFinished struct {
	Base
	Attribution // required: never the parent agent
	Result      state.Value
	Outcome     SubagentOutcome
}

// Type returns TypeSubagentFinished.
func (*SubagentFinished) Type() Type { return TypeSubagentFinished }

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e SubagentFinished) MarshalJSON() ([]byte, error) { return Append(nil, &e), nil }

func (e *SubagentFinished) members(c *codec.Codec) {
	e.requiredTag(c)
	c.OptAny("result", &e.Result)
	codec.OptField(c, "outcome", &e.Outcome, !e.Outcome.absent(), walkSubagentOutcome)
}

// SubagentError is SUBAGENT_ERROR: the invocation failed.
type SubagentError struct {
	Base
	Attribution // required: never the parent agent
	Message     string
	Code        messages.Opt[string]
}

// Type returns TypeSubagentError.
func (*SubagentError) Type() Type { return TypeSubagentError }

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e SubagentError) MarshalJSON() ([]byte, error) { return Append(nil, &e), nil }

func (e *SubagentError) members(c *codec.Codec) {
	e.requiredTag(c)
	c.String("message", &e.Message)
	opt(c, "code", &e.Code)
}

// SubagentOutcomeType says how an invocation finished; "" is an absent outcome, which means success.
type SubagentOutcomeType string

// The outcomes of an invocation that finished.
const (
	SubagentSuccess   SubagentOutcomeType = "success"
	SubagentSuspended SubagentOutcomeType = "suspended"
)

var subagentOutcomeTypes = []SubagentOutcomeType{SubagentSuccess, SubagentSuspended}

// SubagentOutcome is SUBAGENT_FINISHED.outcome. The zero SubagentOutcome is absent and means success.
type SubagentOutcome struct {
	Type         SubagentOutcomeType
	InterruptIDs []string // of a suspension; nil when absent
}

func (out SubagentOutcome) absent() bool { return out.Type == "" && out.InterruptIDs == nil }

// MarshalJSON returns the outcome as it looks on the wire; null if it is absent. The error is always nil.
func (out SubagentOutcome) MarshalJSON() ([]byte, error) {
	return codec.Append(nil, &out, walkSubagentOutcome), nil
}

func walkSubagentOutcome(out *SubagentOutcome, c *codec.Codec) {
	if c.Encoding() && out.absent() {
		c.AppendNull()
		return
	}
	codec.Object(c, out, (*SubagentOutcome).members)
}

func (out *SubagentOutcome) members(c *codec.Codec) {
	if !codec.Tag(c, "type", &out.Type, subagentOutcomeTypes) {
		return
	}
	if out.Type == SubagentSuspended {
		codec.OptStrings(c, "interruptIds", &out.InterruptIDs)
	} else {
		c.Lacks("interruptIds", out.InterruptIDs != nil)
	}
}
