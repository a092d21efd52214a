package state

import (
	"slices"

	"github.com/agfold/agfold/internal/seq"
)

// smallObject is the most members that lie in a plain slice; above it an object is a table.
const smallObject = 16

// scanned is the most children that are looked at one by one to find the tallest.
const scanned = 32

// container is the inside of an array or object. Exactly one of items, members and table is in use.
type container struct {
	size    int     // see Value.size
	height  int     // levels of containers, this one included
	heights []tally // children by height, lowest first; kept if there are more than scanned
	items   seq.Seq[Value]
	members []Member
	table   *table
}

// tally says how many children of a container have a height.
type tally struct{ height, n int }

func (v Value) height() int {
	if v.n == nil || v.n.c == nil {
		return 0
	}
	return v.n.c.height
}

// size is what v's encoding takes, in bytes, before strings are escaped; up to one byte more for
// each container.
func (v Value) size() int {
	if v.n == nil {
		return 0
	}
	if v.n.c != nil {
		return v.n.c.size
	}
	if v.n.kind == KindString {
		return len(v.n.text) + 2
	}
	return len(v.n.text)
}

// elementSize and memberSize are what an element or member adds to the size of its container.
func elementSize(v Value) int            { return v.size() + 1 }
func memberSize(key string, v Value) int { return len(key) + 4 + v.size() }

func (c *container) len() int {
	if c.table != nil {
		return c.table.order.Len()
	}
	return len(c.members) + c.items.Len()
}

// children yields every child of c.
func (c *container) children(yield func(Value) bool) {
	for _, m := range c.members {
		if !yield(m.Value) {
			return
		}
	}
	for _, v := range c.items.All() {
		if !yield(v) {
			return
		}
	}
	if c.table != nil {
		for _, e := range c.table.order.All() {
			if !yield(e.value) {
				return
			}
		}
	}
}

// newArray returns the array of items, none of which may be absent. items is copied.
func newArray(items []Value) Value {
	b := &boxed{container: container{size: 2, items: seq.Of(items)}}
	for _, v := range items {
		b.size += elementSize(v)
	}
	b.measure()
	return b.value(KindArray)
}

func (b *boxed) value(kind Kind) Value {
	b.node.kind = kind
	b.node.c = &b.container
	return Value{&b.node}
}

// measure sets the heights of a container from its children.
func (c *container) measure() {
	c.height = 1
	if c.len() <= scanned {
		for v := range c.children {
			c.height = max(c.height, v.height()+1)
		}
		return
	}
	c.heights = nil
	for v := range c.children {
		c.heights = count(c.heights, v.height(), 1)
	}
	c.height = c.heights[len(c.heights)-1].height + 1
}

// count returns tallies, changed in place, with n added to that of height.
func count(tallies []tally, height, n int) []tally {
	i := len(tallies)
	for i > 0 && tallies[i-1].height >= height {
		i--
	}
	if i == len(tallies) || tallies[i].height != height {
		return slices.Insert(tallies, i, tally{height, n})
	}
	if tallies[i].n += n; tallies[i].n == 0 {
		return slices.Delete(tallies, i, i+1)
	}
	return tallies
}

// replaced brings the heights of c, already changed otherwise, up to date with a child out that went
// and a child in that came; either may be absent.
func (c *container) replaced(out, in Value) {
	if n := c.len(); n <= scanned {
		c.heights = nil
	} else if c.heights == nil {
		c.measure()
		return
	}
	if c.heights == nil {
		switch {
		case in.Exists() && in.height()+1 >= c.height:
			c.height = in.height() + 1
		case out.height()+1 == c.height && c.height > 1:
			c.measure()
		}
		return
	}
	if out.Exists() && in.Exists() && out.height() == in.height() {
		return
	}
	c.heights = append(make([]tally, 0, len(c.heights)+1), c.heights...)
	if out.Exists() {
		c.heights = count(c.heights, out.height(), -1)
	}
	if in.Exists() {
		c.heights = count(c.heights, in.height(), 1)
	}
	c.height = c.heights[len(c.heights)-1].height + 1
}

// setElement returns the array v with element i replaced.
func (v Value) setElement(i int, val Value) Value {
	b := &boxed{container: *v.n.c}
	out := b.items.At(i)
	b.items = b.items.Set(i, val)
	b.size += val.size() - out.size()
	b.replaced(out, val)
	return b.value(KindArray)
}

// insertElement returns the array v with val before element i, or at the end if i is its length.
func (v Value) insertElement(i int, val Value) Value {
	b := &boxed{container: *v.n.c}
	b.items = b.items.Insert(i, val)
	b.size += elementSize(val)
	b.replaced(Value{}, val)
	return b.value(KindArray)
}

// removeElement returns the array v without element i.
func (v Value) removeElement(i int) Value {
	b := &boxed{container: *v.n.c}
	out := b.items.At(i)
	b.items = b.items.Remove(i)
	b.size -= elementSize(out)
	b.replaced(out, Value{})
	return b.value(KindArray)
}
