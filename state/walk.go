package state

import (
	"iter"

	"github.com/agfold/agfold/internal/seq"
)

// diffElements yields the indices, below both lengths, at which the arrays a and b are not the same
// by that function, and does not look at what they share.
func diffElements(a, b Value, same func(x, y Value) bool) iter.Seq[int] {
	return seq.DiffRange(a.n.c.items, b.n.c.items, same)
}

// diffMembers calls visit for each key of the objects a and b, with the values it has in either, an
// absent one where it is missing. It may leave out keys whose values a and b share. It stops and
// reports false when visit does.
//
// Keys come in the order of a, then those that only b has in the order of b; if both are tables, in
// no order.
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

// diffTries calls visit for each key of a and b but those in subtrees and entries that they share.
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

// diffSlots compares two slots; an empty one has neither entry nor further level.
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

// diffLists is [diffTries] for entries whose hashes are equal.
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
