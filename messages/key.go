package messages

// Key is what a message of a thread is found by: its kind and id, and of a tool result also the call that it answers
// (P-ID-1, P-TOL-3). It is comparable.
type Key struct {
	Kind       Kind
	ID         string
	ToolCallID string // "" unless Kind is KindTool
}

// Key returns the message's key.
func (m *Message) Key() Key {
	k := Key{Kind: m.Kind(), ID: m.ID}
	if k.Kind == KindTool {
		k.ToolCallID = m.ToolCallID
	}
	return k
}
