package messages

// Role is the role of a message, a closed set of strings (P-ENF-5).
type Role string

// The roles of the protocol. The empty Role means "absent" where a role is optional.
const (
	RoleDeveloper Role = "developer"
	RoleSystem    Role = "system"
	RoleAssistant Role = "assistant"
	RoleUser      Role = "user"
	RoleTool      Role = "tool"
	RoleActivity  Role = "activity"
	RoleReasoning Role = "reasoning"
)

// kind returns the kind of the messages that have this role, KindNone for an unknown role.
func (r Role) kind() Kind {
	switch r {
	case RoleDeveloper, RoleSystem, RoleAssistant, RoleUser:
		return KindText
	case RoleTool:
		return KindTool
	case RoleReasoning:
		return KindReasoning
	case RoleActivity:
		return KindActivity
	}
	return KindNone
}

// Kind is one of the four namespaces of message ids: a message is found by its kind and id, and one id
// may name a message of each kind (P-ID-1).
type Kind uint8

// The kinds. KindText holds the roles developer, system, assistant and user.
const (
	KindNone Kind = iota
	KindText
	KindTool
	KindReasoning
	KindActivity
)

// String returns the kind's name in words for people: "text", "tool result", "reasoning", "activity".
func (k Kind) String() string {
	switch k {
	case KindText:
		return "text"
	case KindTool:
		return "tool result"
	case KindReasoning:
		return "reasoning"
	case KindActivity:
		return "activity"
	}
	return "none"
}

// MarshalText returns what String returns.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }
