package event

import (
	"github.com/agfold/agfold/internal/jsontext"
	"github.com/agfold/agfold/internal/wire"
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

// IsZero reports whether the outcome is absent. It makes `json:",omitzero"` work.
func (out Outcome) IsZero() bool {
	return out.Type == "" && out.PendingToolCallIDs == nil && out.Interrupts == nil
}

func (out Outcome) appendMember(dst []byte) []byte {
	if out.IsZero() {
		return dst
	}
	return out.AppendJSON(wire.AppendKey(dst, "outcome"))
}

// AppendJSON appends the outcome as it looks on the wire; null if it is absent.
func (out Outcome) AppendJSON(dst []byte) []byte {
	if out.IsZero() {
		return append(dst, "null"...)
	}
	dst = append(dst, '{')
	dst = wire.AppendString(dst, "type", string(out.Type))
	dst = wire.AppendOptList(dst, "pendingToolCallIds", out.PendingToolCallIDs, jsontext.AppendString)
	dst = wire.AppendOptList(dst, "interrupts", out.Interrupts, func(dst []byte, in Interrupt) []byte { return in.AppendJSON(dst) })
	return append(dst, '}')
}

// MarshalJSON returns the outcome as it looks on the wire; see AppendJSON. The error is always nil.
func (out Outcome) MarshalJSON() ([]byte, error) { return out.AppendJSON(nil), nil }

// UnmarshalJSON reads an outcome in its wire shape; see [RunInput.UnmarshalJSON] for the errors.
func (out *Outcome) UnmarshalJSON(data []byte) error {
	return unmarshal(data, "RunFinishedOutcome", readOutcome, out)
}

func readOutcome(r *wire.Reader, v state.Value) Outcome {
	var out Outcome
	o := r.Object(v)
	kind, ok := o.Tag("type", string(OutcomeSuccess), string(OutcomeInterrupt), string(OutcomeCancelled))
	if !ok {
		return out
	}
	out.Type = OutcomeType(kind)
	switch out.Type {
	case OutcomeSuccess:
		out.PendingToolCallIDs = wire.OptList(&o, "pendingToolCallIds", wire.String)
	case OutcomeInterrupt:
		out.Interrupts = wire.List(&o, "interrupts", readInterrupt)
		if len(out.Interrupts) == 0 {
			o.Reject("interrupts", "one or more interrupts", "none")
		}
	}
	o.End()
	return out
}

// AppendJSON appends the interrupt as it looks on the wire.
func (in Interrupt) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	dst = wire.AppendString(dst, "id", in.ID)
	dst = wire.AppendString(dst, "reason", in.Reason)
	dst = appendOpt(dst, "message", in.Message)
	dst = appendOpt(dst, "toolCallId", in.ToolCallID)
	dst = wire.AppendValue(dst, "responseSchema", in.ResponseSchema)
	dst = appendOpt(dst, "expiresAt", in.ExpiresAt)
	dst = appendOwner(dst, "subagentRunId", in.SubagentRunID)
	dst = wire.AppendValue(dst, "metadata", in.Metadata.Value())
	return append(dst, '}')
}

// MarshalJSON returns the interrupt as it looks on the wire. The error is always nil.
func (in Interrupt) MarshalJSON() ([]byte, error) { return in.AppendJSON(nil), nil }

// UnmarshalJSON reads an interrupt in its wire shape; see [RunInput.UnmarshalJSON] for the errors.
func (in *Interrupt) UnmarshalJSON(data []byte) error {
	return unmarshal(data, "Interrupt", readInterrupt, in)
}

func readInterrupt(r *wire.Reader, v state.Value) Interrupt {
	var in Interrupt
	o := r.Object(v)
	in.ID = o.String("id")
	in.Reason = o.String("reason")
	in.Message = messages.ReadOpt(&o, "message")
	in.ToolCallID = messages.ReadOpt(&o, "toolCallId")
	in.ResponseSchema = o.OptOpen("responseSchema")
	in.ExpiresAt = messages.ReadOpt(&o, "expiresAt")
	in.SubagentRunID = messages.ReadOwner(&o, "subagentRunId")
	in.Metadata = messages.ReadMetadata(&o)
	o.End()
	return in
}
