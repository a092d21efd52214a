package seq

import "slices"

// Seq is a persistent sequence. It is immutable and safe for concurrent use: methods that change something
// return the changed sequence. The zero value is empty.
type Seq[T any] struct {
	root *node[T]
	tail []T // the elements after those of root, at most width
}

// Of returns the sequence of items, which it copies.
func Of[T any](items []T) Seq[T] {
	var s Seq[T]
	if len(items) == 0 {
		return s
	}
	cut := (len(items) - 1) / fill * fill
	s.tail = make([]T, len(items)-cut)
	copy(s.tail, items[cut:])
	if cut == 0 {
		return s
	}
	level := make([]*node[T], 0, cut/fill)
	for chunk := range slices.Chunk(items[:cut], fill) {
		level = append(level, leafOf(chunk))
	}
	for len(level) > 1 {
		up := make([]*node[T], 0, len(level)/fill+1)
		for chunk := range slices.Chunk(level, fill) {
			up = append(up, innerOf(chunk))
		}
		level = up
	}
	s.root = level[0]
	return s
}

// Len returns the number of elements.
func (s Seq[T]) Len() int { return s.root.count() + len(s.tail) }

// At returns element i. It panics if i is out of range.
func (s Seq[T]) At(i int) T {
	in := s.root.count()
	if i < 0 || i >= in {
		return s.tail[i-in]
	}
	n := s.root
	for n.kids != nil {
		var k int
		k, i = n.find(i)
		n = n.kids[k]
	}
	return n.items[i]
}

// Set returns s with element i replaced. It panics if i is out of range.
func (s Seq[T]) Set(i int, v T) Seq[T] {
	in := s.root.count()
	if i >= 0 && i < in {
		s.root = s.root.set(i, v)
		return s
	}
	tail := make([]T, len(s.tail))
	copy(tail, s.tail)
	tail[i-in] = v
	s.tail = tail
	return s
}

// Append returns s with items, which it copies, added at the end.
func (s Seq[T]) Append(items ...T) Seq[T] {
	for len(items) > 0 {
		if len(s.tail) == width {
			s.root, s.tail = pushLeaf(s.root, s.tail), nil
		}
		n := min(width-len(s.tail), len(items))
		tail := make([]T, len(s.tail)+n)
		copy(tail, s.tail)
		copy(tail[len(s.tail):], items[:n])
		s.tail, items = tail, items[n:]
	}
	return s
}

// pushLeaf returns the tree root with one more leaf at the end, which keeps items.
func pushLeaf[T any](root *node[T], items []T) *node[T] {
	leaf := &node[T]{items: items}
	if root == nil {
		return leaf
	}
	return join(root.push(leaf, root.depth()))
}

// Insert returns s with v before element i, or at the end if i is Len. It panics if i is out of
// range.
func (s Seq[T]) Insert(i int, v T) Seq[T] {
	in := s.root.count()
	if i >= 0 && i < in {
		s.root = join(s.root.insert(i, v))
		return s
	}
	if i == in+len(s.tail) {
		return s.Append(v)
	}
	tail := inserted(s.tail, i-in, v)
	if len(tail) > width {
		s.root = pushLeaf(s.root, slices.Clone(tail[:width]))
		tail = slices.Clone(tail[width:])
	}
	s.tail = tail
	return s
}

// Remove returns s without element i. It panics if i is out of range.
func (s Seq[T]) Remove(i int) Seq[T] {
	in := s.root.count()
	if i < 0 || i >= in {
		_ = s.tail[i-in]
		tail := make([]T, len(s.tail)-1)
		removeInto(tail, s.tail, i-in)
		s.tail = tail
		return s
	}
	s.root = s.root.remove(i)
	for len(s.root.kids) == 1 {
		s.root = s.root.kids[0]
	}
	if s.root.size() == 0 {
		s.root = nil
	}
	return s
}

// Same reports whether a and b share storage, and are equal therefore. It takes constant time. Sequences that
// were built separately are never the same, unless both are empty.
func Same[T any](a, b Seq[T]) bool {
	return a.root == b.root && sameSlice(a.tail, b.tail)
}

func sameSlice[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
