package event

import (
	"maps"
	"slices"
)

// Type is one of the 36 event types: 31 of AG-UI 1.0 and five retired ones that are still read. The zero
// Type, TypeUnknown, is every other name.
type Type uint8

// The event types in upstream order.
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

// Family groups the types that tell about one thing.
type Family uint8

// The families, named after the specification's pages.
const (
	FamilyNone Family = iota
	FamilyTextMessage
	FamilyToolCall
	FamilyThinking
	FamilyState
	FamilyActivity
	FamilyPassthrough
	FamilyLifecycle
	FamilyReasoning
	FamilySubagent
)

type typeInfo struct {
	name   string
	family Family
	flags  typeFlags
}

type typeFlags uint8

const (
	attributable typeFlags = 1 << iota
	ownerRequired
	legacyProto
)

var types = [numTypes]typeInfo{
	TypeTextMessageStart:           {"TEXT_MESSAGE_START", FamilyTextMessage, attributable | legacyProto},
	TypeTextMessageContent:         {"TEXT_MESSAGE_CONTENT", FamilyTextMessage, attributable | legacyProto},
	TypeTextMessageEnd:             {"TEXT_MESSAGE_END", FamilyTextMessage, attributable | legacyProto},
	TypeTextMessageChunk:           {"TEXT_MESSAGE_CHUNK", FamilyTextMessage, attributable | legacyProto},
	TypeToolCallStart:              {"TOOL_CALL_START", FamilyToolCall, attributable | legacyProto},
	TypeToolCallArgs:               {"TOOL_CALL_ARGS", FamilyToolCall, attributable | legacyProto},
	TypeToolCallEnd:                {"TOOL_CALL_END", FamilyToolCall, attributable | legacyProto},
	TypeToolCallChunk:              {"TOOL_CALL_CHUNK", FamilyToolCall, attributable | legacyProto},
	TypeToolCallResult:             {"TOOL_CALL_RESULT", FamilyToolCall, attributable},
	TypeThinkingStart:              {"THINKING_START", FamilyThinking, 0},
	TypeThinkingEnd:                {"THINKING_END", FamilyThinking, 0},
	TypeThinkingTextMessageStart:   {"THINKING_TEXT_MESSAGE_START", FamilyThinking, 0},
	TypeThinkingTextMessageContent: {"THINKING_TEXT_MESSAGE_CONTENT", FamilyThinking, 0},
	TypeThinkingTextMessageEnd:     {"THINKING_TEXT_MESSAGE_END", FamilyThinking, 0},
	TypeStateSnapshot:              {"STATE_SNAPSHOT", FamilyState, attributable | legacyProto},
	TypeStateDelta:                 {"STATE_DELTA", FamilyState, attributable | legacyProto},
	TypeMessagesSnapshot:           {"MESSAGES_SNAPSHOT", FamilyState, legacyProto},
	TypeActivitySnapshot:           {"ACTIVITY_SNAPSHOT", FamilyActivity, attributable},
	TypeActivityDelta:              {"ACTIVITY_DELTA", FamilyActivity, attributable},
	TypeRaw:                        {"RAW", FamilyPassthrough, attributable | legacyProto},
	TypeCustom:                     {"CUSTOM", FamilyPassthrough, attributable | legacyProto},
	TypeRunStarted:                 {"RUN_STARTED", FamilyLifecycle, legacyProto},
	TypeRunFinished:                {"RUN_FINISHED", FamilyLifecycle, legacyProto},
	TypeRunError:                   {"RUN_ERROR", FamilyLifecycle, legacyProto},
	TypeStepStarted:                {"STEP_STARTED", FamilyLifecycle, attributable | legacyProto},
	TypeStepFinished:               {"STEP_FINISHED", FamilyLifecycle, attributable | legacyProto},
	TypeReasoningStart:             {"REASONING_START", FamilyReasoning, attributable},
	TypeReasoningMessageStart:      {"REASONING_MESSAGE_START", FamilyReasoning, attributable},
	TypeReasoningMessageContent:    {"REASONING_MESSAGE_CONTENT", FamilyReasoning, attributable},
	TypeReasoningMessageEnd:        {"REASONING_MESSAGE_END", FamilyReasoning, attributable},
	TypeReasoningMessageChunk:      {"REASONING_MESSAGE_CHUNK", FamilyReasoning, attributable},
	TypeReasoningEnd:               {"REASONING_END", FamilyReasoning, attributable},
	TypeReasoningEncryptedValue:    {"REASONING_ENCRYPTED_VALUE", FamilyReasoning, attributable},
	TypeSubagentStarted:            {"SUBAGENT_STARTED", FamilySubagent, ownerRequired | legacyProto},
	TypeSubagentFinished:           {"SUBAGENT_FINISHED", FamilySubagent, ownerRequired | legacyProto},
	TypeSubagentError:              {"SUBAGENT_ERROR", FamilySubagent, ownerRequired | legacyProto},
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

// Family returns what the type tells about, FamilyNone for TypeUnknown.
func (t Type) Family() Family {
	if t >= numTypes {
		return FamilyNone
	}
	return types[t].family
}

// IsAttributable reports whether an event of the type may carry a subagentRunId without having to: 24
// types (P-VOC-3).
func (t Type) IsAttributable() bool { return t < numTypes && types[t].flags&attributable != 0 }

// requiresOwner reports whether an event of the type must carry a subagentRunId: the three SUBAGENT_*
// (P-VOC-3).
func (t Type) requiresOwner() bool { return t < numTypes && types[t].flags&ownerRequired != 0 }

// IsRetired reports whether the type was retired before 1.0: the five THINKING_* (P-CMP-1).
func (t Type) IsRetired() bool { return t.Family() == FamilyThinking }

// IsChunk reports whether the type is one of the three *_CHUNK shorthands (P-CHK-1).
func (t Type) IsChunk() bool {
	return t == TypeTextMessageChunk || t == TypeToolCallChunk || t == TypeReasoningMessageChunk
}

// InLegacyProtobuf reports whether the pre-1.0 protobuf wire covered the type: 21 of the 36 (P-VOC-5).
func (t Type) InLegacyProtobuf() bool { return t < numTypes && types[t].flags&legacyProto != 0 }
