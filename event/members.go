package event

import (
	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/messages"
)

// textRoles are the roles of a text message that is streamed.
var textRoles = []messages.Role{messages.RoleDeveloper, messages.RoleSystem, messages.RoleAssistant, messages.RoleUser}

// members walks what every event may carry (P-VOC-1).
func (b *Base) members(c *codec.Codec) {
	optInteger(c, "timestamp", &b.Timestamp, -codec.MaxInteger)
	c.OptAny("rawEvent", &b.RawEvent)
	metadata(c, &b.Metadata)
}

// tag walks the subagentRunId of an attributable event.
func (a *Attribution) tag(c *codec.Codec) { owner(c, "subagentRunId", &a.SubagentRunID) }

// requiredTag walks the subagentRunId of a SUBAGENT_* event (P-VOC-3).
func (a *Attribution) requiredTag(c *codec.Codec) {
	id, ok := a.SubagentRunID.RunID()
	if id, _ = c.RequiredString("subagentRunId", id, ok); c.Decoding() {
		a.SubagentRunID = messages.SubagentOwner(id)
	}
}

func opt(c *codec.Codec, key string, o *messages.Opt[string]) {
	s, ok := o.Get()
	if s, ok = c.OptString(key, s, ok); ok && c.Decoding() {
		*o = messages.Some(s)
	}
}

func optBool(c *codec.Codec, key string, o *messages.Opt[bool]) {
	b, ok := o.Get()
	if b, ok = c.OptBool(key, b, ok); ok && c.Decoding() {
		*o = messages.Some(b)
	}
}

func optInteger(c *codec.Codec, key string, o *messages.Opt[int64], lowest int64) {
	n, ok := o.Get()
	if n, ok = c.OptInteger(key, n, ok, lowest); ok && c.Decoding() {
		*o = messages.Some(n)
	}
}

func owner(c *codec.Codec, key string, o *messages.Owner) {
	id, ok := o.RunID()
	if id, ok = c.OptString(key, id, ok); ok && c.Decoding() {
		*o = messages.SubagentOwner(id)
	}
}

func metadata(c *codec.Codec, m *messages.Metadata) {
	v := m.Value()
	if c.OptOpen("metadata", &v); c.Decoding() {
		*m, _ = messages.NewMetadata(v)
	}
}

var (
	walkMessage = codec.Described[*messages.Message]()
	walkContent = codec.Described[messages.Content]()
)
