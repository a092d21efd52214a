package messages

import "github.com/agfold/agfold/state"

// Message is one message of a thread, of any role. Once a snapshot, an event or a run input holds it, it
// never changes: it is safe for concurrent use and must not be changed by its readers. Copy the struct to
// make another version of it.
type Message struct {
	ID   string
	Role Role
	// Owner is the message's subagentRunId.
	Owner          Owner
	Name           Opt[string]     // developer, system, assistant, user
	Content        Content         // all but activity; text only for developer, system, assistant, reasoning
	ToolCalls      List[*ToolCall] // assistant
	ToolCallID     string          // tool: the call that it answers
	Error          Opt[string]     // tool
	ActivityType   string          // activity
	Activity       state.Value     // activity: its content, an object
	EncryptedValue Opt[string]     // all but activity
	Metadata       Metadata
	// Streaming says that more text is on its way: the message is between its START and its END, in a run that
	// continues. It is false for a message that was not streamed, and after the run has ended in any way. It is not
	// on the wire. A tool call has its own status.
	Streaming bool
	// Cut says that the text broke off: the run ended before the message's END came (P-TXT-3). It is not on the wire.
	Cut bool
}

// Kind returns the namespace of the message's id.
func (m *Message) Kind() Kind { return m.Role.kind() }

// Text returns the message's text whatever its content form is; see [Content.Text]. An activity has none.
func (m *Message) Text() string { return m.Content.Text() }

// UserText returns a user message with an empty id, which the sender fills in.
func UserText(text string) *Message { return &Message{Role: RoleUser, Content: Text(text)} }

// UserParts returns a user message made of parts, with an empty id.
func UserParts(parts ...Part) *Message { return &Message{Role: RoleUser, Content: Parts(parts...)} }

// SystemText returns a system message with an empty id.
func SystemText(text string) *Message { return &Message{Role: RoleSystem, Content: Text(text)} }

// DeveloperText returns a developer message with an empty id.
func DeveloperText(text string) *Message { return &Message{Role: RoleDeveloper, Content: Text(text)} }

// AssistantText returns an assistant message with an empty id.
func AssistantText(text string) *Message { return &Message{Role: RoleAssistant, Content: Text(text)} }

// ToolResult returns a tool message, with an empty id, that answers a tool call.
func ToolResult(toolCallID, content string) *Message {
	return &Message{Role: RoleTool, ToolCallID: toolCallID, Content: Text(content)}
}
