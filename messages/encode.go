package messages

import "github.com/agfold/agfold/internal/codec"

// AppendJSON appends the message in the shape that its role has on the wire: id, role and subagentRunId,
// then the members of that role, then encryptedValue and metadata. Fields that the role does not have are
// left out, and so are absent ones, an empty list of tool calls and Streaming. A nil message is null. A message that
// breaks the protocol is written as it is: judge it before you send it (P-ENF-6).
func (m *Message) AppendJSON(dst []byte) []byte { return codec.Append(dst, &m, walkMessage) }

// MarshalJSON returns the message as it looks on the wire; see AppendJSON. The error is always nil.
func (m Message) MarshalJSON() ([]byte, error) { return m.AppendJSON(nil), nil }

// MarshalJSON returns the call as it looks on the wire: {"id", "type":"function", "function":{"name",
// "arguments"}}, then encryptedValue and metadata. The status is not on the wire. The error is always nil.
func (t ToolCall) MarshalJSON() ([]byte, error) {
	p := &t
	return codec.Append(nil, &p, walkToolCall), nil
}

// MarshalJSON returns the content as it looks on the wire: a string or an array of parts, null if absent. The error
// is always nil.
func (c Content) MarshalJSON() ([]byte, error) { return codec.Append(nil, &c, walkContent), nil }

// MarshalJSON returns the part as it looks on the wire: type, id, then text or source, then metadata. The error is
// always nil.
func (p Part) MarshalJSON() ([]byte, error) { return codec.Append(nil, &p, walkPart), nil }

// MarshalJSON returns the source as it looks on the wire: type, value, then mimeType and provider. The error is
// always nil.
func (s Source) MarshalJSON() ([]byte, error) { return codec.Append(nil, &s, walkSource), nil }

// MarshalJSON returns the metadata's object, null if it is absent. The error is always nil.
func (m Metadata) MarshalJSON() ([]byte, error) {
	if !m.v.Exists() {
		return []byte("null"), nil
	}
	return m.v.AppendJSON(nil), nil
}
