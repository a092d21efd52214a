package messages

import (
	"github.com/agfold/agfold/internal/wire"
	"github.com/agfold/agfold/state"
)

// UnmarshalJSON reads a message in its wire shape. Malformed material is a [*MalformedError], and so is a
// role that is none of the seven (P-ENF-4). Other unrecognised material is left out without a word
// (P-ENF-2, P-ENF-3): decode an event or a run input to get warnings. Text that is not JSON is a
// [*state.SyntaxError]. On an error m stays as it was.
func (m *Message) UnmarshalJSON(data []byte) error {
	v, err := state.Parse(data)
	if err != nil {
		return err
	}
	var r wire.Reader
	var decoded *Message
	kept := r.Document(func() { decoded = Decode(&r, v) })
	if fault := r.Fault(); fault != nil {
		return &MalformedError{Rule: "P-ENF-4", Type: "Message", Path: fault.Path, Want: fault.Want, Found: fault.Found}
	}
	if !kept {
		role, _ := v.Get("role").AsString()
		return &MalformedError{Rule: "P-ENF-4", Type: "Message", Path: "/role", Want: "one of the seven roles", Found: wire.Quote(role)}
	}
	*m = *decoded
	return nil
}

// Decode reads v, a message, at the reader's current place, for the packages above that read what holds
// messages. The result is never nil; it is of use only if the reader found nothing malformed.
func Decode(r *wire.Reader, v state.Value) *Message {
	m := &Message{}
	o := r.Object(v)
	role, ok := o.Tag("role", string(RoleDeveloper), string(RoleSystem), string(RoleAssistant), string(RoleUser),
		string(RoleTool), string(RoleActivity), string(RoleReasoning))
	if !ok {
		return m
	}
	m.Role = Role(role)
	m.ID = o.String("id")
	m.Owner = ReadOwner(&o, "subagentRunId")
	switch m.Role {
	case RoleDeveloper, RoleSystem:
		m.Content = Text(o.String("content"))
		m.Name = ReadOpt(&o, "name")
	case RoleAssistant:
		if text, ok := o.OptString("content"); ok {
			m.Content = Text(text)
		}
		m.Name = ReadOpt(&o, "name")
		m.ToolCalls = NewList(wire.OptList(&o, "toolCalls", decodeToolCall)...)
	case RoleUser:
		m.Content = wire.Field(&o, "content", DecodeContent)
		m.Name = ReadOpt(&o, "name")
	case RoleTool:
		m.Content = wire.Field(&o, "content", DecodeContent)
		m.ToolCallID = o.String("toolCallId")
		m.Error = ReadOpt(&o, "error")
	case RoleActivity:
		m.ActivityType = o.String("activityType")
		m.Activity = o.Open("content")
	case RoleReasoning:
		m.Content = Text(o.String("content"))
	}
	if m.Role != RoleActivity {
		m.EncryptedValue = ReadOpt(&o, "encryptedValue")
	}
	m.Metadata = ReadMetadata(&o)
	o.End()
	return m
}

func decodeToolCall(r *wire.Reader, v state.Value) *ToolCall {
	c := &ToolCall{}
	o := r.Object(v)
	c.ID = o.String("id")
	o.Fixed("type", "function", true)
	wire.Field(&o, "function", func(r *wire.Reader, v state.Value) *ToolCall {
		f := r.Object(v)
		c.Name = f.String("name")
		c.Arguments = f.String("arguments")
		f.End()
		return c
	})
	c.EncryptedValue = ReadOpt(&o, "encryptedValue")
	c.Metadata = ReadMetadata(&o)
	o.End()
	return c
}

// DecodeContent reads v, a string or a list of content parts, at the reader's current place.
func DecodeContent(r *wire.Reader, v state.Value) Content {
	switch v.Kind() {
	case state.KindString:
		text, _ := v.AsString()
		return Text(text)
	case state.KindArray:
		return Parts(wire.Elements(r, v, decodePart)...)
	}
	r.Malformed("a string or an array of content parts", v)
	return Content{}
}

func decodePart(r *wire.Reader, v state.Value) Part {
	var p Part
	o := r.Object(v)
	kind, ok := o.Tag("type", string(PartText), string(PartImage), string(PartAudio), string(PartVideo), string(PartDocument))
	if !ok {
		return p
	}
	p.Type = PartType(kind)
	p.ID = ReadOpt(&o, "id")
	if p.Type == PartText {
		p.Text = o.String("text")
	} else {
		p.Source = wire.Field(&o, "source", decodeSource)
	}
	p.Metadata = Metadata{o.OptAny("metadata")}
	o.End()
	return p
}

func decodeSource(r *wire.Reader, v state.Value) Source {
	var s Source
	o := r.Object(v)
	kind, ok := o.Tag("type", string(SourceData), string(SourceURL), string(SourceFile))
	if !ok {
		return s
	}
	s.Type = SourceType(kind)
	s.Value = o.String("value")
	switch s.Type {
	case SourceData:
		s.MIMEType = Some(o.String("mimeType"))
	case SourceURL:
		s.MIMEType = ReadOpt(&o, "mimeType")
	case SourceFile:
		s.MIMEType = ReadOpt(&o, "mimeType")
		s.Provider = ReadOpt(&o, "provider")
	}
	o.End()
	return s
}

// ReadOpt returns the optional string member key of o.
func ReadOpt(o *wire.Object, key string) Opt[string] {
	s, ok := o.OptString(key)
	return Opt[string]{s, ok}
}

// ReadOwner returns the owner that the optional string member key of o names.
func ReadOwner(o *wire.Object, key string) Owner {
	id, ok := o.OptString(key)
	return Owner{id, ok}
}

// ReadMetadata returns the optional member metadata of o.
func ReadMetadata(o *wire.Object) Metadata { return Metadata{o.OptOpen("metadata")} }
