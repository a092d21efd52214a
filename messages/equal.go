package messages

import (
	"slices"

	"github.com/agfold/agfold/internal/seq"
)

// Equal reports whether o and p are the same owner.
func (o Owner) Equal(p Owner) bool { return o == p }

// Equal reports whether both are absent, or both are present with equal values.
func (o Opt[T]) Equal(p Opt[T]) bool { return o.set == p.set && any(o.value) == any(p.value) }

// Equal reports whether m and n are equal as JSON values are; absent metadata equals only absent metadata.
func (m Metadata) Equal(n Metadata) bool { return m.v.Equal(n.v) }

// Equal reports whether c and d have the same form and say the same.
func (c Content) Equal(d Content) bool {
	if c.IsParts() && d.IsParts() {
		return slices.EqualFunc(c.Parts(), d.Parts(), equalParts) // streamed or whole
	}
	return c.form == d.form && c.text == d.text
}

func equalParts(p, q Part) bool {
	return p.Type == q.Type && p.ID == q.ID && p.Text == q.Text && p.Source == q.Source && p.Metadata.Equal(q.Metadata)
}

// Equal reports whether m and n are equal in every field. A nil message equals only a nil message.
func (m *Message) Equal(n *Message) bool {
	if m == n || m == nil || n == nil {
		return m == n
	}
	return m.ID == n.ID && m.Role == n.Role && m.Owner == n.Owner && m.Name == n.Name && m.Content.Equal(n.Content) &&
		m.ToolCalls.Equal(n.ToolCalls) && m.ToolCallID == n.ToolCallID && m.Error == n.Error &&
		m.ActivityType == n.ActivityType && m.Activity.Equal(n.Activity) && m.EncryptedValue == n.EncryptedValue &&
		m.Metadata.Equal(n.Metadata) && m.Streaming == n.Streaming && m.Cut == n.Cut
}

// Equal reports whether t and u are equal in every field. A nil call equals only a nil call.
func (t *ToolCall) Equal(u *ToolCall) bool {
	if t == u || t == nil || u == nil {
		return t == u
	}
	return t.ID == u.ID && t.Name == u.Name && t.Arguments == u.Arguments && t.Status == u.Status &&
		t.EncryptedValue == u.EncryptedValue && t.Metadata.Equal(u.Metadata)
}

// Equal reports whether l and k hold equal elements: equal by their method Equal if they have one, else by ==, which
// panics if they cannot be compared. It costs nothing where two versions of one list share their elements.
func (l List[E]) Equal(k List[E]) bool {
	if l.Len() != k.Len() {
		return false
	}
	for range seq.DiffRange(l.s, k.s, equalElements) {
		return false
	}
	return true
}

func equalElements[E any](a, b E) bool {
	if x, ok := any(a).(interface{ Equal(E) bool }); ok {
		return x.Equal(b)
	}
	return any(a) == any(b)
}
