package state_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/state"
)

// checkGrowing gives text piece by piece, of random sizes up to most, and compares each value with the one-shot one.
// The values are compared again at the end: they do not change.
func checkGrowing(t *testing.T, text string, most int, r *rand.Rand) {
	t.Helper()
	var p state.PartialParser
	type seen struct {
		value state.Value
		want  string
	}
	var all []seen
	buf := make([]byte, 0, 8) // grows as a reducer's buffer does
	for n := 0; ; {
		buf = append(buf, text[len(buf):n]...)
		want := state.ParsePartial(text[:n])
		got := p.Parse(string(buf))
		require.Equal(t, want.String(), got.String(), "after %q", text[:n])
		require.True(t, want.Equal(got), "after %q", text[:n])
		require.Equal(t, want.Size(), got.Size(), "after %q", text[:n])
		require.Equal(t, want.Depth(), got.Depth(), "after %q", text[:n])
		all = append(all, seen{got, want.String()})
		if n == len(text) {
			break
		}
		n = min(len(text), n+r.IntN(most+1))
	}
	for _, s := range all {
		require.Equal(t, s.want, s.value.String(), "a value changed later")
	}
}

func TestPartialParserIsParsePartial(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	texts := []string{
		``, ` `, `{`, `{}`, ` [ ] `, `{"a":1,"a":{"b":[]},"a":2}`, `[1,2.5e3,-0,01]`, `[1.,2]`, `[-]`, `[tru,1]`, `[true ,false,null]x`,
		`"a\ud83d\ude00b\ude00c\ud83dx\ud83d\ud83d\ude00"`, "\"a\xf0\x9f\x98\x80\xf0\x9fx\xed\xa0\xbd\xff\"", `"\u00e9\n\x"`, "\"a\nb\"",
		`{"a\u0062":"c","":{"":""}}`, `{"a" "b"}`, `{a}`, `[1 2]`, `[1,]`, `{"a":1,}`, `{"a":1}}`, `123`, `-12.5E+3 `, `nul`, `"open`,
		"[" + strings.Repeat("1,", 40) + "{}]", `{` + strings.Repeat(`"k`+`":[0],"`, 20) + `z":1}`,
		strings.Repeat("[", state.DefaultMaxDepth+3), strings.Repeat(`{"a":`, 20) + `"x"` + strings.Repeat("}", 20) + " 1",
	}
	var many strings.Builder
	many.WriteString(`{`)
	for i := range 40 {
		many.WriteString(`"key` + strings.Repeat("x", i%20) + string(rune('a'+i%26)) + `" : "v\n",`)
	}
	texts = append(texts, many.String())
	for _, text := range texts {
		for most := 1; most <= 64; most *= 4 {
			checkGrowing(t, text, most, r)
		}
	}
}

func TestPartialParserOfAnotherText(t *testing.T) {
	var p state.PartialParser
	parse := func(text, want string) {
		t.Helper()
		assert.Equal(t, want, p.Parse(text).String())
	}
	parse(`{"a":[1,2`, `{"a":[1,2]}`)
	parse(`{"a":[1`, `{"a":[1]}`)         // an older one
	parse(`{"a":[1,2],"b`, `{"a":[1,2]}`) // and on
	parse(`{"c":"d`, `{"c":"d"}`)         // another one
	parse(`{"c":"de"`, `{"c":"de"}`)
	parse(``, ``)
	parse(`{"c":"de","f":1`, `{"c":"de","f":1}`)
}

// A growing text costs the same for each character at its end as at its beginning.
func TestPartialParserCostIsThatOfWhatIsNew(t *testing.T) {
	if testing.Short() {
		t.Skip("compares times")
	}
	const n = 64_000
	for name, text := range map[string]string{
		"one string":         `{"text":"` + strings.Repeat("x", n),
		"a string of pairs":  `{"text":"` + strings.Repeat(`\ud83d\ude00`, n/12),
		"an array":           `{"list":[` + strings.Repeat("1,", n/2),
		"objects":            `[` + strings.Repeat(`{"a":"b"},`, n/10),
		"a key":              `{"` + strings.Repeat("k", n),
		"white space":        `[` + strings.Repeat(" ", n),
		"after the value":    `{} ` + strings.Repeat("x", n),
		"after a fault":      `[!` + strings.Repeat("x", n),
		"one long fault":     `["a` + "\n" + strings.Repeat("x", n),
		"names with escapes": `{` + strings.Repeat(`"\u0061":1,`, n/11),
	} {
		var p state.PartialParser
		feed := func(from, to int) time.Duration {
			start := time.Now()
			for i := from; i < to; i++ {
				p.Parse(text[:i])
			}
			return time.Since(start)
		}
		first := feed(0, n/8)
		feed(n/8, len(text)-n/8)
		last := feed(len(text)-n/8, len(text))
		assert.Less(t, last, 10*first+50*time.Millisecond, name)
	}
}

func FuzzPartialParser(f *testing.F) {
	f.Add(`{"a":[1,{"b":"c\u00e9"}],"d":null}`, uint64(1), 3)
	f.Add("\"\xf0\x9f\\ud83d\\ude00", uint64(2), 1)
	f.Fuzz(func(t *testing.T, text string, seed uint64, most int) {
		if len(text) > 1<<10 {
			return
		}
		checkGrowing(t, text, 1+max(most, 0)%64, rand.New(rand.NewPCG(seed, 0)))
	})
}

func BenchmarkPartialParser(b *testing.B) {
	text := `{"text":"` + strings.Repeat("x", 64_000)
	b.Run("64,000 one-character deltas", func(b *testing.B) {
		for b.Loop() {
			var p state.PartialParser
			for i := range len(text) {
				p.Parse(text[:i])
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(text)), "ns/delta")
	})
}
