package event

import (
	"maps"
	"slices"
)

// Type is one of the 36 event types: 31 of AG-UI 1.0 and five retired ones that are still read. The zero
// Type, TypeUnknown, is every other name.
type Type uint8

// The event types in upstream order. They are read as JSON, never as protobuf (P-VOC-5).
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

type typeInfo struct {
	name  string
	flags typeFlags
}

type typeFlags uint8

const (
	attributable typeFlags = 1 << iota
	ownerRequired
)

var types = [numTypes]typeInfo{
	TypeTextMessageStart:           {"TEXT_MESSAGE_START", attributable},
	TypeTextMessageContent:         {"TEXT_MESSAGE_CONTENT", attributable},
	TypeTextMessageEnd:             {"TEXT_MESSAGE_END", attributable},
	TypeTextMessageChunk:           {"TEXT_MESSAGE_CHUNK", attributable},
	TypeToolCallStart:              {"TOOL_CALL_START", attributable},
	TypeToolCallArgs:               {"TOOL_CALL_ARGS", attributable},
	TypeToolCallEnd:                {"TOOL_CALL_END", attributable},
	TypeToolCallChunk:              {"TOOL_CALL_CHUNK", attributable},
	TypeToolCallResult:             {"TOOL_CALL_RESULT", attributable},
	TypeThinkingStart:              {"THINKING_START", 0},
	TypeThinkingEnd:                {"THINKING_END", 0},
	TypeThinkingTextMessageStart:   {"THINKING_TEXT_MESSAGE_START", 0},
	TypeThinkingTextMessageContent: {"THINKING_TEXT_MESSAGE_CONTENT", 0},
	TypeThinkingTextMessageEnd:     {"THINKING_TEXT_MESSAGE_END", 0},
	TypeStateSnapshot:              {"STATE_SNAPSHOT", attributable},
	TypeStateDelta:                 {"STATE_DELTA", attributable},
	TypeMessagesSnapshot:           {"MESSAGES_SNAPSHOT", 0},
	TypeActivitySnapshot:           {"ACTIVITY_SNAPSHOT", attributable},
	TypeActivityDelta:              {"ACTIVITY_DELTA", attributable},
	TypeRaw:                        {"RAW", attributable},
	TypeCustom:                     {"CUSTOM", attributable},
	TypeRunStarted:                 {"RUN_STARTED", 0},
	TypeRunFinished:                {"RUN_FINISHED", 0},
	TypeRunError:                   {"RUN_ERROR", 0},
	TypeStepStarted:                {"STEP_STARTED", attributable},
	TypeStepFinished:               {"STEP_FINISHED", attributable},
	TypeReasoningStart:             {"REASONING_START", attributable},
	TypeReasoningMessageStart:      {"REASONING_MESSAGE_START", attributable},
	TypeReasoningMessageContent:    {"REASONING_MESSAGE_CONTENT", attributable},
	TypeReasoningMessageEnd:        {"REASONING_MESSAGE_END", attributable},
	TypeReasoningMessageChunk:      {"REASONING_MESSAGE_CHUNK", attributable},
	TypeReasoningEnd:               {"REASONING_END", attributable},
	TypeReasoningEncryptedValue:    {"REASONING_ENCRYPTED_VALUE", attributable},
	TypeSubagentStarted:            {"SUBAGENT_STARTED", ownerRequired},
	TypeSubagentFinished:           {"SUBAGENT_FINISHED", ownerRequired},
	TypeSubagentError:              {"SUBAGENT_ERROR", ownerRequired},
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
