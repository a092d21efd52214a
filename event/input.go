package event

import (
	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// ProtocolVersion is the version of AG-UI that this module speaks.
const ProtocolVersion = "1.0"

// RunInput is RunAgentInput, the input of a run. It must not be changed once it has been passed on;
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

var resumeStatuses = []ResumeStatus{ResumeResolved, ResumeCancelled}

// runInputName is the name of a run input in errors and warnings.
const runInputName = "RunAgentInput"

// DecodeRunInput reads v, a run input; nil options mean the defaults. Unrecognized material is removed with a warning,
// or is an error in strict mode (P-ENF-2, P-ENF-3, P-ENF-7); malformed material is an error (P-ENF-4). A state that is
// null counts as absent (P-STA-2). The error is a [*messages.MalformedError].
func DecodeRunInput(v state.Value, o *DecodeOptions) (*RunInput, []Warning, error) {
	if overfull(v) {
		return nil, nil, tooMany(runInputName)
	}
	strict, maxWarnings := o.resolve()
	in := &RunInput{}
	warnings, err := warningsOf(codec.Decode(v, maxWarnings, in, walkRunInput), runInputName, strict)
	if err != nil {
		return nil, nil, err
	}
	return in, warnings, nil
}

// Enforce checks a run input before it is sent, by the same rules as for received ones: the result is what
// may be sent, without unrecognized material and with a warning for each removal; malformed material is a
// [*messages.MalformedError] (P-ENF-6). The result is the receiver itself if nothing is removed, and the receiver
// stays as it is; a nil one is malformed.
func (in *RunInput) Enforce() (*RunInput, []Warning, error) {
	if in == nil {
		return nil, nil, &messages.MalformedError{Rule: "P-ENF-4", Type: runInputName, Want: "an object", Found: "null"}
	}
	verdict := codec.Check(in, walkRunInput)
	if f := verdict.Fault; f == nil && verdict.Weight > maxValues && crowded(in.AppendJSON(nil)) {
		return nil, nil, tooMany(runInputName)
	} else if f == nil && len(verdict.Removals) == 0 {
		return in, nil, nil
	} else if f != nil && !f.TooDeep {
		_, err := warningsOf(verdict, runInputName, "")
		return nil, nil, err
	}
	v, err := state.Parse(in.AppendJSON(nil))
	if err != nil {
		return nil, nil, &messages.MalformedError{Rule: "P-ENF-4", Type: runInputName, Want: "a JSON text", Found: err.Error()}
	}
	return DecodeRunInput(v, nil)
}

func walkInput(in **RunInput, c *codec.Codec) {
	if c.Decoding() {
		*in = &RunInput{}
	}
	walkRunInput(*in, c)
}

func walkRunInput(in *RunInput, c *codec.Codec) { codec.Object(c, in, (*RunInput).members) }

func (in *RunInput) members(c *codec.Codec) {
	c.String("threadId", &in.ThreadID)
	c.String("runId", &in.RunID)
	opt(c, "protocolVersion", &in.ProtocolVersion)
	opt(c, "parentRunId", &in.ParentRunID)
	codec.List(c, "messages", &in.Messages, walkMessage)
	c.OptNullable("state", &in.State)
	codec.OptObjects(c, "tools", &in.Tools, (*Tool).members)
	codec.OptObjects(c, "context", &in.Context, (*Context).members)
	c.OptAny("forwardedProps", &in.ForwardedProps)
	codec.OptObjects(c, "resume", &in.Resume, (*ResumeEntry).members)
}

// AppendJSON appends the run input as it looks on the wire; null if it is nil.
func (in *RunInput) AppendJSON(dst []byte) []byte {
	if in == nil {
		return append(dst, "null"...)
	}
	return codec.Append(dst, in, walkRunInput)
}

// MarshalJSON returns the run input as it looks on the wire. The error is always nil.
func (in RunInput) MarshalJSON() ([]byte, error) { return in.AppendJSON(nil), nil }

// UnmarshalJSON reads a run input in its wire shape. Unrecognized material is left out silently: use
// [DecodeRunInput] to get warnings. Malformed material, or a document that is unrecognized as a whole, is a
// [*messages.MalformedError]; text that is not JSON is a [*state.SyntaxError]. On an error in stays as it was.
func (in *RunInput) UnmarshalJSON(data []byte) error {
	return unmarshal(data, runInputName, (*RunInput).members, in)
}

// marshal returns the JSON text of p.
func marshal[T any](p *T, members func(*T, *codec.Codec)) ([]byte, error) {
	return codec.Append(nil, p, func(p *T, c *codec.Codec) { codec.Object(c, p, members) }), nil
}

// unmarshal reads data, a document called name, into dst.
func unmarshal[T any](data []byte, name string, members func(*T, *codec.Codec), dst *T) error {
	if crowded(data) {
		return tooMany(name)
	}
	v, err := state.Parse(data)
	if err != nil {
		return err
	}
	var got T
	verdict := codec.Decode(v, 1, &got, func(p *T, c *codec.Codec) { codec.Object(c, p, members) })
	strict := ""
	if verdict.Dropped {
		strict = ownRule
	}
	if _, err := warningsOf(verdict, name, strict); err != nil {
		return err
	}
	*dst = got
	return nil
}

func (t *Tool) members(c *codec.Codec) {
	c.String("name", &t.Name)
	c.String("description", &t.Description)
	c.OptAny("parameters", &t.Parameters)
	metadata(c, &t.Metadata)
}

// MarshalJSON returns the context as it looks on the wire. The error is always nil.
func (t Context) MarshalJSON() ([]byte, error) { return marshal(&t, (*Context).members) }

// MarshalJSON returns the tool as it looks on the wire. The error is always nil.
func (t Tool) MarshalJSON() ([]byte, error) { return marshal(&t, (*Tool).members) }

// UnmarshalJSON reads a tool in its wire shape; see [RunInput.UnmarshalJSON] for the errors.
func (t *Tool) UnmarshalJSON(data []byte) error { return unmarshal(data, "Tool", (*Tool).members, t) }

func (t *Context) members(c *codec.Codec) {
	c.String("description", &t.Description)
	c.String("value", &t.Value)
}

func (e *ResumeEntry) members(c *codec.Codec) {
	c.String("interruptId", &e.InterruptID)
	codec.Enum(c, "status", &e.Status, resumeStatuses)
	c.OptAny("payload", &e.Payload)
	metadata(c, &e.Metadata)
}

// MarshalJSON returns the entry as it looks on the wire. The error is always nil.
func (e ResumeEntry) MarshalJSON() ([]byte, error) { return marshal(&e, (*ResumeEntry).members) }

// UnmarshalJSON reads an entry in its wire shape; see [RunInput.UnmarshalJSON] for the errors.
func (e *ResumeEntry) UnmarshalJSON(data []byte) error {
	return unmarshal(data, "ResumeEntry", (*ResumeEntry).members, e)
}
