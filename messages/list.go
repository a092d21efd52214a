package messages

import (
	"encoding/json"
	"iter"

	"github.com/agfold/agfold/internal/seq"
)

// List is a persistent list; the zero List is empty. It is immutable and safe for concurrent use: methods
// that change something return another list, which shares with the old one whatever did not change, in
// O(log n) time and space. An index that is out of range panics, as it does with a slice.
type List[E any] struct{ s seq.Seq[E] }

// NewList returns a list of items, which it copies, in O(n).
func NewList[E any](items ...E) List[E] { return List[E]{seq.Of(items)} }

// Len returns the number of elements.
func (l List[E]) Len() int { return l.s.Len() }

// At returns element i, in O(log n).
func (l List[E]) At(i int) E { return l.s.At(i) }

// All yields the elements and their indices in order, in O(n) altogether.
func (l List[E]) All() iter.Seq2[int, E] { return l.s.All() }

// Backward yields the elements and their indices from the last to the first, in O(n) altogether.
func (l List[E]) Backward() iter.Seq2[int, E] { return l.s.Backward() }

// From yields the elements and their indices in order from index i on, reaching the first in O(log n).
// i may be Len.
func (l List[E]) From(i int) iter.Seq2[int, E] { return l.s.From(i) }

// Append returns the list with items at its end, in O(log n) for each.
func (l List[E]) Append(items ...E) List[E] { return List[E]{l.s.Append(items...)} }

// Set returns the list with element i replaced.
func (l List[E]) Set(i int, v E) List[E] { return List[E]{l.s.Set(i, v)} }

// Insert returns the list with v before element i, or at the end if i is Len.
func (l List[E]) Insert(i int, v E) List[E] { return List[E]{l.s.Insert(i, v)} }

// Remove returns the list without element i.
func (l List[E]) Remove(i int) List[E] { return List[E]{l.s.Remove(i)} }

// Slice returns the elements in a slice of the caller's own, in O(n).
func (l List[E]) Slice() []E {
	items := make([]E, 0, l.Len())
	for _, item := range l.All() {
		items = append(items, item)
	}
	return items
}

// MarshalJSON returns the elements as a JSON array.
func (l List[E]) MarshalJSON() ([]byte, error) { return json.Marshal(l.Slice()) }

// Same reports in O(1) whether a and b are one and the same list, and so equal. Lists that were built
// apart are not, unless both are empty.
func Same[E any](a, b List[E]) bool { return seq.Same(a.s, b.s) }

// Diff yields in ascending order every index below both lengths at which a and b hold different elements.
// It passes over what they share, so for two versions of one list that differ by some replaced and some
// appended elements it costs what changed, times O(log n), not what there is. After an insertion or a
// removal the elements after it have other indices and are compared one by one.
func Diff[E comparable](a, b List[E]) iter.Seq[int] {
	return seq.DiffRange(a.s, b.s, func(x, y E) bool { return x == y })
}

// DiffBackward is [Diff] from the ends: it yields in ascending order how far from the end, 0 for the last,
// a and b hold different elements. It passes over what follows an insertion or a removal.
func DiffBackward[E comparable](a, b List[E]) iter.Seq[int] {
	return seq.DiffRangeBackward(a.s, b.s, func(x, y E) bool { return x == y })
}
