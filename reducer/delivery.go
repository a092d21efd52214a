package reducer

import (
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

// Delivery is one event as it was delivered, after expansion, and what it changed. The Event never changes and
// may be kept; the Warnings belong to the reducer and are valid until it takes the next event.
type Delivery struct {
	// Event is one of the typed events, never a chunk or a Frame; nil if nothing was delivered and the Delivery
	// only carries warnings (P-ENF-1).
	Event event.Event
	// Ordinal is the place in the stream, counted from 1, of the event that the delivery comes from. A chunk
	// may make several deliveries.
	Ordinal  int
	Change   Change
	Warnings []event.Warning
}

// Change says what a delivery changed in the thread, for code that redraws or logs only that. What is not set
// does not apply to the kind.
type Change struct {
	Kind ChangeKind
	// MessageID and MessageKind name the message, and Index is its place in Thread.Messages at that moment,
	// -1 for a change that is about no message.
	MessageID   string
	MessageKind messages.Kind
	Index       int
	// ToolCallID names the tool call, and Call is its place in the message's ToolCalls.
	ToolCallID string
	Call       int
	Delta      string // the text that was appended
	StepName   string
	RunID      string
	Subagent   messages.Owner
}

// ChangeKind is the kind of a [Change].
type ChangeKind uint8

// The kinds of change.
const (
	Unchanged            ChangeKind = iota // passed through (RAW, CUSTOM, a reasoning span), or skipped with a warning
	RunBegan                               // RUN_STARTED; messages and state of its input may have been added
	RunEnded                               // RUN_FINISHED or RUN_ERROR, after which no message is streaming
	StepBegan                              // STEP_STARTED
	StepEnded                              // STEP_FINISHED
	MessageAdded                           // a text, tool, reasoning or activity message is new at Index
	MessageReopened                        // a message that was there is open again
	TextAppended                           // Delta was appended to the message
	MessageClosed                          // no more text for now
	MessageReplaced                        // a tool result or an activity replaced an older one
	ActivityPatched                        // the activity's content was patched
	ToolCallAdded                          // the message at Index got a call; the message itself may be new
	ToolCallReopened                       // a call that was there is open again
	ArgumentsAppended                      // Delta was appended to the call's arguments
	ToolCallClosed                         // the call's arguments are complete
	EncryptedValueSet                      // the message or call carries an encrypted value
	MetadataMerged                         // of the activity only the metadata changed
	StateReplaced                          // STATE_SNAPSHOT
	StatePatched                           // STATE_DELTA
	ConversationRestated                   // MESSAGES_SNAPSHOT; any message may differ
	SubagentBegan                          // SUBAGENT_STARTED
	SubagentEnded                          // SUBAGENT_FINISHED or SUBAGENT_ERROR
)

var changeNames = [...]string{
	"unchanged", "runBegan", "runEnded", "stepBegan", "stepEnded", "messageAdded", "messageReopened",
	"textAppended", "messageClosed", "messageReplaced", "activityPatched", "toolCallAdded",
	"toolCallReopened", "argumentsAppended", "toolCallClosed", "encryptedValueSet", "metadataMerged", "stateReplaced",
	"statePatched", "conversationRestated", "subagentBegan", "subagentEnded",
}

// String returns the kind in camel case, such as "textAppended".
func (k ChangeKind) String() string {
	if int(k) >= len(changeNames) {
		return "unknown"
	}
	return changeNames[k]
}

// MarshalText returns what String returns.
func (k ChangeKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }
