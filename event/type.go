package event

import (
	"maps"
	"slices"
)

// Type is one of the 36 event types: 31 of AG-UI 1.0 and five retired ones that are still read. The zero
// Type, TypeUnknown, is every other name.
type Type uint8

// The event types in upstream order. The protobuf wire had 21 of them before 1.0, and has all but the retired ones now (P-VOC-5).
const (
	TypeUnknown Type = iota
	TypeTextMessageStart
	TypeTextMessageContent
	TypeTextMessageEnd
	TypeTextMessageChunk
	TypeToolCallStart
	TypeToolCallArgs
	TypeToolCallEnd
	TypeToolCallChunk
	TypeToolCallResult
	TypeThinkingStart
	TypeThinkingEnd
	TypeThinkingTextMessageStart
	TypeThinkingTextMessageContent
	TypeThinkingTextMessageEnd
	TypeStateSnapshot
	TypeStateDelta
	TypeMessagesSnapshot
	TypeActivitySnapshot
	TypeActivityDelta
	TypeRaw
	TypeCustom
	TypeRunStarted
	TypeRunFinished
	TypeRunError
	TypeStepStarted
	TypeStepFinished
	TypeReasoningStart
	TypeReasoningMessageStart
	TypeReasoningMessageContent
	TypeReasoningMessageEnd
	TypeReasoningMessageChunk
	TypeReasoningEnd
	TypeReasoningEncryptedValue
	TypeSubagentStarted
	TypeSubagentFinished
	TypeSubagentError
	numTypes
)

// typeInfo is all that the package knows of a type.
type typeInfo struct {
	name  string
	flags typeFlags
	empty func() typed // makes an event of the type; nil for the retired ones
}

// empty makes an event of the type that T is.
func empty[T any, P interface {
	*T
	typed
}]() typed {
	return P(new(T))
}

type typeFlags uint8

const (
	attributable typeFlags = 1 << iota
	ownerRequired
)

var types = [numTypes]typeInfo{
	TypeTextMessageStart:           {"TEXT_MESSAGE_START", attributable, empty[TextMessageStart]},
	TypeTextMessageContent:         {"TEXT_MESSAGE_CONTENT", attributable, empty[TextMessageContent]},
	TypeTextMessageEnd:             {"TEXT_MESSAGE_END", attributable, empty[TextMessageEnd]},
	TypeTextMessageChunk:           {"TEXT_MESSAGE_CHUNK", attributable, empty[TextMessageChunk]},
	TypeToolCallStart:              {"TOOL_CALL_START", attributable, empty[ToolCallStart]},
	TypeToolCallArgs:               {"TOOL_CALL_ARGS", attributable, empty[ToolCallArgs]},
	TypeToolCallEnd:                {"TOOL_CALL_END", attributable, empty[ToolCallEnd]},
	TypeToolCallChunk:              {"TOOL_CALL_CHUNK", attributable, empty[ToolCallChunk]},
	TypeToolCallResult:             {"TOOL_CALL_RESULT", attributable, empty[ToolCallResult]},
	TypeThinkingStart:              {"THINKING_START", 0, nil},
	TypeThinkingEnd:                {"THINKING_END", 0, nil},
	TypeThinkingTextMessageStart:   {"THINKING_TEXT_MESSAGE_START", 0, nil},
	TypeThinkingTextMessageContent: {"THINKING_TEXT_MESSAGE_CONTENT", 0, nil},
	TypeThinkingTextMessageEnd:     {"THINKING_TEXT_MESSAGE_END", 0, nil},
	TypeStateSnapshot:              {"STATE_SNAPSHOT", attributable, empty[StateSnapshot]},
	TypeStateDelta:                 {"STATE_DELTA", attributable, empty[StateDelta]},
	TypeMessagesSnapshot:           {"MESSAGES_SNAPSHOT", 0, empty[MessagesSnapshot]},
	TypeActivitySnapshot:           {"ACTIVITY_SNAPSHOT", attributable, empty[ActivitySnapshot]},
	TypeActivityDelta:              {"ACTIVITY_DELTA", attributable, empty[ActivityDelta]},
	TypeRaw:                        {"RAW", attributable, empty[Raw]},
	TypeCustom:                     {"CUSTOM", attributable, empty[Custom]},
	TypeRunStarted:                 {"RUN_STARTED", 0, empty[RunStarted]},
	TypeRunFinished:                {"RUN_FINISHED", 0, empty[RunFinished]},
	TypeRunError:                   {"RUN_ERROR", 0, empty[RunError]},
	TypeStepStarted:                {"STEP_STARTED", attributable, empty[StepStarted]},
	TypeStepFinished:               {"STEP_FINISHED", attributable, empty[StepFinished]},
	TypeReasoningStart:             {"REASONING_START", attributable, empty[ReasoningStart]},
	TypeReasoningMessageStart:      {"REASONING_MESSAGE_START", attributable, empty[ReasoningMessageStart]},
	TypeReasoningMessageContent:    {"REASONING_MESSAGE_CONTENT", attributable, empty[ReasoningMessageContent]},
	TypeReasoningMessageEnd:        {"REASONING_MESSAGE_END", attributable, empty[ReasoningMessageEnd]},
	TypeReasoningMessageChunk:      {"REASONING_MESSAGE_CHUNK", attributable, empty[ReasoningMessageChunk]},
	TypeReasoningEnd:               {"REASONING_END", attributable, empty[ReasoningEnd]},
	TypeReasoningEncryptedValue:    {"REASONING_ENCRYPTED_VALUE", attributable, empty[ReasoningEncryptedValue]},
	TypeSubagentStarted:            {"SUBAGENT_STARTED", ownerRequired, empty[SubagentStarted]},
	TypeSubagentFinished:           {"SUBAGENT_FINISHED", ownerRequired, empty[SubagentFinished]},
	TypeSubagentError:              {"SUBAGENT_ERROR", ownerRequired, empty[SubagentError]},
}

var typesByName = func() map[string]Type {
	m := make(map[string]Type, numTypes)
	for t := TypeUnknown + 1; t < numTypes; t++ {
		m[types[t].name] = t
	}
	return m
}()

// typeNames are the names of the 36 types.
var typeNames = slices.Sorted(maps.Keys(typesByName))

// ParseType returns the type with this name on the wire, and false (with TypeUnknown) if there is none.
func ParseType(name string) (Type, bool) {
	t, ok := typesByName[name]
	return t, ok
}

// Types returns the 36 types in upstream order, in a slice of the caller's own.
func Types() []Type {
	all := make([]Type, 0, numTypes-1)
	for t := TypeUnknown + 1; t < numTypes; t++ {
		all = append(all, t)
	}
	return all
}

// String returns the type's name on the wire, "UNKNOWN" for TypeUnknown.
func (t Type) String() string {
	if t == TypeUnknown || t >= numTypes {
		return "UNKNOWN"
	}
	return types[t].name
}

// MarshalText returns the type's name on the wire.
func (t Type) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// isAttributable reports whether an event of the type may carry a subagentRunId without having to: 24
// types (P-VOC-3).
func (t Type) isAttributable() bool { return t < numTypes && types[t].flags&attributable != 0 }

// requiresOwner reports whether an event of the type must carry a subagentRunId: the three SUBAGENT_*
// (P-VOC-3).
func (t Type) requiresOwner() bool { return t < numTypes && types[t].flags&ownerRequired != 0 }

// IsRetired reports whether the type was retired before 1.0: the five THINKING_* (P-CMP-1).
func (t Type) IsRetired() bool { return t >= TypeThinkingStart && t <= TypeThinkingTextMessageEnd }

// IsChunk reports whether the type is one of the three *_CHUNK shorthands (P-CHK-1).
func (t Type) IsChunk() bool {
	return t == TypeTextMessageChunk || t == TypeToolCallChunk || t == TypeReasoningMessageChunk
}

// newEvent returns an empty event of the type, nil for TypeUnknown.
func newEvent(t Type) typed {
	switch {
	case t.IsRetired():
		return &retired{typ: t}
	case t == TypeUnknown || t >= numTypes:
		return nil
	}
	return types[t].empty()
}
