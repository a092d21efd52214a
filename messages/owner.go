package messages

import "encoding/json"

// Owner says who produced something: the parent agent (the zero Owner) or one subagent invocation.
// It is the type of every subagentRunId, an absent one being the parent, and a comparable value, so it
// keys lanes, steps and trees. The id is opaque; the empty string is a legal id and differs from the
// parent (P-VOC-3, P-VOC-4).
type Owner struct {
	id       string
	subagent bool
}

// SubagentOwner returns the owner that is the subagent invocation with this id. Any string is an id.
func SubagentOwner(runID string) Owner { return Owner{id: runID, subagent: true} }

// IsParent reports whether the owner is the parent agent, that is, whether subagentRunId is absent.
func (o Owner) IsParent() bool { return !o.subagent }

// RunID returns the subagentRunId and true, or "" and false for the parent agent.
func (o Owner) RunID() (string, bool) { return o.id, o.subagent }

// String returns the subagentRunId, or "(parent)" for the parent agent. It is for people: a subagent
// may have that name as its id too.
func (o Owner) String() string {
	if !o.subagent {
		return "(parent)"
	}
	return o.id
}

// MarshalJSON returns the subagentRunId as a JSON string, null for the parent agent.
func (o Owner) MarshalJSON() ([]byte, error) {
	if !o.subagent {
		return []byte("null"), nil
	}
	return json.Marshal(o.id)
}
