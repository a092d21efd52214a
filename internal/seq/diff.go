package seq

import "iter"

// DiffRange yields, in ascending order, every index below both lengths at which same reports false.
// Subtrees that a and b share at the same position are passed over without a call of same, so when b
// came from a by changes and appends the cost is that of the changed leaves. Elements that follow an
// insertion or removal lie at other positions and are compared one by one.
func DiffRange[T any](a, b Seq[T], same func(x, y T) bool) iter.Seq[int] {
	return func(yield func(int) bool) { diff(a, b, false, same, yield) }
}

// DiffRangeBackward is [DiffRange] from the ends: it yields how far from the end the differing
// elements are, 0 for the last. After an insertion or removal it passes over what followed it.
func DiffRangeBackward[T any](a, b Seq[T], same func(x, y T) bool) iter.Seq[int] {
	return func(yield func(int) bool) { diff(a, b, true, same, yield) }
}

func diff[T any](a, b Seq[T], back bool, same func(x, y T) bool, yield func(int) bool) {
	if Same(a, b) {
		return
	}
	x, y := newCursor(a, back), newCursor(b, back)
	at := 0
	for len(x.todo) > 0 && len(y.todo) > 0 {
		p, q := x.top(), y.top()
		if p.node != nil && p.node == q.node {
			at += p.node.count()
			x.pop()
			y.pop()
			continue
		}
		if dp, dq := p.depth, q.depth; dp > 0 || dq > 0 {
			if dp >= dq {
				x.open()
			}
			if dq >= dp {
				y.open()
			}
			continue
		}
		n := min(len(p.items), len(q.items))
		if !sameSlice(p.items, q.items) {
			for i := range n {
				if !same(p.at(i, back), q.at(i, back)) && !yield(at+i) {
					return
				}
			}
		}
		at += n
		x.advance(n)
		y.advance(n)
	}
}

// cursor walks the leaves of a sequence and can pass over whole subtrees.
type cursor[T any] struct {
	todo []part[T] // what is left to walk, next last
	back bool
}

// part is a subtree that has not been opened (node, with its levels of inner nodes) or what is left
// of a leaf.
type part[T any] struct {
	node  *node[T]
	depth int
	items []T
}

func (p part[T]) at(i int, back bool) T {
	if back {
		return p.items[len(p.items)-1-i]
	}
	return p.items[i]
}

func newCursor[T any](s Seq[T], back bool) *cursor[T] {
	c := &cursor[T]{back: back}
	if !back {
		c.pushItems(s.tail)
	}
	if s.root != nil {
		c.push(s.root, s.root.depth())
	}
	if back {
		c.pushItems(s.tail)
	}
	return c
}

func (c *cursor[T]) push(n *node[T], depth int) {
	c.todo = append(c.todo, part[T]{n, depth, n.items})
}

func (c *cursor[T]) pushItems(items []T) {
	if len(items) > 0 {
		c.todo = append(c.todo, part[T]{items: items})
	}
}

func (c *cursor[T]) top() part[T] { return c.todo[len(c.todo)-1] }

func (c *cursor[T]) pop() { c.todo = c.todo[:len(c.todo)-1] }

// open replaces the subtree on top, an inner node, by its children.
func (c *cursor[T]) open() {
	p := c.top()
	c.pop()
	for i := range p.node.kids {
		k := i
		if !c.back {
			k = len(p.node.kids) - 1 - i
		}
		c.push(p.node.kids[k].node, p.depth-1)
	}
}

// advance takes n elements off the leaf on top.
func (c *cursor[T]) advance(n int) {
	p := &c.todo[len(c.todo)-1]
	if n == len(p.items) {
		c.pop()
		return
	}
	p.node = nil
	if c.back {
		p.items = p.items[:len(p.items)-n]
	} else {
		p.items = p.items[n:]
	}
}
