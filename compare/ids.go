package compare

import "github.com/agfold/agfold/state"

// ids matches the ids of two sides.
type ids struct {
	exact bool
	ab    map[string]string
	ba    map[string]string
}

func newIDs(exact bool) *ids {
	return &ids{exact: exact, ab: make(map[string]string), ba: make(map[string]string)}
}

// idMembers are the members whose strings are ids.
var idMembers = map[string]bool{
	"id": true, "threadId": true, "runId": true, "parentRunId": true, "messageId": true, "parentMessageId": true,
	"toolCallId": true, "parentToolCallId": true, "entityId": true, "subagentRunId": true, "parentSubagentRunId": true,
	"interruptId": true, "pendingToolCallIds": true, "streamingToolCallIds": true, "interruptIds": true,
}

// match makes two ids stand for each other, unless one stands for another already. It reports whether they do.
func (m *ids) match(a, b string) bool {
	if m.exact {
		return a == b
	}
	toB, knownA := m.ab[a]
	toA, knownB := m.ba[b]
	if !knownA && !knownB {
		m.ab[a], m.ba[b] = b, a
		return true
	}
	return knownA && knownB && toB == b && toA == a
}

// openMembers hold any JSON, in which a member id is the agent's own: only what is an id elsewhere stands for another there.
var openMembers = map[string]bool{
	"state": true, "result": true, "metadata": true, "content": true, "snapshot": true, "value": true, "event": true, "delta": true,
	"patch": true, "input": true, "responseSchema": true, "arguments": true,
}

// same reports whether two strings are equal, or are ids that stand for each other.
func (m *ids) same(a, b string) bool {
	if a == b {
		return true
	}
	to, known := m.ab[a]
	return known && !m.exact && to == b
}

// walk calls differ for each place at which a and b differ. key is the member that holds them.
func (m *ids) walk(path, key string, a, b state.Value, differ func(path string, a, b state.Value)) {
	switch {
	case a.Kind() != b.Kind():
		differ(path, a, b)
		return
	}
	switch a.Kind() {
	case state.KindString:
		x, _ := a.AsString()
		y, _ := b.AsString()
		if idMembers[key] && !m.match(x, y) || !idMembers[key] && !m.same(x, y) {
			differ(path, a, b)
		}
	case state.KindArray:
		for i := range max(a.Len(), b.Len()) {
			m.walk(path+"/"+itoa(i), key, a.Index(i), b.Index(i), differ)
		}
	case state.KindObject:
		for name, value := range a.Members() {
			if ignored[name] {
				continue
			}
			inner := name
			if openMembers[key] {
				inner = key
			}
			m.walk(path+state.Pointer(name), inner, value, b.Get(name), differ)
		}
		for name, value := range b.Members() {
			if !ignored[name] && !a.Get(name).Exists() {
				differ(path+state.Pointer(name), state.Value{}, value)
			}
		}
	default:
		if !a.Equal(b) {
			differ(path, a, b)
		}
	}
}

// ignored are the members that differ between any two runs and mean nothing.
var ignored = map[string]bool{"timestamp": true, "rawEvent": true}
