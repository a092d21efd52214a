package event

import (
	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/messages"
)

// ToolCallStart is TOOL_CALL_START: it opens a tool call.
type ToolCallStart struct {
	Base
	Attribution
	ToolCallID      string
	ToolCallName    string
	ParentMessageID messages.Opt[string]
}

// Type returns TypeToolCallStart.
func (*ToolCallStart) Type() Type { return TypeToolCallStart }

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e ToolCallStart) MarshalJSON() ([]byte, error) { return Append(nil, &e), nil }

func (e *ToolCallStart) members(c *codec.Codec) {
	c.String("toolCallId", &e.ToolCallID)
	c.String("toolCallName", &e.ToolCallName)
	opt(c, "parentMessageId", &e.ParentMessageID)
	e.tag(c)
}

// ToolCallArgs is TOOL_CALL_ARGS: it appends text to an open call's arguments.
type ToolCallArgs struct {
	Base
	Attribution
	ToolCallID string
	Delta      string // may be empty
}

// Type returns TypeToolCallArgs.
func (*ToolCallArgs) Type() Type { return TypeToolCallArgs }

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e ToolCallArgs) MarshalJSON() ([]byte, error) { return Append(nil, &e), nil }

func (e *ToolCallArgs) members(c *codec.Codec) {
	c.String("toolCallId", &e.ToolCallID)
	c.String("delta", &e.Delta)
	e.tag(c)
}

// ToolCallEnd is TOOL_CALL_END: the call's arguments are complete.
type ToolCallEnd struct {
	Base
	Attribution
	ToolCallID string
}

// Type returns TypeToolCallEnd.
func (*ToolCallEnd) Type() Type { return TypeToolCallEnd }

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e ToolCallEnd) MarshalJSON() ([]byte, error) { return Append(nil, &e), nil }

func (e *ToolCallEnd) members(c *codec.Codec) {
	c.String("toolCallId", &e.ToolCallID)
	e.tag(c)
}

// ToolCallChunk is TOOL_CALL_CHUNK, the shorthand that package chunks expands.
type ToolCallChunk struct {
	Base
	Attribution
	ToolCallID      messages.Opt[string]
	ToolCallName    messages.Opt[string]
	ParentMessageID messages.Opt[string]
	Delta           messages.Opt[string]
}

// Type returns TypeToolCallChunk.
func (*ToolCallChunk) Type() Type { return TypeToolCallChunk }

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e ToolCallChunk) MarshalJSON() ([]byte, error) { return Append(nil, &e), nil }

func (e *ToolCallChunk) members(c *codec.Codec) {
	opt(c, "toolCallId", &e.ToolCallID)
	opt(c, "toolCallName", &e.ToolCallName)
	opt(c, "parentMessageId", &e.ParentMessageID)
	opt(c, "delta", &e.Delta)
	e.tag(c)
}

// ToolCallResult is TOOL_CALL_RESULT: the answer to a call, which becomes a tool message.
type ToolCallResult struct {
	Base
	Attribution
	MessageID  string
	ToolCallID string
	Content    messages.Content // a text or parts
	Role       messages.Role    // tool, or "" when absent
}

// Type returns TypeToolCallResult.
func (*ToolCallResult) Type() Type { return TypeToolCallResult }

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e ToolCallResult) MarshalJSON() ([]byte, error) { return Append(nil, &e), nil }

func (e *ToolCallResult) members(c *codec.Codec) {
	c.String("messageId", &e.MessageID)
	c.String("toolCallId", &e.ToolCallID)
	if e.Content.Exists() || !c.Encoding() {
		codec.Field(c, "content", &e.Content, walkContent)
	}
	codec.OptFixed(c, "role", &e.Role, messages.RoleTool)
	e.tag(c)
}
