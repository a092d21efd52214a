package state

import (
	"hash/maphash"
	"sort"

	"github.com/agfold/agfold/internal/seq"
)

// table holds the members of a large object: an index of the entries by key, and the entries in the order of
// the members. It is immutable.
type table struct {
	index *trie
	order seq.Seq[*entry] // by ascending ordinal
	next  uint64          // ordinal of the next member that is appended
}

// entry is a member. Its ordinal, which never changes while the key stays, is used to find it in the order.
type entry struct {
	hash    uint64
	ordinal uint64
	key     string
	value   Value
}

var seed = maphash.MakeSeed()

// hashKey uses a seed that is random for each process, so that an attacker cannot construct keys that collide.
func hashKey(key string) uint64 { return maphash.String(seed, key) }

// newTable returns the table of members. If several have the same key, the last value counts.
func newTable(members []Member) *table {
	t := &table{index: &trie{}}
	entries := make([]*entry, 0, len(members))
	for _, m := range members {
		h := hashKey(m.Key)
		if e := t.index.get(h, m.Key); e != nil {
			e.value = m.Value
			continue
		}
		e := &entry{h, uint64(len(entries)), m.Key, m.Value}
		entries = append(entries, e)
		t.index = t.index.put(e, 0, true)
	}
	t.order = seq.Of(entries)
	t.next = uint64(len(entries))
	return t
}

func (t *table) get(key string) Value {
	if e := t.index.get(hashKey(key), key); e != nil {
		return e.value
	}
	return Value{}
}

// set returns t with key set to val, and the value that the key had before, if any.
func (t *table) set(key string, val Value) (*table, Value) {
	h := hashKey(key)
	if old := t.index.get(h, key); old != nil {
		e := &entry{h, old.ordinal, old.key, val}
		return &table{t.index.put(e, 0, false), t.order.Set(t.position(old), e), t.next}, old.value
	}
	e := &entry{h, t.next, key, val}
	return &table{t.index.put(e, 0, false), t.order.Append(e), t.next + 1}, Value{}
}

// remove returns t without key, which must be there, and the value that it had.
func (t *table) remove(key string) (*table, Value) {
	old := t.index.get(hashKey(key), key)
	return &table{t.index.remove(old, 0), t.order.Remove(t.position(old)), t.next}, old.value
}

// position returns the index of e in the order. Until a member is removed that is its ordinal.
func (t *table) position(e *entry) int {
	n := t.order.Len()
	if t.next == uint64(n) {
		return int(e.ordinal)
	}
	return sort.Search(n, func(i int) bool { return t.order.At(i).ordinal >= e.ordinal })
}

func (t *table) members() []Member {
	members := make([]Member, 0, t.order.Len())
	for _, e := range t.order.All() {
		members = append(members, Member{e.key, e.value})
	}
	return members
}
