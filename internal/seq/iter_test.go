package seq

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFrom(t *testing.T) {
	for _, n := range []int{0, 10, 32, 33, 2000} {
		s := Of(numbers(n))
		for i := 0; i <= n+1; i += 1 + n/50 {
			var got []int
			for at, v := range s.From(i) {
				require.Equal(t, at, v, "index")
				got = append(got, v)
			}
			require.Equal(t, append([]int(nil), numbers(n)[min(i, n):]...), got, "from %d of %d", i, n)
		}
	}
}

func TestBackward(t *testing.T) {
	for _, n := range []int{0, 10, 33, 2000} {
		var got []int
		for at, v := range Of(numbers(n)).Backward() {
			require.Equal(t, at, v, "index")
			got = append(got, v)
		}
		slices.Reverse(got)
		require.Equal(t, append([]int(nil), numbers(n)...), got)
	}
}

func TestBreakEndsTheIteration(t *testing.T) {
	s := Of(numbers(100))
	for stop := range 100 {
		count := 0
		for i := range s.All() {
			count++
			if i == stop {
				break
			}
		}
		assert.Equal(t, stop+1, count)
		count = 0
		for i := range s.Backward() {
			count++
			if i == 99-stop {
				break
			}
		}
		assert.Equal(t, stop+1, count)
	}
}
