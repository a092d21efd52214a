package seq

import "iter"

// All yields every element with its index, in order. The iterator may be used again.
func (s Seq[T]) All() iter.Seq2[int, T] { return s.From(0) }

// From yields the elements from index i, with their indices, in order. It yields nothing if i is Len or more,
// and panics if i is negative. The iterator may be used again.
func (s Seq[T]) From(i int) iter.Seq2[int, T] {
	if i < 0 {
		panic("seq: negative index")
	}
	return func(yield func(int, T) bool) {
		in := s.root.count()
		if i < in && !s.root.forward(i, i, yield) {
			return
		}
		for j := max(i-in, 0); j < len(s.tail); j++ {
			if !yield(in+j, s.tail[j]) {
				return
			}
		}
	}
}

// forward yields the elements of n from its index i. The first is reported as index at.
func (n *node[T]) forward(i, at int, yield func(int, T) bool) bool {
	if n.kids == nil {
		for _, v := range n.items[i:] {
			if !yield(at, v) {
				return false
			}
			at++
		}
		return true
	}
	k, i := n.find(i)
	for _, c := range n.kids[k:] {
		if !c.forward(i, at, yield) {
			return false
		}
		at += c.count() - i
		i = 0
	}
	return true
}

// Backward yields every element with its index, last first. The iterator may be used again.
func (s Seq[T]) Backward() iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		in := s.root.count()
		for j := len(s.tail) - 1; j >= 0; j-- {
			if !yield(in+j, s.tail[j]) {
				return
			}
		}
		if s.root != nil {
			s.root.backward(in-1, yield)
		}
	}
}

// backward yields the elements of n, the last of which has the index at.
func (n *node[T]) backward(at int, yield func(int, T) bool) bool {
	if n.kids == nil {
		for j := len(n.items) - 1; j >= 0; j-- {
			if !yield(at, n.items[j]) {
				return false
			}
			at--
		}
		return true
	}
	for k := len(n.kids) - 1; k >= 0; k-- {
		if !n.kids[k].backward(at, yield) {
			return false
		}
		at -= n.kids[k].count()
	}
	return true
}
