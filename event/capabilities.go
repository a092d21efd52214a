package event

import (
	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// Capabilities is AgentCapabilities, what an agent declares about itself before a run (P-CAP-1). A nil group and an absent
// field are undeclared, which says nothing about the agent; false says that it does not do something. A declaration is a
// hint, and the stream is what counts (P-CAP-2). It must not be changed once it has been passed on; it is then safe for
// concurrent use.
type Capabilities struct {
	Identity       *IdentityCapabilities
	Transport      *TransportCapabilities
	Tools          *ToolsCapabilities
	Output         *OutputCapabilities
	State          *StateCapabilities
	MultiAgent     *MultiAgentCapabilities
	Reasoning      *ReasoningCapabilities
	Multimodal     *MultimodalCapabilities
	Execution      *ExecutionCapabilities
	HumanInTheLoop *HumanInTheLoopCapabilities
	Custom         state.Value // an object of the agent's own, or absent
}

// IdentityCapabilities says who the agent is.
type IdentityCapabilities struct {
	Name, Type, Description, Version, Provider, DocumentationURL messages.Opt[string]
	Metadata                                                     messages.Metadata
}

// TransportCapabilities says how the agent can be reached. Resumable and PushNotifications are about transports of its own: no
// binding of AG-UI 1.0 has them.
type TransportCapabilities struct {
	Streaming, Websocket, HTTPBinary, PushNotifications, Resumable messages.Opt[bool]
}

// ToolsCapabilities says whether the agent calls tools, which it has itself, and whether it calls those of the client.
type ToolsCapabilities struct {
	Supported                     messages.Opt[bool]
	Items                         []Tool // its own; nil when absent
	ParallelCalls, ClientProvided messages.Opt[bool]
}

// OutputCapabilities says what the agent's answers can be.
type OutputCapabilities struct {
	StructuredOutput   messages.Opt[bool]
	SupportedMIMETypes []string // nil when absent
}

// StateCapabilities says what the agent does with the shared state, and what it remembers.
type StateCapabilities struct {
	Snapshots, Deltas, Memory, PersistentState messages.Opt[bool]
}

// MultiAgentCapabilities says which other agents may take part.
type MultiAgentCapabilities struct {
	Supported, Delegation, Handoffs messages.Opt[bool]
	Subagents                       []SubagentInfo // nil when absent
}

// SubagentInfo is a subagent that the agent may call: a definition, not an invocation.
type SubagentInfo struct {
	Name        string
	Description messages.Opt[string]
}

// ReasoningCapabilities says whether the agent shows its reasoning.
type ReasoningCapabilities struct {
	Supported, Streaming, Encrypted messages.Opt[bool]
}

// MultimodalCapabilities says which modalities the agent takes and makes.
type MultimodalCapabilities struct {
	Input  *MultimodalInputCapabilities
	Output *MultimodalOutputCapabilities
}

// MultimodalInputCapabilities says what the agent accepts in messages.
type MultimodalInputCapabilities struct {
	Image, Audio, Video, PDF, File messages.Opt[bool]
}

// MultimodalOutputCapabilities says what the agent makes, in ways of its own: no event of AG-UI 1.0 carries it.
type MultimodalOutputCapabilities struct {
	Image, Audio messages.Opt[bool]
}

// ExecutionCapabilities says what a run may do and how long it may take.
type ExecutionCapabilities struct {
	CodeExecution, Sandboxed messages.Opt[bool]
	MaxIterations            messages.Opt[int64]
	MaxExecutionTime         messages.Opt[int64] // in milliseconds
}

// HumanInTheLoopCapabilities says how people take part in a run.
type HumanInTheLoopCapabilities struct {
	Supported, Approvals, Interventions, Feedback, Interrupts, ApproveWithEdits messages.Opt[bool]
}

// capabilitiesName is the name of a declaration in errors and warnings.
const capabilitiesName = "AgentCapabilities"

// DecodeCapabilities reads v, a declaration of capabilities; nil options mean the defaults. What AG-UI 1.0 does not describe is
// removed with a warning, except in Custom and Identity.Metadata, which are open. If a described field is malformed, nothing
// of the declaration can be used: the error, a [*messages.MalformedError], says where (P-CAP-1).
func DecodeCapabilities(v state.Value, o *DecodeOptions) (*Capabilities, []Warning, error) {
	if overfull(v) {
		return nil, nil, tooMany(capabilitiesName)
	}
	strict, maxWarnings := o.resolve()
	c := new(Capabilities)
	warnings, err := warningsOf(codec.Decode(v, maxWarnings, c, walkCapabilities), capabilitiesName, strict)
	if err != nil {
		return nil, nil, err
	}
	return c, warnings, nil
}

// Check judges a declaration that was made in Go by the rules that hold for received ones. The error is a [*messages.MalformedError].
func (c *Capabilities) Check() error {
	if c == nil {
		return nil
	}
	_, err := warningsOf(codec.Check(c, walkCapabilities), capabilitiesName, ownRule)
	return err
}

// Merge returns the declaration with what over declares in place of its own: field by field, lists whole, and Custom and
// Identity.Metadata by key. Both stay as they are, and may be nil. A declaration that is malformed is an error.
func (c *Capabilities) Merge(over *Capabilities) (*Capabilities, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if err := over.Check(); err != nil {
		return nil, err
	}
	merged := new(Capabilities)
	both := mergedObjects(c.value(), over.value(), "")
	_, err := warningsOf(codec.Decode(both, 1, merged, walkCapabilities), capabilitiesName, "")
	return merged, err
}

func (c *Capabilities) value() state.Value {
	if c == nil {
		return state.Object()
	}
	v, _ := state.Parse(c.AppendJSON(nil))
	return v
}

// mergedObjects returns a with the members of b. Objects are merged, but not what is in the open one at key.
func mergedObjects(a, b state.Value, key string) state.Value {
	open := key == "custom" || key == "metadata"
	for k, v := range b.Members() {
		if had := a.Get(k); !open && had.Kind() == state.KindObject && v.Kind() == state.KindObject {
			v = mergedObjects(had, v, k)
		}
		a = a.With(k, v)
	}
	return a
}

// AppendJSON appends the declaration as it looks on the wire; null if it is nil.
func (c *Capabilities) AppendJSON(dst []byte) []byte {
	if c == nil {
		return append(dst, "null"...)
	}
	return codec.Append(dst, c, walkCapabilities)
}

// MarshalJSON returns the declaration as it looks on the wire. The error is always nil.
func (c Capabilities) MarshalJSON() ([]byte, error) { return c.AppendJSON(nil), nil }

// UnmarshalJSON reads a declaration in its wire shape; see [RunInput.UnmarshalJSON] for the errors.
func (c *Capabilities) UnmarshalJSON(data []byte) error {
	return unmarshal(data, capabilitiesName, (*Capabilities).members, c)
}

func walkCapabilities(p *Capabilities, c *codec.Codec) {
	codec.Object(c, p, (*Capabilities).members)
}

// group walks an optional object.
func group[T any](c *codec.Codec, key string, p **T, members func(*T, *codec.Codec)) {
	codec.OptField(c, key, p, *p != nil, func(p **T, c *codec.Codec) {
		if c.Decoding() {
			*p = new(T)
		}
		codec.Object(c, *p, members)
	})
}

func (p *Capabilities) members(c *codec.Codec) {
	group(c, "identity", &p.Identity, func(p *IdentityCapabilities, c *codec.Codec) {
		opt(c, "name", &p.Name)
		opt(c, "type", &p.Type)
		opt(c, "description", &p.Description)
		opt(c, "version", &p.Version)
		opt(c, "provider", &p.Provider)
		opt(c, "documentationUrl", &p.DocumentationURL)
		metadata(c, &p.Metadata)
	})
	group(c, "transport", &p.Transport, func(p *TransportCapabilities, c *codec.Codec) {
		optBool(c, "streaming", &p.Streaming)
		optBool(c, "websocket", &p.Websocket)
		optBool(c, "httpBinary", &p.HTTPBinary)
		optBool(c, "pushNotifications", &p.PushNotifications)
		optBool(c, "resumable", &p.Resumable)
	})
	group(c, "tools", &p.Tools, func(p *ToolsCapabilities, c *codec.Codec) {
		optBool(c, "supported", &p.Supported)
		codec.OptObjects(c, "items", &p.Items, (*Tool).members)
		optBool(c, "parallelCalls", &p.ParallelCalls)
		optBool(c, "clientProvided", &p.ClientProvided)
	})
	group(c, "output", &p.Output, func(p *OutputCapabilities, c *codec.Codec) {
		optBool(c, "structuredOutput", &p.StructuredOutput)
		codec.OptStrings(c, "supportedMimeTypes", &p.SupportedMIMETypes)
	})
	group(c, "state", &p.State, func(p *StateCapabilities, c *codec.Codec) {
		optBool(c, "snapshots", &p.Snapshots)
		optBool(c, "deltas", &p.Deltas)
		optBool(c, "memory", &p.Memory)
		optBool(c, "persistentState", &p.PersistentState)
	})
	group(c, "multiAgent", &p.MultiAgent, func(p *MultiAgentCapabilities, c *codec.Codec) {
		optBool(c, "supported", &p.Supported)
		optBool(c, "delegation", &p.Delegation)
		optBool(c, "handoffs", &p.Handoffs)
		codec.OptObjects(c, "subagents", &p.Subagents, func(p *SubagentInfo, c *codec.Codec) {
			c.String("name", &p.Name)
			opt(c, "description", &p.Description)
		})
	})
	group(c, "reasoning", &p.Reasoning, func(p *ReasoningCapabilities, c *codec.Codec) {
		optBool(c, "supported", &p.Supported)
		optBool(c, "streaming", &p.Streaming)
		optBool(c, "encrypted", &p.Encrypted)
	})
	group(c, "multimodal", &p.Multimodal, func(p *MultimodalCapabilities, c *codec.Codec) {
		group(c, "input", &p.Input, func(p *MultimodalInputCapabilities, c *codec.Codec) {
			optBool(c, "image", &p.Image)
			optBool(c, "audio", &p.Audio)
			optBool(c, "video", &p.Video)
			optBool(c, "pdf", &p.PDF)
			optBool(c, "file", &p.File)
		})
		group(c, "output", &p.Output, func(p *MultimodalOutputCapabilities, c *codec.Codec) {
			optBool(c, "image", &p.Image)
			optBool(c, "audio", &p.Audio)
		})
	})
	group(c, "execution", &p.Execution, func(p *ExecutionCapabilities, c *codec.Codec) {
		optBool(c, "codeExecution", &p.CodeExecution)
		optBool(c, "sandboxed", &p.Sandboxed)
		optInteger(c, "maxIterations", &p.MaxIterations, 0)
		optInteger(c, "maxExecutionTime", &p.MaxExecutionTime, 0)
	})
	group(c, "humanInTheLoop", &p.HumanInTheLoop, func(p *HumanInTheLoopCapabilities, c *codec.Codec) {
		optBool(c, "supported", &p.Supported)
		optBool(c, "approvals", &p.Approvals)
		optBool(c, "interventions", &p.Interventions)
		optBool(c, "feedback", &p.Feedback)
		optBool(c, "interrupts", &p.Interrupts)
		optBool(c, "approveWithEdits", &p.ApproveWithEdits)
	})
	c.OptOpen("custom", &p.Custom)
}
