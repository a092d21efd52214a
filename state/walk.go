package state

import (
	"iter"

	"github.com/agfold/agfold/internal/seq"
)

// diffElements yields the indices, below both lengths, of elements of the arrays a and b for which same
// returns false. It skips what a and b share.
func diffElements(a, b Value, same func(x, y Value) bool) iter.Seq[int] {
	return seq.DiffRange(a.n.c.items, b.n.c.items, same)
}

// diffMembers calls visit for each key of the objects a and b with its values in both, absent where there is
// none. It may skip keys whose values a and b share. It stops and returns false when visit does.
//
// The keys of a come first, in its order, then those that only b has, in the order of b. If both are tables,
// there is no order.
func diffMembers(a, b Value, visit func(key string, x, y Value) bool) bool {
	s, t := a.n.c, b.n.c
	if s.table != nil && t.table != nil {
		return diffTries(s.table.index, t.table.index, 0, func(x, y *entry) bool {
			switch {
			case x == nil:
				return visit(y.key, Value{}, y.value)
			case y == nil:
				return visit(x.key, x.value, Value{})
			}
			return visit(x.key, x.value, y.value)
		})
	}
	for key, x := range s.each {
		if y := t.get(key); !Same(x, y) && !visit(key, x, y) {
			return false
		}
	}
	for key, y := range t.each {
		if !s.get(key).Exists() && !visit(key, Value{}, y) {
			return false
		}
	}
	return true
}

// diffTries calls visit for each key of a and b, except for those in subtrees and entries that they share.
func diffTries(a, b *trie, shift uint, visit func(x, y *entry) bool) bool {
	if a == b {
		return true
	}
	if shift >= hashBits {
		return diffLists(a, b, visit)
	}
	for bit := uint32(1); bit != 0; bit <<= 1 {
		if (a.used|b.used)&bit == 0 {
			continue
		}
		if !diffSlots(a.slot(bit), b.slot(bit), shift+levelBits, visit) {
			return false
		}
	}
	return true
}

// diffSlots compares two slots, which may be empty.
func diffSlots(x, y slot, shift uint, visit func(x, y *entry) bool) bool {
	if x == y {
		return true
	}
	if x.sub == nil && y.sub == nil {
		switch {
		case x.entry == nil || y.entry == nil, x.entry.key == y.entry.key:
			return visit(x.entry, y.entry)
		}
		return visit(x.entry, nil) && visit(nil, y.entry)
	}
	return diffTries(x.level(shift), y.level(shift), shift, visit)
}

// diffLists is like diffTries, for lists of entries whose hashes are equal.
func diffLists(a, b *trie, visit func(x, y *entry) bool) bool {
	for _, s := range a.slots {
		if other := b.listed(s.entry.key); other != s.entry && !visit(s.entry, other) {
			return false
		}
	}
	for _, s := range b.slots {
		if a.listed(s.entry.key) == nil && !visit(nil, s.entry) {
			return false
		}
	}
	return true
}
