package emit

import (
	"errors"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// CallOptions configures [Scope.Call] and [Text.Call]; nil means defaults.
type CallOptions struct {
	// ID is the call's id, such as the one that the model gave it. If it is "", or a message or call of the thread has it, an id
	// is made.
	ID       string
	Metadata messages.Metadata
}

// A Call is a tool call. Its arguments are one JSON object, written piece by piece as the model streams them, or at once with
// [Call.Args]. A call is of the agent's own tool if it gets a [Call.Result], and left for the client if it does not. It is an
// io.Writer and an io.StringWriter, and may be used from several goroutines.
type Call struct {
	scope    *Scope
	part     part
	id, tool string
	rest     []byte
	answered bool
}

// Call begins a tool call, in a message of its own; see [Text.Call] for one in a text of the assistant.
func (s *Scope) Call(tool string, o *CallOptions) *Call { return s.call(tool, nil, o) }

func (s *Scope) call(tool string, parent *Text, o *CallOptions) *Call {
	if o == nil {
		o = new(CallOptions)
	}
	r := s.r
	r.mu.Lock()
	defer r.mu.Unlock()
	c := &Call{scope: s, tool: tool, id: r.newID(r.ids, o.ID, "call")}
	started := &event.ToolCallStart{Base: event.Base{Metadata: o.Metadata}, Attribution: s.by(), ToolCallID: c.id, ToolCallName: tool}
	if parent != nil && !s.closed && parent.begin() == nil {
		started.ParentMessageID = messages.Some(parent.id)
	}
	if s.open(&c.part, started, c.end) == nil {
		r.calls = append(r.calls, c)
	}
	return c
}

// ID returns the call's id.
func (c *Call) ID() string { return c.id }

// Write sends a part of the arguments' text, as [Text.Write] does.
func (c *Call) Write(p []byte) (int, error) { return writeArgs(c, p) }

// WriteString is Write of a string.
func (c *Call) WriteString(s string) (int, error) { return writeArgs(c, s) }

func writeArgs[P string | []byte](c *Call, p P) (int, error) {
	r := c.scope.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.part.isClosed() {
		return 0, r.over(&c.part)
	}
	var text string
	text, c.rest = whole(c.rest, p)
	if err := eachDelta(text, c.args); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (c *Call) args(delta string) error {
	return c.scope.r.emit(&event.ToolCallArgs{Attribution: c.scope.by(), ToolCallID: c.id, Delta: delta})
}

// Args writes v, encoded as JSON, as the arguments and closes the call.
func (c *Call) Args(v any) error {
	args, err := state.Of(v)
	if err != nil {
		return err
	}
	if _, err := c.WriteString(args.String()); err != nil {
		return err
	}
	return c.Close()
}

// Close says that the arguments are complete. Closing it again does nothing.
func (c *Call) Close() error { return c.scope.r.closePart(&c.part) }

func (c *Call) end() {
	if len(c.rest) > 0 {
		_ = c.args(valid(c.rest))
	}
	_ = c.scope.r.emit(&event.ToolCallEnd{Attribution: c.scope.by(), ToolCallID: c.id})
}

// Result closes the call and sends its result: a string is the text of it, a [messages.Content] is sent as it is, and
// anything else is encoded as JSON. A call has one result; another one is an error. It may be sent after the call's scope
// was closed, until the run ends.
func (c *Call) Result(content any) error {
	answer, err := contentOf(content)
	if err != nil {
		return err
	}
	r := c.scope.r
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.stopped != nil:
		return r.stopped
	case c.part.close == nil: // never opened
		return r.over(&c.part)
	case c.answered:
		return errors.New("emit: the call has a result already")
	}
	result := &event.ToolCallResult{
		Attribution: c.scope.by(), MessageID: r.newID(r.ids, c.id+"-result", "result"), ToolCallID: c.id, Content: answer, Role: messages.RoleTool,
	}
	if err := event.Check(result); err != nil {
		return err
	}
	c.part.shut()
	if err := r.emit(result); err != nil {
		return err
	}
	c.answered = true
	return nil
}

// Encrypted attaches an opaque value of the model's provider to the call, as [Text.Encrypted] does to a message.
func (c *Call) Encrypted(value string) error {
	r := c.scope.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.part.close == nil {
		return r.over(&c.part)
	}
	return r.emit(&event.ReasoningEncryptedValue{
		Attribution: c.scope.by(), Subtype: event.EncryptedToolCall, EntityID: c.id, EncryptedValue: value,
	})
}

// contentOf is what a tool's result says.
func contentOf(content any) (messages.Content, error) {
	switch content := content.(type) {
	case messages.Content:
		return content, nil
	case string:
		return messages.Text(valid(content)), nil
	}
	v, err := state.Of(content)
	if err != nil {
		return messages.Content{}, err
	}
	return messages.Text(v.String()), nil
}
