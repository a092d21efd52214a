package event

import (
	"github.com/agfold/agfold/internal/wire"
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

// AppendJSON appends the event as it looks on the wire.
func (e *ToolCallStart) AppendJSON(dst []byte) []byte {
	dst = begin(dst, TypeToolCallStart)
	dst = wire.AppendString(dst, "toolCallId", e.ToolCallID)
	dst = wire.AppendString(dst, "toolCallName", e.ToolCallName)
	dst = appendOpt(dst, "parentMessageId", e.ParentMessageID)
	return e.finish(dst, e.SubagentRunID)
}

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e *ToolCallStart) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

func (e *ToolCallStart) read(o *wire.Object) {
	e.ToolCallID = o.String("toolCallId")
	e.ToolCallName = o.String("toolCallName")
	e.ParentMessageID = messages.ReadOpt(o, "parentMessageId")
	e.SubagentRunID = messages.ReadOwner(o, "subagentRunId")
}

func (*ToolCallStart) event() {}

// ToolCallArgs is TOOL_CALL_ARGS: it appends text to an open call's arguments.
type ToolCallArgs struct {
	Base
	Attribution
	ToolCallID string
	Delta      string // may be empty
}

// Type returns TypeToolCallArgs.
func (*ToolCallArgs) Type() Type { return TypeToolCallArgs }

// AppendJSON appends the event as it looks on the wire.
func (e *ToolCallArgs) AppendJSON(dst []byte) []byte {
	dst = begin(dst, TypeToolCallArgs)
	dst = wire.AppendString(dst, "toolCallId", e.ToolCallID)
	dst = wire.AppendString(dst, "delta", e.Delta)
	return e.finish(dst, e.SubagentRunID)
}

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e *ToolCallArgs) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

func (e *ToolCallArgs) read(o *wire.Object) {
	e.ToolCallID = o.String("toolCallId")
	e.Delta = o.String("delta")
	e.SubagentRunID = messages.ReadOwner(o, "subagentRunId")
}

func (*ToolCallArgs) event() {}

// ToolCallEnd is TOOL_CALL_END: the call's arguments are complete.
type ToolCallEnd struct {
	Base
	Attribution
	ToolCallID string
}

// Type returns TypeToolCallEnd.
func (*ToolCallEnd) Type() Type { return TypeToolCallEnd }

// AppendJSON appends the event as it looks on the wire.
func (e *ToolCallEnd) AppendJSON(dst []byte) []byte {
	dst = begin(dst, TypeToolCallEnd)
	dst = wire.AppendString(dst, "toolCallId", e.ToolCallID)
	return e.finish(dst, e.SubagentRunID)
}

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e *ToolCallEnd) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

func (e *ToolCallEnd) read(o *wire.Object) {
	e.ToolCallID = o.String("toolCallId")
	e.SubagentRunID = messages.ReadOwner(o, "subagentRunId")
}

func (*ToolCallEnd) event() {}

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

// AppendJSON appends the event as it looks on the wire.
func (e *ToolCallChunk) AppendJSON(dst []byte) []byte {
	dst = begin(dst, TypeToolCallChunk)
	dst = appendOpt(dst, "toolCallId", e.ToolCallID)
	dst = appendOpt(dst, "toolCallName", e.ToolCallName)
	dst = appendOpt(dst, "parentMessageId", e.ParentMessageID)
	dst = appendOpt(dst, "delta", e.Delta)
	return e.finish(dst, e.SubagentRunID)
}

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e *ToolCallChunk) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

func (e *ToolCallChunk) read(o *wire.Object) {
	e.ToolCallID = messages.ReadOpt(o, "toolCallId")
	e.ToolCallName = messages.ReadOpt(o, "toolCallName")
	e.ParentMessageID = messages.ReadOpt(o, "parentMessageId")
	e.Delta = messages.ReadOpt(o, "delta")
	e.SubagentRunID = messages.ReadOwner(o, "subagentRunId")
}

func (*ToolCallChunk) event() {}

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

// AppendJSON appends the event as it looks on the wire.
func (e *ToolCallResult) AppendJSON(dst []byte) []byte {
	dst = begin(dst, TypeToolCallResult)
	dst = wire.AppendString(dst, "messageId", e.MessageID)
	dst = wire.AppendString(dst, "toolCallId", e.ToolCallID)
	dst = appendContent(dst, e.Content)
	dst = wire.AppendNonEmpty(dst, "role", string(e.Role))
	return e.finish(dst, e.SubagentRunID)
}

// MarshalJSON returns the event as it looks on the wire. The error is always nil.
func (e *ToolCallResult) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

func (e *ToolCallResult) read(o *wire.Object) {
	e.MessageID = o.String("messageId")
	e.ToolCallID = o.String("toolCallId")
	e.Content = wire.Field(o, "content", messages.DecodeContent)
	e.Role = readToolRole(o)
	e.SubagentRunID = messages.ReadOwner(o, "subagentRunId")
}

func (*ToolCallResult) event() {}
