package protobuf

import (
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/state"
)

// The messages of the wire, as AG-UI 1.0 numbers them. Each field is named after the member of the JSON object that it
// carries; what differs between the two has a function in shapes.go.

// kind is what a field holds.
type kind uint8

const (
	kindText   kind = iota // a string
	kindFlag               // a boolean
	kindCount              // an int64
	kindOp                 // the name of a patch operation, by number
	kindAny                // google.protobuf.Value: any JSON
	kindOpen               // google.protobuf.Struct: an object with any members
	kindNested             // a message of its own
)

// presence is when a field is on the wire.
type presence uint8

const (
	implicit presence = iota // unless it is "" or 0; absent from the wire means that
	optional                 // if the object has the member
	repeated                 // once for each element of an array
)

type field struct {
	num  int
	name string
	kind kind
	has  presence
	of   *message
	// shared says that other fields have this name too: the kind of the value decides.
	shared bool
}

type message struct {
	fields []field
	// arms are the members of a union, of which the object's type names one; there are no fields then.
	arms []arm
	// flatten and restore convert between the JSON object and the one that the fields describe; nil if there is no
	// difference. See shapes.go.
	flatten func(*encoder, state.Value) state.Value
	restore func(*decoder, []state.Member) []state.Member
}

// arm is a member of a union.
type arm struct {
	num  int
	name string // the object's type
	of   *message
}

func text(num int, name string) field    { return field{num: num, name: name} }
func optText(num int, name string) field { return field{num: num, name: name, has: optional} }
func count(num int, name string) field {
	return field{num: num, name: name, kind: kindCount, has: optional}
}
func anyValue(num int, name string) field {
	return field{num: num, name: name, kind: kindAny, has: optional}
}
func open(num int, name string) field {
	return field{num: num, name: name, kind: kindOpen, has: optional}
}
func nested(num int, name string, of *message) field {
	return field{num: num, name: name, kind: kindNested, has: optional, of: of}
}
func list(num int, name string, of *message) field {
	return field{num: num, name: name, kind: kindNested, has: repeated, of: of}
}
func texts(num int, name string) field { return field{num: num, name: name, has: repeated} }
func owner(num int) field              { return optText(num, "subagentRunId") }

// byKind marks a field whose name others have too.
func byKind(f field) field {
	f.shared = true
	return f
}

func fields(list ...field) *message { return &message{fields: list} }

var (
	source = &message{arms: []arm{
		{1, "data", fields(text(1, "value"), text(2, "mimeType"))},
		{2, "url", fields(text(1, "value"), optText(2, "mimeType"))},
		{3, "file", fields(text(1, "value"), optText(2, "provider"), optText(3, "mimeType"))},
	}}
	mediaPart   = fields(nested(1, "source", source), anyValue(2, "metadata"), optText(3, "id"))
	contentPart = &message{arms: []arm{
		{1, "text", fields(text(1, "text"), optText(2, "id"), anyValue(3, "metadata"))},
		{2, "image", mediaPart}, {3, "audio", mediaPart}, {4, "video", mediaPart}, {5, "document", mediaPart},
	}}
	patchOp  = fields(field{num: 1, name: "op", kind: kindOp}, text(2, "path"), optText(3, "from"), anyValue(4, "value"))
	function = fields(text(1, "name"), text(2, "arguments"))
	toolCall = fields(text(1, "id"), text(2, "type"), nested(3, "function", function), open(4, "metadata"), optText(5, "encryptedValue"))
	msg      = &message{restore: restoreMessage, fields: []field{
		text(1, "id"), text(2, "role"), byKind(optText(3, "content")), optText(4, "name"), list(5, "toolCalls", toolCall),
		optText(6, "toolCallId"), optText(7, "error"), byKind(list(8, "content", contentPart)), open(9, "metadata"),
		owner(10), optText(11, "encryptedValue"), optText(12, "activityType"), byKind(open(13, "content")),
	}}
	tool     = fields(text(1, "name"), text(2, "description"), anyValue(3, "parameters"), open(4, "metadata"))
	hint     = fields(text(1, "description"), text(2, "value"))
	resume   = fields(text(1, "interruptId"), text(2, "status"), anyValue(3, "payload"), open(4, "metadata"))
	runInput = &message{restore: keepLists("messages", "tools", "context", "resume"), fields: []field{
		text(1, "threadId"), text(2, "runId"), optText(3, "parentRunId"), anyValue(4, "state"), list(5, "messages", msg),
		list(6, "tools", tool), list(7, "context", hint), anyValue(8, "forwardedProps"), list(9, "resume", resume),
		optText(10, "protocolVersion"),
	}}
	interrupt = fields(text(1, "id"), text(2, "reason"), optText(3, "message"), optText(4, "toolCallId"),
		anyValue(5, "responseSchema"), optText(6, "expiresAt"), anyValue(7, "metadata"), owner(8))
	usage = fields(optText(1, "provider"), optText(2, "model"), count(3, "inputTokens"), count(4, "outputTokens"),
		count(5, "totalTokens"), count(6, "reasoningTokens"), count(7, "cachedInputTokens"), count(8, "cacheWriteInputTokens"))
)

// eventArm is the arm of an event type in the envelope.
type eventArm struct {
	typ  event.Type
	enum int64 // what the base of the event says too
	of   *message
}

// arms are those of the envelope, by number. Field 1 of each event is its base.
var arms = [...]eventArm{
	1:  {event.TypeTextMessageStart, 0, fields(text(2, "messageId"), optText(3, "role"), optText(4, "name"), owner(5))},
	2:  {event.TypeTextMessageContent, 1, fields(text(2, "messageId"), text(3, "delta"), owner(4))},
	3:  {event.TypeTextMessageEnd, 2, fields(text(2, "messageId"), owner(3))},
	4:  {event.TypeToolCallStart, 3, fields(text(2, "toolCallId"), text(3, "toolCallName"), optText(4, "parentMessageId"), owner(5))},
	5:  {event.TypeToolCallArgs, 4, fields(text(2, "toolCallId"), text(3, "delta"), owner(4))},
	6:  {event.TypeToolCallEnd, 5, fields(text(2, "toolCallId"), owner(3))},
	7:  {event.TypeStateSnapshot, 6, fields(anyValue(2, "snapshot"), owner(3))},
	8:  {event.TypeStateDelta, 7, &message{restore: keepLists("delta"), fields: []field{list(2, "delta", patchOp), owner(3)}}},
	9:  {event.TypeMessagesSnapshot, 8, &message{restore: keepLists("messages"), fields: []field{list(2, "messages", msg)}}},
	10: {event.TypeRaw, 9, fields(anyValue(2, "event"), optText(3, "source"), owner(4))},
	11: {event.TypeCustom, 10, fields(text(2, "name"), anyValue(3, "value"), owner(4))},
	12: {event.TypeRunStarted, 11, fields(text(2, "threadId"), text(3, "runId"), optText(4, "parentRunId"), nested(5, "input", runInput), optText(6, "protocolVersion"))},
	13: {event.TypeRunFinished, 12, &message{flatten: flattenOutcome, restore: restoreOutcome, fields: []field{
		text(2, "threadId"), text(3, "runId"), anyValue(4, "result"), text(5, "outcome"), list(6, "interrupts", interrupt),
		list(7, "usage", usage), texts(8, "pendingToolCallIds"),
	}}},
	14: {event.TypeRunError, 13, fields(optText(2, "code"), text(3, "message"), list(4, "usage", usage))},
	15: {event.TypeStepStarted, 14, fields(text(2, "stepName"), owner(3))},
	16: {event.TypeStepFinished, 15, fields(text(2, "stepName"), owner(3))},
	17: {event.TypeTextMessageChunk, 19, fields(optText(2, "messageId"), optText(3, "role"), optText(4, "delta"), optText(5, "name"), owner(6))},
	18: {event.TypeToolCallChunk, 20, fields(optText(2, "toolCallId"), optText(3, "toolCallName"), optText(4, "parentMessageId"), optText(5, "delta"), owner(6))},
	19: {event.TypeSubagentStarted, 16, fields(text(2, "subagentRunId"), text(3, "name"), optText(4, "description"),
		optText(5, "parentSubagentRunId"), optText(6, "parentToolCallId"), optText(7, "parentMessageId"))},
	20: {event.TypeSubagentFinished, 17, &message{flatten: flattenOutcome, restore: restoreOutcome, fields: []field{
		text(2, "subagentRunId"), anyValue(3, "result"), text(4, "outcome"), texts(5, "interruptIds"),
	}}},
	21: {event.TypeSubagentError, 18, fields(text(2, "subagentRunId"), text(3, "message"), optText(4, "code"))},
	22: {event.TypeToolCallResult, 21, &message{restore: restoreResult, fields: []field{
		owner(2), text(3, "messageId"), text(4, "toolCallId"), byKind(optText(5, "content")), optText(6, "role"),
		byKind(list(7, "content", contentPart)),
	}}},
	23: {event.TypeActivitySnapshot, 22, fields(owner(2), text(3, "messageId"), text(4, "activityType"), open(5, "content"),
		field{num: 6, name: "replace", kind: kindFlag, has: optional})},
	24: {event.TypeActivityDelta, 23, &message{restore: keepLists("patch"), fields: []field{
		owner(2), text(3, "messageId"), text(4, "activityType"), list(5, "patch", patchOp),
	}}},
	25: {event.TypeReasoningStart, 24, fields(owner(2), text(3, "messageId"))},
	26: {event.TypeReasoningMessageStart, 25, fields(owner(2), text(3, "messageId"), text(4, "role"))},
	27: {event.TypeReasoningMessageContent, 26, fields(owner(2), text(3, "messageId"), text(4, "delta"))},
	28: {event.TypeReasoningMessageEnd, 27, fields(owner(2), text(3, "messageId"))},
	29: {event.TypeReasoningMessageChunk, 28, fields(owner(2), optText(3, "messageId"), optText(4, "delta"))},
	30: {event.TypeReasoningEnd, 29, fields(owner(2), text(3, "messageId"))},
	31: {event.TypeReasoningEncryptedValue, 30, fields(owner(2), text(3, "subtype"), text(4, "entityId"), text(5, "encryptedValue"))},
}

// The fields of the base, which is field 1 of every event.
const (
	baseField     = 1
	baseType      = 1
	baseTimestamp = 2
	baseRawEvent  = 3
	baseMetadata  = 4
)

// armOf is the number of the arm of each type, 0 if there is none.
var armOf = func() map[event.Type]int {
	m := make(map[event.Type]int, len(arms))
	for num, a := range arms {
		if a.of != nil {
			m[a.typ] = num
		}
	}
	return m
}()

// ops are the patch operations, by number.
var ops = [...]string{"add", "remove", "replace", "move", "copy", "test"}
