package state_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// least returns what one call of do costs: the least of many measurements, so that nothing else that runs counts.
func least(do func()) time.Duration {
	const batch = 20
	var batches []time.Duration
	for range 40 {
		start := time.Now()
		for range batch {
			do()
		}
		batches = append(batches, time.Since(start)/batch)
	}
	return slices.Min(batches)
}

// TestAnOperationCostsWhatItIsLong applies a short operation to a document in which something is n long. If the
// operation looked through all of that, it would cost tens of times as much at 100 n.
func TestAnOperationCostsWhatItIsLong(t *testing.T) {
	object := func(n int, member func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString("," + member(i))
		}
		return "{" + b.String()[1:] + "}"
	}
	for name, doc := range map[string]func(n int) (doc, patch string){
		"a number of many digits that is equal": func(n int) (string, string) {
			return `{"a":1` + strings.Repeat("0", n) + `}`, fmt.Sprintf(`[{"op":"test","path":"/a","value":1e%d}]`, n)
		},
		"a fraction of many digits that is equal": func(n int) (string, string) {
			return `{"a":0.` + strings.Repeat("0", n) + `1}`, fmt.Sprintf(`[{"op":"test","path":"/a","value":1e-%d}]`, n+1)
		},
		"a whole number with a long fraction": func(n int) (string, string) {
			return `{"a":12.` + strings.Repeat("0", n) + `}`, `[{"op":"test","path":"/a","value":12}]`
		},
		"an exponent with leading zeros": func(n int) (string, string) {
			return `{"a":1e` + strings.Repeat("0", n) + `1}`, `[{"op":"test","path":"/a","value":10}]`
		},
		"a long string": func(n int) (string, string) {
			return `{"a":"` + strings.Repeat("x", n) + `"}`, `[{"op":"move","from":"/a","path":"/b"},{"op":"move","from":"/b","path":"/a"}]`
		},
		"a long key": func(n int) (string, string) {
			return `{"` + strings.Repeat("x", n) + `":1,"b":{}}`, `[{"op":"add","path":"/b/c","value":1}]`
		},
		"many members": func(n int) (string, string) {
			return object(n, func(i int) string { return fmt.Sprintf(`"%d":%d`, i, i) }),
				`[{"op":"replace","path":"/1","value":2},{"op":"move","from":"/2","path":"/x"},{"op":"copy","from":"/3","path":"/y"},{"op":"test","path":"/4","value":4}]`
		},
		"many elements": func(n int) (string, string) {
			return "[1,2,3" + strings.Repeat(`,{"a":[]}`, n) + "]",
				`[{"op":"remove","path":"/0"},{"op":"move","from":"/9","path":"/1"},{"op":"copy","from":"/3","path":"/-"},{"op":"add","path":"/4","value":[[[]]]}]`
		},
	} {
		t.Run(name, func(t *testing.T) {
			cost := func(n int) time.Duration {
				text, patch := doc(n)
				v, p := parse(text), patchOf(patch)
				return least(func() { must(v.Apply(p)) })
			}
			short, long := cost(500), cost(50_000)
			t.Logf("%d ns at 500, %d at 50,000", short.Nanoseconds(), long.Nanoseconds())
			assert.Less(t, long, 8*short+5*time.Microsecond)
		})
	}
}

func TestAsIntOfALongLiteral(t *testing.T) {
	zeros := strings.Repeat("0", 1_000)
	for literal, want := range map[string]any{
		"12." + zeros: int64(12), "-0." + zeros + "5e1001": int64(-5), "0e1" + zeros: int64(0), "1e" + zeros + "2": int64(100),
		"1" + zeros: nil, "12." + zeros + "1": nil, "1e1" + zeros: nil, "-1e-1" + zeros: nil,
	} {
		got, ok := parse(literal).AsInt()
		assert.Equal(t, want != nil, ok, "%.20s", literal)
		if ok {
			assert.Equal(t, want, got, "%.20s", literal)
		}
	}
	long := parse("1" + zeros)
	assert.Zero(t, testing.AllocsPerRun(10, func() { long.AsInt() }))
}
