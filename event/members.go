package event

import (
	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/internal/jsontext"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
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

func walkPatch(p *state.Patch, c *codec.Codec) {
	if c.Encoding() {
		c.AppendRaw(p.Value().AppendJSON)
		return
	}
	codec.Elements(c, (*[]state.Op)(p), walkOp)
}

// operations are the operations of RFC 6902.
var operations = []state.OpKind{state.OpAdd, state.OpRemove, state.OpReplace, state.OpMove, state.OpCopy, state.OpTest}

func walkOp(op *state.Op, c *codec.Codec) {
	v := c.Value()
	codec.Object(c, op, operation)
	if c.Decoding() {
		op.Extra = extra(op, v)
	}
}

// operation walks a patch operation, an open object (P-ENF-2, P-ENF-3).
func operation(op *state.Op, c *codec.Codec) {
	if !codec.Tag(c, "op", &op.Kind, operations) {
		return
	}
	pointer(c, "path", &op.Path)
	switch op.Kind {
	case state.OpAdd, state.OpReplace, state.OpTest:
		c.Any("value", &op.Value)
	case state.OpMove, state.OpCopy:
		pointer(c, "from", &op.From)
		fallthrough
	case state.OpRemove:
		c.OptAnyOrNull("value", &op.Value)
	}
	c.Weigh(op.Extra)
	c.Rest()
}

// extra returns the members of v, an operation, that have no meaning, absent if there are none.
func extra(op *state.Op, v state.Value) state.Value {
	described := 2 // op and path
	if op.Value.Exists() {
		described++
	}
	moves := op.Kind == state.OpMove || op.Kind == state.OpCopy
	if moves {
		described++
	}
	if v.Len() <= described {
		return state.Value{}
	}
	v = v.Without("op").Without("path").Without("value")
	if moves {
		v = v.Without("from")
	}
	return v
}

func pointer(c *codec.Codec, key string, s *string) {
	if c.String(key, s); !c.Encoding() && !jsontext.ValidPointer(*s) {
		c.Reject(key, "a JSON pointer", codec.Quote(*s))
	}
}
