package messages

import (
	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/state"
)

func init() {
	codec.Describe(walkMessage)
	codec.Describe(walkContent)
}

var (
	roles       = []Role{RoleDeveloper, RoleSystem, RoleAssistant, RoleUser, RoleTool, RoleActivity, RoleReasoning}
	partTypes   = []PartType{PartText, PartImage, PartAudio, PartVideo, PartDocument}
	sourceTypes = []SourceType{SourceData, SourceURL, SourceFile}
)

func walkMessage(m **Message, c *codec.Codec) {
	switch {
	case c.Decoding():
		*m = &Message{}
	case *m == nil && c.Encoding():
		c.AppendNull()
		return
	case *m == nil:
		c.Fault("an object", "null")
		return
	}
	codec.Object(c, *m, (*Message).members)
}

func (m *Message) members(c *codec.Codec) {
	c.String("id", &m.ID)
	if !codec.Tag(c, "role", &m.Role, roles) {
		return
	}
	owner(c, "subagentRunId", &m.Owner)
	switch m.Role {
	case RoleDeveloper, RoleSystem:
		m.Content.requiredText(c)
		opt(c, "name", &m.Name)
	case RoleAssistant:
		m.Content.optText(c)
		opt(c, "name", &m.Name)
		m.calls(c)
	case RoleUser:
		m.Content.member(c)
		opt(c, "name", &m.Name)
	case RoleTool:
		m.Content.member(c)
		c.String("toolCallId", &m.ToolCallID)
		opt(c, "error", &m.Error)
	case RoleActivity:
		c.String("activityType", &m.ActivityType)
		c.Open("content", &m.Activity)
	case RoleReasoning:
		m.Content.requiredText(c)
	}
	if m.Role != RoleActivity {
		opt(c, "encryptedValue", &m.EncryptedValue)
	}
	c.OptOpen("metadata", &m.Metadata.v)
}

// calls walks the optional member toolCalls, which is absent if there is no call.
func (m *Message) calls(c *codec.Codec) {
	var calls []*ToolCall
	if m.ToolCalls.Len() > 0 {
		calls = m.ToolCalls.Slice()
	}
	codec.OptList(c, "toolCalls", &calls, walkToolCall)
	if c.Decoding() {
		m.ToolCalls = NewList(calls...)
	}
}

func walkToolCall(call **ToolCall, c *codec.Codec) {
	switch {
	case c.Decoding():
		*call = &ToolCall{}
	case *call == nil && c.Encoding():
		c.AppendNull()
		return
	case *call == nil:
		c.Fault("an object", "null")
		return
	}
	codec.Object(c, *call, (*ToolCall).members)
}

func (t *ToolCall) members(c *codec.Codec) {
	c.String("id", &t.ID)
	c.Fixed("type", "function")
	codec.Field(c, "function", t, walkFunction)
	opt(c, "encryptedValue", &t.EncryptedValue)
	c.OptOpen("metadata", &t.Metadata.v)
}

func walkFunction(t *ToolCall, c *codec.Codec) { codec.Object(c, t, (*ToolCall).function) }

func (t *ToolCall) function(c *codec.Codec) {
	c.String("name", &t.Name)
	c.String("arguments", &t.Arguments)
}

// member walks the required member content, a text or parts.
func (t *Content) member(c *codec.Codec) {
	if t.Exists() || !c.Encoding() {
		codec.Field(c, "content", t, walkContent)
	}
}

// requiredText walks the required member content, a text.
func (t *Content) requiredText(c *codec.Codec) {
	if t.IsParts() {
		t.partsForText(c)
		return
	}
	s, ok := c.RequiredString("content", t.text, t.form == formText)
	if c.Decoding() && ok {
		*t = Text(s)
	}
}

// optText walks the optional member content, a text.
func (t *Content) optText(c *codec.Codec) {
	if t.IsParts() {
		t.partsForText(c)
		return
	}
	s, ok := c.OptString("content", t.text, t.form == formText)
	if c.Decoding() && ok {
		*t = Text(s)
	}
}

func (t *Content) partsForText(c *codec.Codec) {
	if c.Encoding() {
		t.member(c)
	} else {
		c.Reject("content", "a string", "array")
	}
}

func walkContent(t *Content, c *codec.Codec) {
	const want = "a string or an array of content parts"
	form := t.form
	if c.Decoding() {
		s, ok := c.Value().AsString()
		switch {
		case ok:
			*t = Text(s)
		case c.Value().Kind() == state.KindArray:
			codec.Elements(c, &t.parts, walkPart)
			t.form = formParts
		default:
			c.Malformed(want)
		}
		return
	}
	switch form {
	case formParts, formGrown:
		parts := t.Parts()
		codec.Elements(c, &parts, walkPart)
	case formText:
		if c.Encoding() {
			c.AppendText(t.text)
		}
	case formAbsent:
		if c.Encoding() {
			c.AppendNull()
		} else {
			c.Fault(want, "nothing")
		}
	}
}

func walkPart(p *Part, c *codec.Codec) { codec.Object(c, p, (*Part).members) }

func (p *Part) members(c *codec.Codec) {
	if !codec.Tag(c, "type", &p.Type, partTypes) {
		return
	}
	opt(c, "id", &p.ID)
	if p.Type == PartText {
		c.String("text", &p.Text)
	} else {
		codec.Field(c, "source", &p.Source, walkSource)
	}
	c.OptAny("metadata", &p.Metadata.v)
}

func walkSource(s *Source, c *codec.Codec) { codec.Object(c, s, (*Source).members) }

func (s *Source) members(c *codec.Codec) {
	if !codec.Tag(c, "type", &s.Type, sourceTypes) {
		return
	}
	c.String("value", &s.Value)
	if s.Type == SourceData {
		text, ok := c.RequiredString("mimeType", s.MIMEType.value, s.MIMEType.set)
		if c.Decoding() {
			s.MIMEType = Opt[string]{text, ok}
		}
	} else {
		opt(c, "mimeType", &s.MIMEType)
	}
	if s.Type == SourceFile {
		opt(c, "provider", &s.Provider)
	} else {
		c.Lacks("provider", s.Provider.set)
	}
}

func opt(c *codec.Codec, key string, o *Opt[string]) {
	if s, ok := c.OptString(key, o.value, o.set); c.Decoding() {
		*o = Opt[string]{s, ok}
	}
}

func owner(c *codec.Codec, key string, o *Owner) {
	if id, ok := c.OptString(key, o.id, o.subagent); c.Decoding() {
		*o = Owner{id, ok}
	}
}
