package messages

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestListIsASliceThatNeverChanges compares lists with slices over random operations, and at the end all
// old lists with what they were.
func TestListIsASliceThatNeverChanges(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	type version struct {
		list  List[int]
		slice []int
	}
	current := version{}
	var old []version
	for i := range 2000 {
		s := slices.Clone(current.slice)
		switch n := len(s); {
		case n == 0 || r.IntN(10) < 5:
			current = version{current.list.Append(i, -i), append(s, i, -i)}
		case r.IntN(3) == 0:
			at := r.IntN(n)
			s[at] = i
			current = version{current.list.Set(at, i), s}
		case r.IntN(2) == 0:
			at := r.IntN(n + 1)
			current = version{current.list.Insert(at, i), slices.Insert(s, at, i)}
		default:
			at := r.IntN(n)
			current = version{current.list.Remove(at), slices.Delete(s, at, at+1)}
		}
		old = append(old, current)
	}
	for _, v := range old {
		require.Equal(t, len(v.slice), v.list.Len())
		require.Equal(t, v.slice, v.list.Slice())
	}
	last := current
	for i, item := range last.list.Backward() {
		assert.Equal(t, last.slice[i], item)
		assert.Equal(t, item, last.list.At(i))
	}
	from := last.list.Len() / 2
	var rest []int
	for i, item := range last.list.From(from) {
		assert.Equal(t, from+len(rest), i)
		rest = append(rest, item)
	}
	assert.Equal(t, last.slice[from:], rest)
}

func TestListCopiesWhatItIsMadeOf(t *testing.T) {
	items := []int{1, 2}
	l := NewList(items...)
	items[0] = 9
	assert.Equal(t, []int{1, 2}, l.Slice())
	l.Slice()[0] = 9
	assert.Equal(t, 1, l.At(0))
}

func TestZeroListIsEmpty(t *testing.T) {
	var l List[string]
	assert.Zero(t, l.Len())
	assert.Equal(t, []string{}, l.Slice())
	assert.True(t, Same(l, NewList[string]()))
	assert.Equal(t, []string{"a"}, l.Append("a").Slice())
	assert.Panics(t, func() { l.At(0) })
}

func TestListDiff(t *testing.T) {
	items := make([]int, 1000)
	for i := range items {
		items[i] = i
	}
	old := NewList(items...)
	assert.True(t, Same(old, old))
	assert.False(t, Same(old, old.Set(0, -1)))
	changed := old.Set(3, -1).Set(700, -1).Append(1000, 1001)
	assert.Equal(t, []int{3, 700}, slices.Collect(Diff(old, changed)), "what both have and differs")
	assert.Empty(t, slices.Collect(Diff(old, old.Set(5, 5))), "an equal element does not differ")
	assert.Equal(t, []int{1000 - 900}, slices.Collect(DiffBackward(old, old.Insert(900, -1)))[:1], "from the end up to the insertion nothing differs")
}

func BenchmarkListAppend(b *testing.B) {
	for _, n := range []int{10, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			l := NewList(make([]*Message, n)...)
			m := &Message{}
			b.ReportAllocs()
			for b.Loop() {
				_ = l.Append(m)
			}
		})
	}
}
