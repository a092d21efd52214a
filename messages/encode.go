package messages

import (
	"github.com/agfold/agfold/internal/jsontext"
	"github.com/agfold/agfold/internal/wire"
)

// AppendJSON appends the message in the shape that its role has on the wire: id, role and subagentRunId,
// then the members of that role, then encryptedValue and metadata. Fields that the role does not have are
// left out, and so are absent ones, an empty list of tool calls and Streaming. A nil message is null. A message that
// breaks the protocol is written as it is: who sends one judges it first (P-ENF-6).
func (m *Message) AppendJSON(dst []byte) []byte {
	if m == nil {
		return append(dst, "null"...)
	}
	dst = append(dst, '{')
	dst = wire.AppendString(dst, "id", m.ID)
	dst = wire.AppendString(dst, "role", string(m.Role))
	dst = appendOwner(dst, m.Owner)
	switch m.Role {
	case RoleDeveloper, RoleSystem, RoleUser:
		dst = appendContent(dst, m.Content)
		dst = appendOpt(dst, "name", m.Name)
	case RoleAssistant:
		dst = appendContent(dst, m.Content)
		dst = appendOpt(dst, "name", m.Name)
		if m.ToolCalls.Len() > 0 {
			dst = append(wire.AppendKey(dst, "toolCalls"), '[')
			for i, call := range m.ToolCalls.All() {
				if i > 0 {
					dst = append(dst, ',')
				}
				dst = call.AppendJSON(dst)
			}
			dst = append(dst, ']')
		}
	case RoleTool:
		dst = appendContent(dst, m.Content)
		dst = wire.AppendString(dst, "toolCallId", m.ToolCallID)
		dst = appendOpt(dst, "error", m.Error)
	case RoleActivity:
		dst = wire.AppendString(dst, "activityType", m.ActivityType)
		dst = wire.AppendValue(dst, "content", m.Activity)
	case RoleReasoning:
		dst = appendContent(dst, m.Content)
	}
	if m.Role != RoleActivity {
		dst = appendOpt(dst, "encryptedValue", m.EncryptedValue)
	}
	dst = wire.AppendValue(dst, "metadata", m.Metadata.v)
	return append(dst, '}')
}

// MarshalJSON returns the message as it looks on the wire; see AppendJSON. The error is always nil.
func (m *Message) MarshalJSON() ([]byte, error) { return m.AppendJSON(nil), nil }

// AppendJSON appends the call as it looks on the wire: {"id", "type":"function", "function":{"name",
// "arguments"}}, then encryptedValue and metadata. A nil call is null. The status is not on the wire.
func (c *ToolCall) AppendJSON(dst []byte) []byte {
	if c == nil {
		return append(dst, "null"...)
	}
	dst = append(dst, '{')
	dst = wire.AppendString(dst, "id", c.ID)
	dst = append(dst, `,"type":"function","function":{`...)
	dst = wire.AppendString(dst, "name", c.Name)
	dst = wire.AppendString(dst, "arguments", c.Arguments)
	dst = append(dst, '}')
	dst = appendOpt(dst, "encryptedValue", c.EncryptedValue)
	dst = wire.AppendValue(dst, "metadata", c.Metadata.v)
	return append(dst, '}')
}

// MarshalJSON returns the call as it looks on the wire; see AppendJSON. The error is always nil.
func (c *ToolCall) MarshalJSON() ([]byte, error) { return c.AppendJSON(nil), nil }

// AppendJSON appends the content as it looks on the wire: a string or an array of parts, null if absent.
func (c Content) AppendJSON(dst []byte) []byte {
	switch c.form {
	case formText:
		return jsontext.AppendString(dst, c.text)
	case formParts:
		dst = append(dst, '[')
		for i, p := range c.parts {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = p.AppendJSON(dst)
		}
		return append(dst, ']')
	}
	return append(dst, "null"...)
}

// MarshalJSON returns the content as it looks on the wire; see AppendJSON. The error is always nil.
func (c Content) MarshalJSON() ([]byte, error) { return c.AppendJSON(nil), nil }

// AppendJSON appends the part as it looks on the wire: type, id, then text or source, then metadata.
func (p Part) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	dst = wire.AppendString(dst, "type", string(p.Type))
	dst = appendOpt(dst, "id", p.ID)
	if p.Type == PartText {
		dst = wire.AppendString(dst, "text", p.Text)
	} else {
		dst = p.Source.AppendJSON(wire.AppendKey(dst, "source"))
	}
	dst = wire.AppendValue(dst, "metadata", p.Metadata.v)
	return append(dst, '}')
}

// MarshalJSON returns the part as it looks on the wire; see AppendJSON. The error is always nil.
func (p Part) MarshalJSON() ([]byte, error) { return p.AppendJSON(nil), nil }

// AppendJSON appends the source as it looks on the wire: type, value, then mimeType and provider.
func (s Source) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	dst = wire.AppendString(dst, "type", string(s.Type))
	dst = wire.AppendString(dst, "value", s.Value)
	dst = appendOpt(dst, "mimeType", s.MIMEType)
	dst = appendOpt(dst, "provider", s.Provider)
	return append(dst, '}')
}

// MarshalJSON returns the source as it looks on the wire; see AppendJSON. The error is always nil.
func (s Source) MarshalJSON() ([]byte, error) { return s.AppendJSON(nil), nil }

// MarshalJSON returns the metadata's object, null if it is absent. The error is always nil.
func (m Metadata) MarshalJSON() ([]byte, error) {
	if !m.v.Exists() {
		return []byte("null"), nil
	}
	return m.v.AppendJSON(nil), nil
}

func appendOwner(dst []byte, o Owner) []byte {
	if !o.subagent {
		return dst
	}
	return wire.AppendString(dst, "subagentRunId", o.id)
}

func appendOpt(dst []byte, key string, o Opt[string]) []byte {
	if !o.set {
		return dst
	}
	return wire.AppendString(dst, key, o.value)
}

func appendContent(dst []byte, c Content) []byte {
	if !c.Exists() {
		return dst
	}
	return c.AppendJSON(wire.AppendKey(dst, "content"))
}
