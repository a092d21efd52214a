package event

import (
	"github.com/agfold/agfold/internal/wire"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// ProtocolVersion is the version of AG-UI that this module speaks.
const ProtocolVersion = "1.0"

// RunInput is RunAgentInput: what a run is asked with. It must not be changed once it has been handed on;
// it is then safe for concurrent use.
type RunInput struct {
	ThreadID        string
	RunID           string
	ProtocolVersion messages.Opt[string]
	ParentRunID     messages.Opt[string]
	Messages        []*messages.Message
	State           state.Value   // any JSON value, or absent
	Tools           []Tool        // nil when absent
	Context         []Context     // nil when absent
	ForwardedProps  state.Value   // any JSON value but null, or absent
	Resume          []ResumeEntry // nil when absent
}

// Tool describes a tool that the client runs.
type Tool struct {
	Name        string
	Description string
	Parameters  state.Value // a JSON schema by convention, any JSON value but null, or absent
	Metadata    messages.Metadata
}

// Context is a piece of information for the agent.
type Context struct {
	Description string
	Value       string
}

// ResumeEntry answers one interrupt (P-INT-1).
type ResumeEntry struct {
	InterruptID string
	Status      ResumeStatus
	Payload     state.Value // any JSON value but null, or absent
	Metadata    messages.Metadata
}

// ResumeStatus says how an interrupt was answered.
type ResumeStatus string

// The statuses of a resume entry.
const (
	ResumeResolved  ResumeStatus = "resolved"
	ResumeCancelled ResumeStatus = "cancelled"
)

// runInputName is what errors and warnings about a run input call it.
const runInputName = "RunAgentInput"

// DecodeRunInput reads v, a run input. Unrecognised material is removed with a warning, or is an error if
// strict is set (P-ENF-2, P-ENF-3, P-ENF-7); malformed material is an error (P-ENF-4). A state that is null
// counts as absent (P-STA-2). The error is a [*messages.MalformedError].
func DecodeRunInput(v state.Value, strict bool) (*RunInput, []Warning, error) {
	var r wire.Reader
	var in *RunInput
	r.Document(func() { in = readInput(&r, v) })
	rule := ""
	if strict {
		rule = "P-ENF-7"
	}
	warnings, err := verdict(&r, runInputName, rule)
	if err != nil {
		return nil, nil, err
	}
	return in, warnings, nil
}

// Enforce judges a run input that is about to be sent by the rules for what arrives: the result is what
// may be sent, without unrecognised material and with a warning for each removal; malformed material is a
// [*messages.MalformedError] (P-ENF-6). The receiver stays as it is; a nil one is malformed.
func (in *RunInput) Enforce() (*RunInput, []Warning, error) {
	v, err := state.Parse(in.AppendJSON(nil))
	if err != nil {
		return nil, nil, &messages.MalformedError{Rule: "P-ENF-4", Type: runInputName, Want: "a JSON text", Found: err.Error()}
	}
	return DecodeRunInput(v, false)
}

// AppendJSON appends the run input as it looks on the wire; null if it is nil.
func (in *RunInput) AppendJSON(dst []byte) []byte {
	if in == nil {
		return append(dst, "null"...)
	}
	dst = append(dst, '{')
	dst = wire.AppendString(dst, "threadId", in.ThreadID)
	dst = wire.AppendString(dst, "runId", in.RunID)
	dst = appendOpt(dst, "protocolVersion", in.ProtocolVersion)
	dst = appendOpt(dst, "parentRunId", in.ParentRunID)
	dst = wire.AppendList(dst, "messages", in.Messages, appendMessage)
	dst = wire.AppendValue(dst, "state", in.State)
	dst = wire.AppendOptList(dst, "tools", in.Tools, func(dst []byte, t Tool) []byte { return t.AppendJSON(dst) })
	dst = wire.AppendOptList(dst, "context", in.Context, func(dst []byte, c Context) []byte { return c.AppendJSON(dst) })
	dst = wire.AppendValue(dst, "forwardedProps", in.ForwardedProps)
	dst = wire.AppendOptList(dst, "resume", in.Resume, func(dst []byte, e ResumeEntry) []byte { return e.AppendJSON(dst) })
	return append(dst, '}')
}

// MarshalJSON returns the run input as it looks on the wire. The error is always nil.
func (in *RunInput) MarshalJSON() ([]byte, error) { return in.AppendJSON(nil), nil }

// UnmarshalJSON reads a run input in its wire shape. Unrecognised material is left out without a word: use
// [DecodeRunInput] to get warnings. Malformed material, and a whole document that is unrecognised, is a
// [*messages.MalformedError]; text that is not JSON is a [*state.SyntaxError]. On an error in stays as it was.
func (in *RunInput) UnmarshalJSON(data []byte) error {
	return unmarshal(data, runInputName, func(r *wire.Reader, v state.Value) RunInput { return *readInput(r, v) }, in)
}

// unmarshal reads data, a document called name, into dst.
func unmarshal[T any](data []byte, name string, read func(*wire.Reader, state.Value) T, dst *T) error {
	v, err := state.Parse(data)
	if err != nil {
		return err
	}
	var r wire.Reader
	var got T
	kept := r.Document(func() { got = read(&r, v) })
	strict := ""
	if !kept {
		strict = ownRule
	}
	if _, err := verdict(&r, name, strict); err != nil {
		return err
	}
	*dst = got
	return nil
}

func readInput(r *wire.Reader, v state.Value) *RunInput {
	in := &RunInput{}
	o := r.Object(v)
	in.ThreadID = o.String("threadId")
	in.RunID = o.String("runId")
	in.ProtocolVersion = messages.ReadOpt(&o, "protocolVersion")
	in.ParentRunID = messages.ReadOpt(&o, "parentRunId")
	in.Messages = wire.List(&o, "messages", messages.Decode)
	in.State = o.OptNullable("state")
	in.Tools = wire.OptList(&o, "tools", readTool)
	in.Context = wire.OptList(&o, "context", readContext)
	in.ForwardedProps = o.OptAny("forwardedProps")
	in.Resume = wire.OptList(&o, "resume", readResumeEntry)
	o.End()
	return in
}

func appendInput(dst []byte, in *RunInput) []byte {
	if in == nil {
		return dst
	}
	return in.AppendJSON(wire.AppendKey(dst, "input"))
}

// AppendJSON appends the tool as it looks on the wire.
func (t Tool) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	dst = wire.AppendString(dst, "name", t.Name)
	dst = wire.AppendString(dst, "description", t.Description)
	dst = wire.AppendValue(dst, "parameters", t.Parameters)
	dst = wire.AppendValue(dst, "metadata", t.Metadata.Value())
	return append(dst, '}')
}

// MarshalJSON returns the tool as it looks on the wire. The error is always nil.
func (t Tool) MarshalJSON() ([]byte, error) { return t.AppendJSON(nil), nil }

// UnmarshalJSON reads a tool in its wire shape; see [RunInput.UnmarshalJSON] for the errors.
func (t *Tool) UnmarshalJSON(data []byte) error { return unmarshal(data, "Tool", readTool, t) }

func readTool(r *wire.Reader, v state.Value) Tool {
	var t Tool
	o := r.Object(v)
	t.Name = o.String("name")
	t.Description = o.String("description")
	t.Parameters = o.OptAny("parameters")
	t.Metadata = messages.ReadMetadata(&o)
	o.End()
	return t
}

// AppendJSON appends the context as it looks on the wire.
func (c Context) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	dst = wire.AppendString(dst, "description", c.Description)
	dst = wire.AppendString(dst, "value", c.Value)
	return append(dst, '}')
}

// MarshalJSON returns the context as it looks on the wire. The error is always nil.
func (c Context) MarshalJSON() ([]byte, error) { return c.AppendJSON(nil), nil }

// UnmarshalJSON reads a context in its wire shape; see [RunInput.UnmarshalJSON] for the errors.
func (c *Context) UnmarshalJSON(data []byte) error { return unmarshal(data, "Context", readContext, c) }

func readContext(r *wire.Reader, v state.Value) Context {
	var c Context
	o := r.Object(v)
	c.Description = o.String("description")
	c.Value = o.String("value")
	o.End()
	return c
}

// AppendJSON appends the entry as it looks on the wire.
func (e ResumeEntry) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	dst = wire.AppendString(dst, "interruptId", e.InterruptID)
	dst = wire.AppendString(dst, "status", string(e.Status))
	dst = wire.AppendValue(dst, "payload", e.Payload)
	dst = wire.AppendValue(dst, "metadata", e.Metadata.Value())
	return append(dst, '}')
}

// MarshalJSON returns the entry as it looks on the wire. The error is always nil.
func (e ResumeEntry) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

// UnmarshalJSON reads an entry in its wire shape; see [RunInput.UnmarshalJSON] for the errors.
func (e *ResumeEntry) UnmarshalJSON(data []byte) error {
	return unmarshal(data, "ResumeEntry", readResumeEntry, e)
}

func readResumeEntry(r *wire.Reader, v state.Value) ResumeEntry {
	var e ResumeEntry
	o := r.Object(v)
	e.InterruptID = o.String("interruptId")
	e.Status = ResumeStatus(o.Enum("status", string(ResumeResolved), string(ResumeCancelled)))
	e.Payload = o.OptAny("payload")
	e.Metadata = messages.ReadMetadata(&o)
	o.End()
	return e
}
