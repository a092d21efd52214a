package chunks_test

import (
	"fmt"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// plan turns bytes into choices. When they run out, every choice is the first.
type plan struct{ bytes []byte }

func (p *plan) done() bool { return len(p.bytes) == 0 }

// n returns a number below limit.
func (p *plan) n(limit int) int {
	if p.done() {
		return 0
	}
	b := p.bytes[0]
	p.bytes = p.bytes[1:]
	return int(b) % limit
}

func (p *plan) yes() bool { return p.n(2) == 1 }

// pick returns one of the choices.
func pick[T any](p *plan, choices ...T) T { return choices[p.n(len(choices))] }

// maybe returns one of the choices, or absent.
func maybe(p *plan, choices ...string) messages.Opt[string] {
	if i := p.n(len(choices) + 1); i > 0 {
		return messages.Some(choices[i-1])
	}
	return messages.Opt[string]{}
}

// base returns common members, most often none.
func (p *plan) base() (b event.Base) {
	switch p.n(8) {
	case 1:
		b.Metadata = messages.MetadataOf()
	case 2:
		b.Metadata = messages.MetadataOf(state.Member{Key: "k", Value: state.Int(int64(p.n(9)))})
	case 3:
		b.RawEvent = state.Bool(false)
	case 4:
		b.RawEvent = state.Int(int64(p.n(9)))
		b.Metadata = messages.MetadataOf(state.Member{Key: "n", Value: state.Null()})
	case 5:
		b.Timestamp = messages.Some(int64(p.n(9)))
	}
	return b
}

// owners are those that the plans below know.
var owners = []messages.Owner{{}, messages.SubagentOwner("s"), messages.SubagentOwner("t"), messages.SubagentOwner("")}

// anyChunk returns a chunk that may break any rule.
func (p *plan) anyChunk() event.Event {
	owner, base := owners[p.n(len(owners))], p.base()
	id, delta := maybe(p, "a", "b", ""), maybe(p, "x", "")
	switch p.n(3) {
	case 0:
		return &event.TextMessageChunk{
			Base: base, Attribution: event.By(owner), MessageID: id, Delta: delta,
			Role: pick[messages.Role](p, "", "", "", "assistant", "user"), Name: maybe(p, "Ann"),
		}
	case 1:
		return &event.ToolCallChunk{
			Base: base, Attribution: event.By(owner), ToolCallID: id, Delta: delta,
			ToolCallName: pick(p, messages.Some("f"), messages.Some("f"), messages.Some("g"), messages.Opt[string]{}), ParentMessageID: maybe(p, "p"),
		}
	default:
		return &event.ReasoningMessageChunk{Base: base, Attribution: event.By(owner), MessageID: id, Delta: delta}
	}
}

// aside returns an event that closes nothing.
func (p *plan) aside() event.Event {
	owner := owners[p.n(len(owners))]
	switch p.n(4) {
	case 0:
		return &event.Raw{Attribution: event.By(owner), Event: state.Int(1)}
	case 1:
		return &event.ActivitySnapshot{Attribution: event.By(owner), MessageID: "act", ActivityType: "a", Content: state.Object()}
	case 2:
		return &event.ReasoningEncryptedValue{Attribution: event.By(owner), Subtype: event.EncryptedMessage, EntityID: "a", EncryptedValue: "e"}
	default:
		return &event.SubagentStarted{Attribution: event.By(messages.SubagentOwner("new")), Name: "n"}
	}
}

// closer returns an event that closes its own lane.
func (p *plan) closer(owner messages.Owner) event.Event {
	switch p.n(3) {
	case 0:
		return &event.Custom{Attribution: event.By(owner), Name: "n", Value: state.Int(1)}
	case 1:
		return &event.StateSnapshot{Attribution: event.By(owner), Snapshot: state.Int(1)}
	}
	if !owner.IsParent() {
		return &event.SubagentFinished{Attribution: event.By(owner)}
	}
	return &event.StepStarted{StepName: "a"}
}

// explicit is a stream that is told both as chunks and as whole events.
type explicit struct {
	kind  int // 0 text, 1 tool call, 2 reasoning
	id    string
	owner messages.Owner
	name  messages.Opt[string] // text: name, tool call: toolCallName
	extra string               // text: role, tool call: parentMessageId; "" when absent
}

// newExplicit returns a stream with an id that no other has.
func (p *plan) newExplicit(owner messages.Owner, serial int) *explicit {
	s := &explicit{kind: p.n(3), id: fmt.Sprint("id-", serial), owner: owner}
	switch s.kind {
	case 0:
		s.name, s.extra = maybe(p, "Ann", ""), pick(p, "", "assistant", "user", "system", "developer")
	case 1:
		s.name, s.extra = messages.Some(pick(p, "f", "g", "")), pick(p, "", "p")
	}
	return s
}

func (s *explicit) start(b event.Base) event.Event {
	b.RawEvent, b.Timestamp = state.Value{}, messages.Opt[int64]{}
	switch s.kind {
	case 0:
		role := messages.Role(s.extra)
		if role == "" {
			role = "assistant"
		}
		return &event.TextMessageStart{Base: b, Attribution: event.By(s.owner), MessageID: s.id, Role: role, Name: s.name}
	case 1:
		return &event.ToolCallStart{Base: b, Attribution: event.By(s.owner), ToolCallID: s.id, ToolCallName: s.name.Or(""), ParentMessageID: s.parent()}
	default:
		return &event.ReasoningMessageStart{Base: b, Attribution: event.By(s.owner), MessageID: s.id}
	}
}

func (s *explicit) content(b event.Base, delta string) event.Event {
	b.Timestamp = messages.Opt[int64]{}
	switch s.kind {
	case 0:
		return &event.TextMessageContent{Base: b, Attribution: event.By(s.owner), MessageID: s.id, Delta: delta}
	case 1:
		return &event.ToolCallArgs{Base: b, Attribution: event.By(s.owner), ToolCallID: s.id, Delta: delta}
	default:
		return &event.ReasoningMessageContent{Base: b, Attribution: event.By(s.owner), MessageID: s.id, Delta: delta}
	}
}

func (s *explicit) end() event.Event {
	switch s.kind {
	case 0:
		return &event.TextMessageEnd{Attribution: event.By(s.owner), MessageID: s.id}
	case 1:
		return &event.ToolCallEnd{Attribution: event.By(s.owner), ToolCallID: s.id}
	default:
		return &event.ReasoningMessageEnd{Attribution: event.By(s.owner), MessageID: s.id}
	}
}

func (s *explicit) parent() messages.Opt[string] {
	if s.extra == "" {
		return messages.Opt[string]{}
	}
	return messages.Some(s.extra)
}

// chunk returns a chunk of the stream, with or without its id, its owner and the opener's members.
func (s *explicit) chunk(b event.Base, delta messages.Opt[string], named, tagged, repeats bool) event.Event {
	var id, name, parent messages.Opt[string]
	var owner messages.Owner
	var role messages.Role
	if named {
		id = messages.Some(s.id)
	}
	if tagged {
		owner = s.owner
	}
	if repeats {
		name, parent, role = s.name, s.parent(), messages.Role(s.extra)
	}
	switch s.kind {
	case 0:
		return &event.TextMessageChunk{Base: b, Attribution: event.By(owner), MessageID: id, Role: role, Delta: delta, Name: name}
	case 1:
		return &event.ToolCallChunk{Base: b, Attribution: event.By(owner), ToolCallID: id, ToolCallName: name, ParentMessageID: parent, Delta: delta}
	default:
		return &event.ReasoningMessageChunk{Base: b, Attribution: event.By(owner), MessageID: id, Delta: delta}
	}
}
