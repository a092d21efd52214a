package event

import (
	"github.com/agfold/agfold/internal/wire"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// RunStarted is RUN_STARTED: it opens a run.
type RunStarted struct {
	Base
	ThreadID        string
	RunID           string
	ProtocolVersion messages.Opt[string]
	ParentRunID     messages.Opt[string]
	Input           *RunInput // nil when absent
}

// Type returns TypeRunStarted.
func (*RunStarted) Type() Type { return TypeRunStarted }

// Owner returns the parent agent: the type cannot be attributed.
func (*RunStarted) Owner() messages.Owner { return messages.Owner{} }

// AppendJSON appends the event as it looks on the wire.
func (e *RunStarted) AppendJSON(dst []byte) []byte {
	dst = begin(dst, TypeRunStarted)
	dst = wire.AppendString(dst, "threadId", e.ThreadID)
	dst = wire.AppendString(dst, "runId", e.RunID)
	dst = appendOpt(dst, "protocolVersion", e.ProtocolVersion)
	dst = appendOpt(dst, "parentRunId", e.ParentRunID)
	dst = appendInput(dst, e.Input)
	return e.finish(dst, messages.Owner{})
}

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e *RunStarted) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

func (e *RunStarted) read(o *wire.Object) {
	e.ThreadID = o.String("threadId")
	e.RunID = o.String("runId")
	e.ProtocolVersion = messages.ReadOpt(o, "protocolVersion")
	e.ParentRunID = messages.ReadOpt(o, "parentRunId")
	e.Input, _ = wire.OptField(o, "input", readInput)
}

func (*RunStarted) event() {}

// RunFinished is RUN_FINISHED: the run ended without an error.
type RunFinished struct {
	Base
	ThreadID string
	RunID    string
	Result   state.Value // any JSON value, or absent
	Outcome  Outcome
	Usage    []TokenUsage // nil when absent
}

// Type returns TypeRunFinished.
func (*RunFinished) Type() Type { return TypeRunFinished }

// Owner returns the parent agent: the type cannot be attributed.
func (*RunFinished) Owner() messages.Owner { return messages.Owner{} }

// AppendJSON appends the event as it looks on the wire.
func (e *RunFinished) AppendJSON(dst []byte) []byte {
	dst = begin(dst, TypeRunFinished)
	dst = wire.AppendString(dst, "threadId", e.ThreadID)
	dst = wire.AppendString(dst, "runId", e.RunID)
	dst = wire.AppendValue(dst, "result", e.Result)
	dst = e.Outcome.appendMember(dst)
	dst = wire.AppendOptList(dst, "usage", e.Usage, appendUsage)
	return e.finish(dst, messages.Owner{})
}

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e *RunFinished) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

func (e *RunFinished) read(o *wire.Object) {
	e.ThreadID = o.String("threadId")
	e.RunID = o.String("runId")
	e.Result = o.OptAny("result")
	e.Outcome, _ = wire.OptField(o, "outcome", readOutcome)
	e.Usage = wire.OptList(o, "usage", readUsage)
}

func (*RunFinished) event() {}

// RunError is RUN_ERROR: the run failed.
type RunError struct {
	Base
	Message string
	Code    messages.Opt[string]
	Usage   []TokenUsage // nil when absent
}

// Type returns TypeRunError.
func (*RunError) Type() Type { return TypeRunError }

// Owner returns the parent agent: the type cannot be attributed.
func (*RunError) Owner() messages.Owner { return messages.Owner{} }

// AppendJSON appends the event as it looks on the wire.
func (e *RunError) AppendJSON(dst []byte) []byte {
	dst = begin(dst, TypeRunError)
	dst = wire.AppendString(dst, "message", e.Message)
	dst = appendOpt(dst, "code", e.Code)
	dst = wire.AppendOptList(dst, "usage", e.Usage, appendUsage)
	return e.finish(dst, messages.Owner{})
}

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e *RunError) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

func (e *RunError) read(o *wire.Object) {
	e.Message = o.String("message")
	e.Code = messages.ReadOpt(o, "code")
	e.Usage = wire.OptList(o, "usage", readUsage)
}

func (*RunError) event() {}

// StepStarted is STEP_STARTED: a named step of its owner began.
type StepStarted struct {
	Base
	Attribution
	StepName string
}

// Type returns TypeStepStarted.
func (*StepStarted) Type() Type { return TypeStepStarted }

// AppendJSON appends the event as it looks on the wire.
func (e *StepStarted) AppendJSON(dst []byte) []byte {
	dst = begin(dst, TypeStepStarted)
	dst = wire.AppendString(dst, "stepName", e.StepName)
	return e.finish(dst, e.SubagentRunID)
}

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e *StepStarted) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

func (e *StepStarted) read(o *wire.Object) {
	e.StepName = o.String("stepName")
	e.SubagentRunID = messages.ReadOwner(o, "subagentRunId")
}

func (*StepStarted) event() {}

// StepFinished is STEP_FINISHED: a named step of its owner ended.
type StepFinished struct {
	Base
	Attribution
	StepName string
}

// Type returns TypeStepFinished.
func (*StepFinished) Type() Type { return TypeStepFinished }

// AppendJSON appends the event as it looks on the wire.
func (e *StepFinished) AppendJSON(dst []byte) []byte {
	dst = begin(dst, TypeStepFinished)
	dst = wire.AppendString(dst, "stepName", e.StepName)
	return e.finish(dst, e.SubagentRunID)
}

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e *StepFinished) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

func (e *StepFinished) read(o *wire.Object) {
	e.StepName = o.String("stepName")
	e.SubagentRunID = messages.ReadOwner(o, "subagentRunId")
}

func (*StepFinished) event() {}
