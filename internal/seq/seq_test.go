package seq

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func numbers(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func collect(s Seq[int]) []int {
	out := []int{}
	for i, v := range s.All() {
		if i != len(out) {
			panic(fmt.Sprintf("index %d reported for element %d", i, len(out)))
		}
		out = append(out, v)
	}
	return out
}

// check reports what in the tree of s is not as it should be: leaves at one depth, right counts,
// no node too wide, none but those at the right edge less than half full.
func check[T any](s Seq[T]) error {
	if s.root == nil {
		return nil
	}
	depth := s.root.depth()
	var walk func(n *node[T], level int, edge bool) (int, error)
	walk = func(n *node[T], level int, edge bool) (int, error) {
		if n.size() > width {
			return 0, fmt.Errorf("a node of size %d", n.size())
		}
		if n.size() == 0 || !edge && n.size() < width/2 {
			return 0, fmt.Errorf("a node of size %d at level %d of %d", n.size(), level, depth)
		}
		if n.kids == nil {
			if level != depth {
				return 0, fmt.Errorf("a leaf at level %d of %d", level, depth)
			}
			return len(n.items), nil
		}
		sum := 0
		for i, k := range n.kids {
			got, err := walk(k, level+1, edge && i == len(n.kids)-1)
			if err != nil {
				return 0, err
			}
			if sum += got; sum != n.ends[i] {
				return 0, fmt.Errorf("an end of %d at %d", n.ends[i], sum)
			}
		}
		return sum, nil
	}
	_, err := walk(s.root, 0, true)
	return err
}

func TestOf(t *testing.T) {
	for _, n := range []int{0, 1, 31, 32, 33, 64, 65, 1024, 1056, 1057, 32768, 32801, 40000} {
		t.Run(fmt.Sprintf("%d items come back in order", n), func(t *testing.T) {
			items := numbers(n)
			s := Of(items)
			require.Equal(t, n, s.Len())
			require.Equal(t, items, collect(s))
			require.NoError(t, check(s))
			for i := 0; i < n; i += 1 + n/100 {
				require.Equal(t, i, s.At(i))
			}
		})
	}
	t.Run("the caller's slice is copied", func(t *testing.T) {
		items := numbers(40)
		s := Of(items)
		items[0], items[39] = -1, -1
		assert.Equal(t, numbers(40), collect(s))
	})
}

func TestZeroValueIsEmpty(t *testing.T) {
	var s Seq[int]
	assert.Zero(t, s.Len())
	assert.Empty(t, collect(s))
	assert.Equal(t, []int{7}, collect(s.Append(7)))
	assert.Equal(t, []int{7}, collect(s.Insert(0, 7)))
}

func TestOutOfRangePanics(t *testing.T) {
	for _, n := range []int{0, 5, 100} {
		s := Of(numbers(n))
		for _, i := range []int{-1, n, n + 1} {
			assert.Panics(t, func() { s.At(i) }, "At(%d) of %d", i, n)
			assert.Panics(t, func() { s.Set(i, 0) }, "Set(%d) of %d", i, n)
			assert.Panics(t, func() { s.Remove(i) }, "Remove(%d) of %d", i, n)
		}
		assert.Panics(t, func() { s.Insert(-1, 0) })
		assert.Panics(t, func() { s.Insert(n+1, 0) })
		assert.Panics(t, func() { s.From(-1) })
	}
}

// version is a sequence and what it must hold.
type version struct {
	s     Seq[int]
	model []int
}

// step makes one random change and returns what must come out.
func step(r *rand.Rand, v version, next int) version {
	n := len(v.model)
	m := slices.Clone(v.model)
	place := func(n int) int {
		if r.IntN(3) == 0 {
			return max(0, n-1-r.IntN(3)) // near the end, where the tail is
		}
		return r.IntN(n)
	}
	switch op := r.IntN(6); {
	case op == 0 && n > 0:
		i := place(n)
		m[i] = next
		return version{v.s.Set(i, next), m}
	case op == 1:
		i := place(n + 1)
		return version{v.s.Insert(i, next), slices.Insert(m, i, next)}
	case op == 2 || op == 3:
		if n > 0 {
			i := place(n)
			return version{v.s.Remove(i), slices.Delete(m, i, i+1)}
		}
		return v
	case op == 4:
		more := make([]int, r.IntN(80))
		for i := range more {
			more[i] = next + i
		}
		return version{v.s.Append(more...), append(m, more...)}
	}
	return version{v.s.Append(next), append(m, next)}
}

func TestAnyChangesMatchASliceAndLeaveOldVersionsAlone(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		v := version{Of(numbers(int(seed) * 150)), numbers(int(seed) * 150)}
		var kept []version
		for i := range 1500 {
			v = step(r, v, 1_000_000+100*i)
			require.Equal(t, len(v.model), v.s.Len())
			if i%100 == 0 {
				require.NoError(t, check(v.s), "seed %d, step %d", seed, i)
				require.Equal(t, v.model, append([]int{}, collect(v.s)...))
				kept = append(kept, version{v.s, slices.Clone(v.model)})
			}
			if n := len(v.model); n > 0 {
				at := r.IntN(n)
				require.Equal(t, v.model[at], v.s.At(at))
			}
		}
		for _, old := range kept {
			require.Equal(t, append([]int{}, old.model...), collect(old.s))
		}
	}
}

func TestRemovingEverythingFromEitherEnd(t *testing.T) {
	for name, index := range map[string]func(n int) int{
		"from the front":  func(int) int { return 0 },
		"from the back":   func(n int) int { return n - 1 },
		"from the middle": func(n int) int { return n / 2 },
	} {
		t.Run(name, func(t *testing.T) {
			s := Of(numbers(3000))
			model := numbers(3000)
			for len(model) > 0 {
				i := index(len(model))
				s = s.Remove(i)
				model = slices.Delete(model, i, i+1)
				if len(model)%97 == 0 {
					require.NoError(t, check(s))
					require.Equal(t, model, collect(s))
				}
			}
			assert.Zero(t, s.Len())
			assert.Nil(t, s.root)
		})
	}
}

func TestSame(t *testing.T) {
	a := Of(numbers(100))
	assert.True(t, Same(a, a))
	assert.True(t, Same(Seq[int]{}, Of([]int{})))
	assert.False(t, Same(a, Of(numbers(100))), "built apart")
	assert.False(t, Same(a, a.Set(50, 50)))
	assert.False(t, Same(a, a.Set(99, 99)))
	assert.False(t, Same(a, a.Append(1)))
	assert.False(t, Same(a, a.Append(1).Remove(100)), "another tail")
}

func TestAppendCopiesTheTailAlone(t *testing.T) {
	s := Of(numbers(100_000))
	root := s.root
	s = s.Set(s.Len()-1, 5)
	assert.Same(t, root, s.root, "a change in the tail")
	allocs := testing.AllocsPerRun(100, func() { s.Set(s.Len()-1, 6) })
	assert.LessOrEqual(t, allocs, 1.0)
}
