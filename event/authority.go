package event

import (
	"slices"

	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

const (
	authorityKey   = "@ag-ui/client"
	authorityTypes = "authoritativeActivityTypes"
)

// OwnedActivityTypes returns the activity types whose messages the snapshot may drop by leaving them out (P-MSG-2): all,
// or those in types. If it does not say, it owns all if it holds an activity, and none otherwise. What it says that is
// malformed owns none, and so does an element of the list that is not a string.
func (e *MessagesSnapshot) OwnedActivityTypes() (types []string, all bool) {
	authority := e.Metadata.Get(authorityKey)
	owned := authority.Get(authorityTypes)
	switch {
	case authority.Exists() && authority.Kind() != state.KindObject:
		return nil, false
	case !owned.Exists():
		return nil, slices.ContainsFunc(e.Messages, func(m *messages.Message) bool { return m != nil && m.Role == messages.RoleActivity })
	case owned.Kind() == state.KindNull:
		return nil, true
	case owned.Kind() != state.KindArray:
		return nil, false
	}
	for _, v := range owned.Elements() {
		if s, ok := v.AsString(); ok {
			types = append(types, s)
		}
	}
	return types, false
}

// WithAuthoritativeActivityTypes returns a copy of the snapshot that says that it owns these activity types too, in addition to
// those that it owns ([MessagesSnapshot.OwnedActivityTypes], P-MSG-2). A middleware that puts other activities into a snapshot calls it before it
// changes the messages, so that activities of other types stay with clients.
func (e *MessagesSnapshot) WithAuthoritativeActivityTypes(types ...string) *MessagesSnapshot {
	owned, all := e.OwnedActivityTypes()
	value := state.Null()
	if !all {
		var items []state.Value
		seen := make(map[string]bool)
		for _, s := range slices.Concat(owned, types) {
			if !seen[s] {
				seen[s] = true
				items = append(items, state.String(s))
			}
		}
		value = state.Array(items...)
	}
	c := *e
	c.Metadata = e.Metadata.Merge(messages.MetadataOf(state.Member{Key: authorityKey, Value: e.Metadata.Get(authorityKey).With(authorityTypes, value)}))
	return &c
}
