package event

import (
	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// OutcomeType says how a run finished; "" is an absent outcome, which means success.
type OutcomeType string

// The outcomes of a run that finished.
const (
	OutcomeSuccess   OutcomeType = "success"
	OutcomeInterrupt OutcomeType = "interrupt"
	OutcomeCancelled OutcomeType = "cancelled"
)

var outcomeTypes = []OutcomeType{OutcomeSuccess, OutcomeInterrupt, OutcomeCancelled}

// Outcome is RUN_FINISHED.outcome. The zero Outcome is absent and means success.
type Outcome struct {
	Type               OutcomeType
	PendingToolCallIDs []string    // of a success; nil when absent
	Interrupts         []Interrupt // of an interrupt; one or more
}

// Interrupt is a question that a run ended with and that the next run's input answers (P-INT-1).
type Interrupt struct {
	ID             string
	Reason         string
	Message        messages.Opt[string]
	ToolCallID     messages.Opt[string]
	ResponseSchema state.Value          // a JSON schema, or absent
	ExpiresAt      messages.Opt[string] // a date
	SubagentRunID  messages.Owner
	Metadata       messages.Metadata
}

func (out Outcome) absent() bool {
	return out.Type == "" && out.PendingToolCallIDs == nil && out.Interrupts == nil
}

func walkOutcome(out *Outcome, c *codec.Codec) {
	if c.Encoding() && out.absent() {
		c.AppendNull()
		return
	}
	codec.Object(c, out, (*Outcome).members)
}

func (out *Outcome) members(c *codec.Codec) {
	if !codec.Tag(c, "type", &out.Type, outcomeTypes) {
		return
	}
	if out.Type == OutcomeSuccess {
		codec.OptStrings(c, "pendingToolCallIds", &out.PendingToolCallIDs)
	} else {
		c.Lacks("pendingToolCallIds", out.PendingToolCallIDs != nil)
	}
	if out.Type != OutcomeInterrupt {
		c.Lacks("interrupts", out.Interrupts != nil)
		return
	}
	codec.Objects(c, "interrupts", &out.Interrupts, (*Interrupt).members)
	if len(out.Interrupts) == 0 && !c.Encoding() {
		c.Reject("interrupts", "one or more interrupts", "none")
	}
}

// MarshalJSON returns the outcome as it looks on the wire; null if it is absent. The error is always nil.
func (out Outcome) MarshalJSON() ([]byte, error) { return codec.Append(nil, &out, walkOutcome), nil }

// UnmarshalJSON reads an outcome in its wire shape; see [RunInput.UnmarshalJSON] for the errors.
func (out *Outcome) UnmarshalJSON(data []byte) error {
	return unmarshal(data, "RunFinishedOutcome", (*Outcome).members, out)
}

func (in *Interrupt) members(c *codec.Codec) {
	c.String("id", &in.ID)
	c.String("reason", &in.Reason)
	opt(c, "message", &in.Message)
	opt(c, "toolCallId", &in.ToolCallID)
	c.OptOpen("responseSchema", &in.ResponseSchema)
	opt(c, "expiresAt", &in.ExpiresAt)
	owner(c, "subagentRunId", &in.SubagentRunID)
	metadata(c, &in.Metadata)
}

// MarshalJSON returns the interrupt as it looks on the wire. The error is always nil.
func (in Interrupt) MarshalJSON() ([]byte, error) { return marshal(&in, (*Interrupt).members) }

// UnmarshalJSON reads an interrupt in its wire shape; see [RunInput.UnmarshalJSON] for the errors.
func (in *Interrupt) UnmarshalJSON(data []byte) error {
	return unmarshal(data, "Interrupt", (*Interrupt).members, in)
}
