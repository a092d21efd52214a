package state

import (
	"cmp"
	"slices"
)

// Diff returns a patch that makes old into new: applied to old it gives a value that is equal to new,
// with the digits that new's numbers are written with; the order of members may differ. It does not
// look at what the two share, so for neighbours in a chain of patches the cost is that of what
// changed.
//
// Arrays are aligned by their common start and end and, if few elements came and went, in between.
// The patch is small, not always the smallest. A new that is absent has no patch, and gives nil.
func Diff(old, new Value) Patch {
	if !new.Exists() {
		return nil
	}
	if !old.Exists() {
		return Patch{{Kind: OpAdd, Value: new}}
	}
	var d differ
	d.values(old, new)
	return d.patch
}

// differ collects the operations; path is the pointer to where it is.
type differ struct {
	patch Patch
	path  []byte
}

func (d *differ) add(kind OpKind, v Value) {
	d.patch = append(d.patch, Op{Kind: kind, Path: string(d.path), Value: v})
}

func (d *differ) values(a, b Value) {
	switch {
	case Same(a, b):
	case a.Kind() == KindArray && b.Kind() == KindArray:
		d.arrays(a, b)
	case a.Kind() == KindObject && b.Kind() == KindObject:
		d.objects(a, b)
	default:
		d.add(OpReplace, b)
	}
}

// member is a key whose values differ, with the values it has in either object.
type member struct {
	key  string
	x, y Value
}

func (d *differ) objects(a, b Value) {
	changes := changedMembers(a, b)
	gone, came := 0, 0
	for _, m := range changes {
		if !m.y.Exists() {
			gone++
		} else if !m.x.Exists() {
			came++
		}
	}
	if gone > 0 && came > 0 && gone == a.Len() && came == b.Len() {
		d.add(OpReplace, b) // nothing in common
		return
	}
	depth := len(d.path)
	for _, m := range changes {
		d.path = appendToken(d.path, m.key)
		switch {
		case !m.y.Exists():
			d.add(OpRemove, Value{})
		case !m.x.Exists():
			d.add(OpAdd, m.y)
		default:
			d.values(m.x, m.y)
		}
		d.path = d.path[:depth]
	}
}

// changedMembers returns the members that a and b do not share: those of a in its order, then those
// that only b has in the order of b.
func changedMembers(a, b Value) []member {
	var changes []member
	s, t := a.n.c.table, b.n.c.table
	if s == nil || t == nil {
		diffMembers(a, b, func(key string, x, y Value) bool {
			changes = append(changes, member{key, x, y})
			return true
		})
		return changes
	}
	type pair struct{ x, y *entry }
	var pairs []pair
	diffTries(s.index, t.index, 0, func(x, y *entry) bool {
		pairs = append(pairs, pair{x, y})
		return true
	})
	slices.SortFunc(pairs, func(p, q pair) int {
		switch {
		case p.x != nil && q.x != nil:
			return cmp.Compare(p.x.ordinal, q.x.ordinal)
		case p.x == nil && q.x == nil:
			return cmp.Compare(p.y.ordinal, q.y.ordinal)
		case p.x != nil:
			return -1
		}
		return 1
	})
	for _, p := range pairs {
		switch {
		case p.x == nil:
			changes = append(changes, member{p.y.key, Value{}, p.y.value})
		case p.y == nil:
			changes = append(changes, member{p.x.key, p.x.value, Value{}})
		default:
			changes = append(changes, member{p.x.key, p.x.value, p.y.value})
		}
	}
	return changes
}
