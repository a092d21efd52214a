package state

import (
	"cmp"
	"slices"

	"github.com/agfold/agfold/internal/jsontext"
)

// diffBudget limits the work of Diff, in values compared. A long string or an operation of the patch counts as
// several.
const diffBudget = 1 << 22

// Diff returns a patch from old to new. Applied to old it gives a value that is equal to new and has the
// digits of new's numbers; the order of members may differ. Diff skips what the two share, so for
// neighbors in a chain of patches it costs what changed, and, where elements of an array moved, a pass over
// the elements between. If new is absent, there is no patch, and Diff returns nil.
//
// Arrays are aligned at their common start and end, and between them if at most 64 elements came and went;
// otherwise they are compared element by element. The patch is small, but not always the smallest. Diff
// compares at most a few million values. After that it replaces whatever is not shared without looking into
// it, or the whole of old if the patch would have hundreds of thousands of operations.
func Diff(old, new Value) Patch { return diff(old, new, diffBudget) }

func diff(old, new Value, budget int) Patch {
	if !new.Exists() {
		return nil
	}
	if !old.Exists() {
		return Patch{{Kind: OpAdd, Value: new}}
	}
	d := differ{left: budget, room: 2 * budget}
	d.values(old, new)
	if d.room < 0 {
		return Patch{{Kind: OpReplace, Value: new}}
	}
	return d.patch
}

// differ collects the operations. path is the pointer to the place that it compares.
type differ struct {
	patch Patch
	path  []byte
	left  int // budget for comparisons and operations; when it is used up, differ replaces what is not shared
	room  int // budget for operations; when it is used up, the patch is given up
}

func (d *differ) add(kind OpKind, v Value) {
	cost := 16 + len(d.path)/2 // by the memory that it takes; comparing a value costs 1
	d.left -= cost
	if d.room -= cost; d.room < 0 {
		return
	}
	d.patch = append(d.patch, Op{Kind: kind, Path: string(d.path), Value: v})
}

func (d *differ) values(a, b Value) {
	d.left--
	switch {
	case Same(a, b):
	case d.left <= 0:
		d.add(OpReplace, b)
	case a.Kind() == KindArray && b.Kind() == KindArray:
		d.arrays(a, b)
	case a.Kind() == KindObject && b.Kind() == KindObject:
		d.objects(a, b)
	default:
		d.add(OpReplace, b)
	}
}

// identical is like [Value.Equal], but compares numbers by their literals. It returns false if the budget does
// not suffice.
func (d *differ) identical(a, b Value) bool {
	d.left -= 1 + len(a.text())/64
	switch {
	case Same(a, b):
		return true
	case a.Kind() != b.Kind() || a.Len() != b.Len() || d.left <= 0:
		return false
	case a.Kind() == KindArray:
		for range diffElements(a, b, d.identical) {
			return false
		}
		return true
	case a.Kind() == KindObject:
		return diffMembers(a, b, func(_ string, x, y Value) bool {
			return x.Exists() && y.Exists() && d.identical(x, y)
		})
	}
	return false
}

// text returns the text of a scalar.
func (v Value) text() string {
	if v.n == nil {
		return ""
	}
	return v.n.text
}

// member is a key and its values in two objects. They differ; one may be absent.
type member struct {
	key  string
	x, y Value
}

func (d *differ) objects(a, b Value) {
	changes := changedMembers(a, b)
	d.left -= len(changes)
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
		d.path = jsontext.AppendToken(d.path, m.key)
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

// changedMembers returns the members that a and b do not share: those of a in its order, then those that
// only b has, in the order of b.
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
