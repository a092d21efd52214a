package event

import (
	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// RunStarted is RUN_STARTED: it opens a run.
type RunStarted struct {
	Base
	unattributed
	ThreadID        string
	RunID           string
	ProtocolVersion messages.Opt[string]
	ParentRunID     messages.Opt[string]
	Input           *RunInput // nil when absent
}

// Type returns TypeRunStarted.
func (*RunStarted) Type() Type { return TypeRunStarted }

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e RunStarted) MarshalJSON() ([]byte, error) { return Append(nil, &e), nil }

func (e *RunStarted) members(c *codec.Codec) {
	c.String("threadId", &e.ThreadID)
	c.String("runId", &e.RunID)
	opt(c, "protocolVersion", &e.ProtocolVersion)
	opt(c, "parentRunId", &e.ParentRunID)
	codec.OptField(c, "input", &e.Input, e.Input != nil, walkInput)
}

// RunFinished is RUN_FINISHED: the run ended without an error.
type RunFinished struct {
	Base
	unattributed
	ThreadID string
	RunID    string
	Result   state.Value // any JSON value, or absent
	Outcome  Outcome
	Usage    []TokenUsage // nil when absent
}

// Type returns TypeRunFinished.
func (*RunFinished) Type() Type { return TypeRunFinished }

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e RunFinished) MarshalJSON() ([]byte, error) { return Append(nil, &e), nil }

func (e *RunFinished) members(c *codec.Codec) {
	c.String("threadId", &e.ThreadID)
	c.String("runId", &e.RunID)
	c.OptAny("result", &e.Result)
	codec.OptField(c, "outcome", &e.Outcome, !e.Outcome.absent(), walkOutcome)
	codec.OptObjects(c, "usage", &e.Usage, (*TokenUsage).members)
}

// RunError is RUN_ERROR: the run failed.
type RunError struct {
	Base
	unattributed
	Message string
	Code    messages.Opt[string]
	Usage   []TokenUsage // nil when absent
}

// Type returns TypeRunError.
func (*RunError) Type() Type { return TypeRunError }

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e RunError) MarshalJSON() ([]byte, error) { return Append(nil, &e), nil }

func (e *RunError) members(c *codec.Codec) {
	c.String("message", &e.Message)
	opt(c, "code", &e.Code)
	codec.OptObjects(c, "usage", &e.Usage, (*TokenUsage).members)
}

// StepStarted is STEP_STARTED: a named step of its owner began.
type StepStarted struct {
	Base
	Attribution
	StepName string
}

// Type returns TypeStepStarted.
func (*StepStarted) Type() Type { return TypeStepStarted }

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e StepStarted) MarshalJSON() ([]byte, error) { return Append(nil, &e), nil }

func (e *StepStarted) members(c *codec.Codec) {
	c.String("stepName", &e.StepName)
	e.tag(c)
}

// StepFinished is STEP_FINISHED: a named step of its owner ended.
type StepFinished struct {
	Base
	Attribution
	StepName string
}

// Type returns TypeStepFinished.
func (*StepFinished) Type() Type { return TypeStepFinished }

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e StepFinished) MarshalJSON() ([]byte, error) { return Append(nil, &e), nil }

func (e *StepFinished) members(c *codec.Codec) {
	c.String("stepName", &e.StepName)
	e.tag(c)
}
