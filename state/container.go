package state

import (
	"slices"

	"github.com/agfold/agfold/internal/seq"
)

// smallObject is the most members that an object keeps in a plain slice. A larger object is a table.
const smallObject = 16

// scanned is the most children that are searched one by one for the tallest.
const scanned = 32

// container is the inside of an array or object, where exactly one of items, members and table is in use, or
// of a number with a long literal, where none is.
type container struct {
	size    int // see Value.size
	more    *more
	items   seq.Seq[Value]
	members []Member
	table   *table
}

// more holds what few containers need.
type more struct {
	heights heights // of the children, if there are more than scanned
	decimal decimal // of a number with a long literal
}

// boxed is a container with its node, so that both cost one allocation.
type boxed struct {
	node
	container
}

// newBox returns a box for a container of that kind and number of members. A few members are part of the same
// allocation.
func newBox(kind Kind, members int) *boxed {
	var b *boxed
	switch {
	case members == 0:
		b = new(boxed)
	case members <= 2:
		r := new(struct {
			boxed
			room [2]Member
		})
		b, r.members = &r.boxed, r.room[:members:members]
	case members <= 4:
		r := new(struct {
			boxed
			room [4]Member
		})
		b, r.members = &r.boxed, r.room[:members:members]
	case members <= 8:
		r := new(struct {
			boxed
			room [8]Member
		})
		b, r.members = &r.boxed, r.room[:members:members]
	default:
		b = new(boxed)
		b.members = make([]Member, members)
	}
	b.kind, b.height, b.c = kind, 1, &b.container
	return b
}

// copied returns a copy of the container v with that number of members, which the caller sets.
func (v Value) copied(members int) *boxed {
	b := newBox(v.n.kind, members)
	room := b.members
	b.height, b.container = v.n.height, *v.n.c
	b.members = room
	return b
}

func (b *boxed) value() Value { return Value{&b.node} }

// heights counts the children of a container by height, lowest first.
type heights []tally

type tally struct {
	height int32
	n      int
}

func (v Value) height() int32 {
	if v.n == nil {
		return 0
	}
	return v.n.height
}

// size is [Value.Size].
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

// elementSize and memberSize return what an element or member adds to the size of its container.
func elementSize(v Value) int            { return v.size() + 1 }
func memberSize(key string, v Value) int { return len(key) + 4 + v.size() }

func (c *container) len() int {
	if c.table != nil {
		return c.table.order.Len()
	}
	return len(c.members) + c.items.Len()
}

// children calls yield for each child of c.
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
	b := newBox(KindArray, 0)
	b.size, b.items = 2, seq.Of(items)
	for _, v := range items {
		b.size += elementSize(v)
		b.height = max(b.height, v.height()+1)
	}
	if len(items) > scanned {
		b.measure()
	}
	return b.value()
}

// measure computes the height of b, and the heights if they are kept, from all children.
func (b *boxed) measure() {
	b.height, b.more = 1, nil
	if b.len() <= scanned {
		for v := range b.children {
			b.height = max(b.height, v.height()+1)
		}
		return
	}
	var h heights
	for v := range b.children {
		h.count(v.height(), 1)
	}
	b.more, b.height = &more{heights: h}, h.top()+1
}

func (h heights) top() int32 { return h[len(h)-1].height }

// count adds n to the number of children with a height.
func (h *heights) count(height int32, n int) {
	t := *h
	i := len(t)
	for i > 0 && t[i-1].height >= height {
		i--
	}
	if i == len(t) || t[i].height != height {
		*h = slices.Insert(t, i, tally{height, n})
		return
	}
	if t[i].n += n; t[i].n == 0 {
		*h = slices.Delete(t, i, i+1)
	}
}

// replaced updates the heights of b after the child out was removed and the child in was added. Either may be
// absent.
func (b *boxed) replaced(out, in Value) {
	switch n := b.len(); {
	case n > scanned && b.more == nil:
		b.measure()
	case n <= scanned:
		b.more = nil
		if in.Exists() && in.height()+1 >= b.height {
			b.height = in.height() + 1
		} else if out.height()+1 == b.height && b.height > 1 {
			b.measure()
		}
	case out.Exists() && in.Exists() && out.height() == in.height():
	default:
		h := append(make(heights, 0, len(b.more.heights)+1), b.more.heights...)
		if out.Exists() {
			h.count(out.height(), -1)
		}
		if in.Exists() {
			h.count(in.height(), 1)
		}
		b.more, b.height = &more{heights: h}, h.top()+1
	}
}

// setElement returns the array v with element i replaced by val. out is the old element.
func (v Value) setElement(i int, out, val Value) Value {
	b := v.copied(0)
	b.items = b.items.Set(i, val)
	b.size += val.size() - out.size()
	b.replaced(out, val)
	return b.value()
}

// insertElement returns the array v with val before element i, or at the end if i is its length.
func (v Value) insertElement(i int, val Value) Value {
	b := v.copied(0)
	b.items = b.items.Insert(i, val)
	b.size += elementSize(val)
	b.replaced(Value{}, val)
	return b.value()
}

// removeElement returns the array v without element i.
func (v Value) removeElement(i int) Value {
	b := v.copied(0)
	out := b.items.At(i)
	b.items = b.items.Remove(i)
	b.size -= elementSize(out)
	b.replaced(out, Value{})
	return b.value()
}
