package seq

import "iter"

// DiffRange yields, in ascending order, every index below both lengths at which same reports false.
// It skips subtrees that a and b share at the same position without calling same, so if b was made from a by
// changes and appends, it costs the changed leaves. Elements after an insertion or removal have other
// positions and are compared one by one.
func DiffRange[T any](a, b Seq[T], same func(x, y T) bool) iter.Seq[int] {
	return func(yield func(int) bool) { diff(a, b, false, same, yield) }
}

// DiffRangeBackward is like [DiffRange], but from the ends: it yields how far from the end the differing
// elements are, 0 for the last. It skips what follows an insertion or removal.
func DiffRangeBackward[T any](a, b Seq[T], same func(x, y T) bool) iter.Seq[int] {
	return func(yield func(int) bool) { diff(a, b, true, same, yield) }
}

func diff[T any](a, b Seq[T], back bool, same func(x, y T) bool, yield func(int) bool) {
	if Same(a, b) {
		return
	}
	var x, y cursor[T]
	x.start(a, back)
	y.start(b, back)
	at := 0
	for x.ready() && y.ready() {
		p, dp := x.peek()
		q, dq := y.peek()
		switch {
		case p == nil && q == nil:
			n := min(len(x.leaf), len(y.leaf))
			if !sameSlice(x.leaf, y.leaf) {
				for i := range n {
					if !same(x.item(i), y.item(i)) && !yield(at+i) {
						return
					}
				}
			}
			at += n
			x.advance(n)
			y.advance(n)
		case p == q:
			at += p.count()
			x.skip()
			y.skip()
		default:
			if dp >= dq {
				x.open()
			}
			if dq >= dp {
				y.open()
			}
		}
	}
}

// cursor walks the leaves of a sequence, from either end, and can skip whole subtrees.
type cursor[T any] struct {
	back   bool
	leaf   []T        // the rest of the open leaf, if one is open
	frames []frame[T] // the inner nodes above what comes next, root first
	tail   []T        // after the tree
}

// frame is an inner node, with the number of its children that are done.
type frame[T any] struct {
	n     *node[T]
	depth int
	done  int
}

func (c *cursor[T]) start(s Seq[T], back bool) {
	c.back = back
	if back {
		c.leaf = s.tail
	} else {
		c.tail = s.tail
	}
	if s.root != nil {
		above := &node[T]{kids: []*node[T]{s.root}} // so that the root can be skipped too
		depth := s.root.depth() + 1
		c.frames = append(make([]frame[T], 0, depth), frame[T]{above, depth, 0})
	}
}

// ready moves to what comes next and reports whether there is anything.
func (c *cursor[T]) ready() bool {
	for len(c.leaf) == 0 && len(c.frames) > 0 {
		if f := c.top(); f.done < len(f.n.kids) {
			return true
		}
		c.frames = c.frames[:len(c.frames)-1]
	}
	if len(c.leaf) == 0 {
		c.leaf, c.tail = c.tail, nil
	}
	return len(c.leaf) > 0
}

func (c *cursor[T]) top() *frame[T] { return &c.frames[len(c.frames)-1] }

// peek returns the subtree that comes next and its levels of inner nodes, or nil and -1 if a leaf is open.
func (c *cursor[T]) peek() (*node[T], int) {
	if len(c.leaf) > 0 {
		return nil, -1
	}
	f := c.top()
	if c.back {
		return f.n.kids[len(f.n.kids)-1-f.done], f.depth - 1
	}
	return f.n.kids[f.done], f.depth - 1
}

// skip skips the subtree that comes next.
func (c *cursor[T]) skip() { c.top().done++ }

// open descends into the subtree that comes next.
func (c *cursor[T]) open() {
	n, depth := c.peek()
	c.skip()
	if depth == 0 {
		c.leaf = n.items
		return
	}
	c.frames = append(c.frames, frame[T]{n, depth, 0})
}

func (c *cursor[T]) item(i int) T {
	if c.back {
		return c.leaf[len(c.leaf)-1-i]
	}
	return c.leaf[i]
}

// advance skips n items of the open leaf.
func (c *cursor[T]) advance(n int) {
	if c.back {
		c.leaf = c.leaf[:len(c.leaf)-n]
	} else {
		c.leaf = c.leaf[n:]
	}
}
