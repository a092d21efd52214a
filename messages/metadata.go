package messages

import "github.com/agfold/agfold/state"

// Metadata is an open object of the producer's own members. The zero Metadata is absent, which differs
// from an empty object. It is immutable and safe for concurrent use.
//
// Of a content part that was decoded, and of nothing else, it may be any JSON value but null, for which
// AG-UI 1.0 leaves room there: Value returns it, and unless it is an object it has no members.
type Metadata struct{ v state.Value }

// NewMetadata returns v as metadata, and false if v is neither an object nor absent.
func NewMetadata(v state.Value) (Metadata, bool) {
	if v.Kind() != state.KindObject && v.Exists() {
		return Metadata{}, false
	}
	return Metadata{v}, true
}

// MetadataOf returns metadata with these members; if two members share a key, the last one counts.
func MetadataOf(members ...state.Member) Metadata { return Metadata{state.Object(members...)} }

// Exists reports whether the metadata is present, even if it is empty.
func (m Metadata) Exists() bool { return m.v.Exists() }

// Value returns the metadata as an object (see the type for the exception), or the absent value.
func (m Metadata) Value() state.Value { return m.v }

// Len returns the number of members.
func (m Metadata) Len() int {
	if m.v.Kind() != state.KindObject {
		return 0
	}
	return m.v.Len()
}

// Get returns the member's value, absent if there is none. A null member is present (P-NULL-1).
func (m Metadata) Get(key string) state.Value { return m.v.Get(key) }

// Merge returns m with every member of newer set: key by key, the last write wins, no recursion, null
// is a value like any other. Absent newer changes nothing; merging an empty object into absent metadata
// makes it present (P-MET-1).
func (m Metadata) Merge(newer Metadata) Metadata {
	if !m.v.Exists() {
		return newer
	}
	merged := m.v
	for key, value := range newer.v.Members() {
		merged = merged.With(key, value)
	}
	return Metadata{merged}
}
