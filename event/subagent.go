package event

import (
	"github.com/agfold/agfold/internal/jsontext"
	"github.com/agfold/agfold/internal/wire"
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

// AppendJSON appends the event as it looks on the wire.
func (e *SubagentStarted) AppendJSON(dst []byte) []byte {
	dst = begin(dst, TypeSubagentStarted)
	dst = appendOwner(dst, "subagentRunId", e.SubagentRunID)
	dst = wire.AppendString(dst, "name", e.Name)
	dst = appendOpt(dst, "description", e.Description)
	dst = appendOwner(dst, "parentSubagentRunId", e.ParentSubagentRunID)
	dst = appendOpt(dst, "parentToolCallId", e.ParentToolCallID)
	dst = appendOpt(dst, "parentMessageId", e.ParentMessageID)
	return e.finish(dst, messages.Owner{})
}

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e *SubagentStarted) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

func (e *SubagentStarted) read(o *wire.Object) {
	e.SubagentRunID = messages.SubagentOwner(o.String("subagentRunId"))
	e.Name = o.String("name")
	e.Description = messages.ReadOpt(o, "description")
	e.ParentSubagentRunID = messages.ReadOwner(o, "parentSubagentRunId")
	e.ParentToolCallID = messages.ReadOpt(o, "parentToolCallId")
	e.ParentMessageID = messages.ReadOpt(o, "parentMessageId")
}

func (*SubagentStarted) event() {}

// SubagentFinished is SUBAGENT_FINISHED: the invocation ended without an error.
type SubagentFinished struct {
	Base
	Attribution // required: never the parent agent
	Result      state.Value
	Outcome     SubagentOutcome
}

// Type returns TypeSubagentFinished.
func (*SubagentFinished) Type() Type { return TypeSubagentFinished }

// AppendJSON appends the event as it looks on the wire.
func (e *SubagentFinished) AppendJSON(dst []byte) []byte {
	dst = begin(dst, TypeSubagentFinished)
	dst = appendOwner(dst, "subagentRunId", e.SubagentRunID)
	dst = wire.AppendValue(dst, "result", e.Result)
	dst = e.Outcome.appendMember(dst)
	return e.finish(dst, messages.Owner{})
}

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e *SubagentFinished) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

func (e *SubagentFinished) read(o *wire.Object) {
	e.SubagentRunID = messages.SubagentOwner(o.String("subagentRunId"))
	e.Result = o.OptAny("result")
	e.Outcome, _ = wire.OptField(o, "outcome", readSubagentOutcome)
}

func (*SubagentFinished) event() {}

// SubagentError is SUBAGENT_ERROR: the invocation failed.
type SubagentError struct {
	Base
	Attribution // required: never the parent agent
	Message     string
	Code        messages.Opt[string]
}

// Type returns TypeSubagentError.
func (*SubagentError) Type() Type { return TypeSubagentError }

// AppendJSON appends the event as it looks on the wire.
func (e *SubagentError) AppendJSON(dst []byte) []byte {
	dst = begin(dst, TypeSubagentError)
	dst = appendOwner(dst, "subagentRunId", e.SubagentRunID)
	dst = wire.AppendString(dst, "message", e.Message)
	dst = appendOpt(dst, "code", e.Code)
	return e.finish(dst, messages.Owner{})
}

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e *SubagentError) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

func (e *SubagentError) read(o *wire.Object) {
	e.SubagentRunID = messages.SubagentOwner(o.String("subagentRunId"))
	e.Message = o.String("message")
	e.Code = messages.ReadOpt(o, "code")
}

func (*SubagentError) event() {}

// SubagentOutcomeType says how an invocation finished; "" is an absent outcome, which means success.
type SubagentOutcomeType string

// The outcomes of an invocation that finished.
const (
	SubagentSuccess   SubagentOutcomeType = "success"
	SubagentSuspended SubagentOutcomeType = "suspended"
)

// SubagentOutcome is SUBAGENT_FINISHED.outcome. The zero SubagentOutcome is absent and means success.
type SubagentOutcome struct {
	Type         SubagentOutcomeType
	InterruptIDs []string // of a suspension; nil when absent
}

// IsZero reports whether the outcome is absent. It makes `json:",omitzero"` work.
func (out SubagentOutcome) IsZero() bool { return out.Type == "" && out.InterruptIDs == nil }

func (out SubagentOutcome) appendMember(dst []byte) []byte {
	if out.IsZero() {
		return dst
	}
	return out.AppendJSON(wire.AppendKey(dst, "outcome"))
}

// AppendJSON appends the outcome as it looks on the wire; null if it is absent.
func (out SubagentOutcome) AppendJSON(dst []byte) []byte {
	if out.IsZero() {
		return append(dst, "null"...)
	}
	dst = append(dst, '{')
	dst = wire.AppendString(dst, "type", string(out.Type))
	dst = wire.AppendOptList(dst, "interruptIds", out.InterruptIDs, jsontext.AppendString)
	return append(dst, '}')
}

// MarshalJSON returns the outcome as it looks on the wire; see AppendJSON. The error is always nil.
func (out SubagentOutcome) MarshalJSON() ([]byte, error) { return out.AppendJSON(nil), nil }

// UnmarshalJSON reads an outcome in its wire shape; see [RunInput.UnmarshalJSON] for the errors.
func (out *SubagentOutcome) UnmarshalJSON(data []byte) error {
	return unmarshal(data, "SubagentFinishedOutcome", readSubagentOutcome, out)
}

func readSubagentOutcome(r *wire.Reader, v state.Value) SubagentOutcome {
	var out SubagentOutcome
	o := r.Object(v)
	kind, ok := o.Tag("type", string(SubagentSuccess), string(SubagentSuspended))
	if !ok {
		return out
	}
	out.Type = SubagentOutcomeType(kind)
	if out.Type == SubagentSuspended {
		out.InterruptIDs = wire.OptList(&o, "interruptIds", wire.String)
	}
	o.End()
	return out
}
