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
func maybe(p *plan, choices ...string) event.Opt[string] {
	if i := p.n(len(choices) + 1); i > 0 {
		return event.Some(choices[i-1])
	}
	return event.Opt[string]{}
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
		b.Timestamp = event.Some(int64(p.n(9)))
	}
	return b
}

// owners are those that the plans below know.
var owners = []event.Owner{{}, event.Subagent("s"), event.Subagent("t"), event.Subagent("")}

// anyChunk returns a chunk that may break any rule.
func (p *plan) anyChunk() event.Event {
	owner, base := owners[p.n(len(owners))], p.base()
	id, delta := maybe(p, "a", "b", ""), maybe(p, "x", "")
	switch p.n(3) {
	case 0:
		return &event.TextMessageChunk{
			Base: base, SubagentRunID: owner, MessageID: id, Delta: delta,
			Role: pick[messages.Role](p, "", "", "", "assistant", "user"), Name: maybe(p, "Ann"),
		}
	case 1:
		return &event.ToolCallChunk{
			Base: base, SubagentRunID: owner, ToolCallID: id, Delta: delta,
			ToolCallName: pick(p, event.Some("f"), event.Some("f"), event.Some("g"), event.Opt[string]{}), ParentMessageID: maybe(p, "p"),
		}
	default:
		return &event.ReasoningMessageChunk{Base: base, SubagentRunID: owner, MessageID: id, Delta: delta}
	}
}

// aside returns an event that closes nothing.
func (p *plan) aside() event.Event {
	owner := owners[p.n(len(owners))]
	switch p.n(4) {
	case 0:
		return &event.Raw{SubagentRunID: owner, Event: state.Int(1)}
	case 1:
		return &event.ActivitySnapshot{SubagentRunID: owner, MessageID: "act", ActivityType: "a", Content: state.EmptyObject()}
	case 2:
		return &event.ReasoningEncryptedValue{SubagentRunID: owner, Subtype: event.EncryptedMessage, EntityID: "a", EncryptedValue: "e"}
	default:
		return &event.SubagentStarted{SubagentRunID: event.Subagent("new"), Name: "n"}
	}
}

// closer returns an event that closes its own lane.
func (p *plan) closer(owner event.Owner) event.Event {
	switch p.n(3) {
	case 0:
		return &event.Custom{SubagentRunID: owner, Name: "n", Value: state.Int(1)}
	case 1:
		return &event.StateSnapshot{SubagentRunID: owner, Snapshot: state.Int(1)}
	}
	if !owner.IsParent() {
		return &event.SubagentFinished{SubagentRunID: owner}
	}
	return &event.StepStarted{StepName: "a"}
}

// explicit is a stream that is told both as chunks and as whole events.
type explicit struct {
	kind  int // 0 text, 1 tool call, 2 reasoning
	id    string
	owner event.Owner
	name  event.Opt[string] // text: name, tool call: toolCallName
	extra string            // text: role, tool call: parentMessageId; "" when absent
}

// newExplicit returns a stream with an id that no other has.
func (p *plan) newExplicit(owner event.Owner, serial int) *explicit {
	s := &explicit{kind: p.n(3), id: fmt.Sprint("id-", serial), owner: owner}
	switch s.kind {
	case 0:
		s.name, s.extra = maybe(p, "Ann", ""), pick(p, "", "assistant", "user", "system", "developer")
	case 1:
		s.name, s.extra = event.Some(pick(p, "f", "g", "")), pick(p, "", "p")
	}
	return s
}

func (s *explicit) start(b event.Base) event.Event {
	b.RawEvent, b.Timestamp = state.Value{}, event.Opt[int64]{}
	switch s.kind {
	case 0:
		role := messages.Role(s.extra)
		if role == "" {
			role = "assistant"
		}
		return &event.TextMessageStart{Base: b, SubagentRunID: s.owner, MessageID: s.id, Role: role, Name: s.name}
	case 1:
		return &event.ToolCallStart{Base: b, SubagentRunID: s.owner, ToolCallID: s.id, ToolCallName: s.name.Or(""), ParentMessageID: s.parent()}
	default:
		return &event.ReasoningMessageStart{Base: b, SubagentRunID: s.owner, MessageID: s.id}
	}
}

func (s *explicit) content(b event.Base, delta string) event.Event {
	b.Timestamp = event.Opt[int64]{}
	switch s.kind {
	case 0:
		return &event.TextMessageContent{Base: b, SubagentRunID: s.owner, MessageID: s.id, Delta: delta}
	case 1:
		return &event.ToolCallArgs{Base: b, SubagentRunID: s.owner, ToolCallID: s.id, Delta: delta}
	default:
		return &event.ReasoningMessageContent{Base: b, SubagentRunID: s.owner, MessageID: s.id, Delta: delta}
	}
}

func (s *explicit) end() event.Event {
	switch s.kind {
	case 0:
		return &event.TextMessageEnd{SubagentRunID: s.owner, MessageID: s.id}
	case 1:
		return &event.ToolCallEnd{SubagentRunID: s.owner, ToolCallID: s.id}
	default:
		return &event.ReasoningMessageEnd{SubagentRunID: s.owner, MessageID: s.id}
	}
}

func (s *explicit) parent() event.Opt[string] {
	if s.extra == "" {
		return event.Opt[string]{}
	}
	return event.Some(s.extra)
}

// chunk returns a chunk of the stream that tells its id, its owner and what it was opened with, or not.
func (s *explicit) chunk(b event.Base, delta event.Opt[string], named, tagged, repeats bool) event.Event {
	var id, name, parent event.Opt[string]
	var owner event.Owner
	var role messages.Role
	if named {
		id = event.Some(s.id)
	}
	if tagged {
		owner = s.owner
	}
	if repeats {
		name, parent, role = s.name, s.parent(), messages.Role(s.extra)
	}
	switch s.kind {
	case 0:
		return &event.TextMessageChunk{Base: b, SubagentRunID: owner, MessageID: id, Role: role, Delta: delta, Name: name}
	case 1:
		return &event.ToolCallChunk{Base: b, SubagentRunID: owner, ToolCallID: id, ToolCallName: name, ParentMessageID: parent, Delta: delta}
	default:
		return &event.ReasoningMessageChunk{Base: b, SubagentRunID: owner, MessageID: id, Delta: delta}
	}
}
