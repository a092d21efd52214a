package state_test

import (
	"math"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/state"
)

// TestRFC6902AppendixA has the examples of the RFC's appendix A; want is an error where the
// patch must fail.
func TestRFC6902AppendixA(t *testing.T) {
	tests := []struct {
		name, doc, patch string
		want             any
	}{
		{"A.1 adding an object member", `{"foo":"bar"}`, `[{"op":"add","path":"/baz","value":"qux"}]`, `{"baz":"qux","foo":"bar"}`},
		{"A.2 adding an array element", `{"foo":["bar","baz"]}`, `[{"op":"add","path":"/foo/1","value":"qux"}]`, `{"foo":["bar","qux","baz"]}`},
		{"A.3 removing an object member", `{"baz":"qux","foo":"bar"}`, `[{"op":"remove","path":"/baz"}]`, `{"foo":"bar"}`},
		{"A.4 removing an array element", `{"foo":["bar","qux","baz"]}`, `[{"op":"remove","path":"/foo/1"}]`, `{"foo":["bar","baz"]}`},
		{"A.5 replacing a value", `{"baz":"qux","foo":"bar"}`, `[{"op":"replace","path":"/baz","value":"boo"}]`, `{"baz":"boo","foo":"bar"}`},
		{
			"A.6 moving a value", `{"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}}`,
			`[{"op":"move","from":"/foo/waldo","path":"/qux/thud"}]`, `{"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}}`,
		},
		{
			"A.7 moving an array element", `{"foo":["all","grass","cows","eat"]}`,
			`[{"op":"move","from":"/foo/1","path":"/foo/3"}]`, `{"foo":["all","cows","eat","grass"]}`,
		},
		{
			"A.8 testing a value: success", `{"baz":"qux","foo":["a",2,"c"]}`,
			`[{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2}]`, `{"baz":"qux","foo":["a",2,"c"]}`,
		},
		{"A.9 testing a value: error", `{"baz":"qux"}`, `[{"op":"test","path":"/baz","value":"bar"}]`, state.ErrTest},
		{"A.10 adding a nested member object", `{"foo":"bar"}`, `[{"op":"add","path":"/child","value":{"grandchild":{}}}]`, `{"foo":"bar","child":{"grandchild":{}}}`},
		{"A.11 ignoring unrecognized elements", `{"foo":"bar"}`, `[{"op":"add","path":"/baz","value":"qux","xyz":123}]`, `{"foo":"bar","baz":"qux"}`},
		{"A.12 adding to a nonexistent target", `{"foo":"bar"}`, `[{"op":"add","path":"/baz/bat","value":"qux"}]`, state.ErrPath},
		{"A.13 if there are two op members, the last one counts", `{"foo":"bar"}`, `[{"op":"add","path":"/baz","value":"qux","op":"remove"}]`, state.ErrPath},
		{"A.14 ~ escape ordering", `{"/":9,"~1":10}`, `[{"op":"test","path":"/~01","value":10}]`, `{"/":9,"~1":10}`},
		{"A.15 comparing strings and numbers", `{"/":9,"~1":10}`, `[{"op":"test","path":"/~01","value":"10"}]`, state.ErrTest},
		{"A.16 adding an array value", `{"foo":["bar"]}`, `[{"op":"add","path":"/foo/-","value":["abc","def"]}]`, `{"foo":["bar",["abc","def"]]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { applies(t, tt.doc, tt.patch, tt.want) })
	}
}

func applies(t *testing.T, doc, patch string, want any) {
	t.Helper()
	p, err := state.ParsePatch(parse(patch))
	v := parse(doc)
	got := v
	if err == nil {
		got, err = v.Apply(p)
	}
	if kind, fails := want.(error); fails {
		require.ErrorIs(t, err, kind)
		var detail *state.PatchError
		require.ErrorAs(t, err, &detail)
		assert.True(t, state.Same(v, got), "the document itself comes back")
	} else {
		require.NoError(t, err)
		assert.True(t, parse(want.(string)).Equal(got), "want %s, got %s", want, got)
	}
	assert.Equal(t, parse(doc).String(), v.String(), "the document is as it was")
}

func TestApply(t *testing.T) {
	tests := []struct {
		name, doc, patch string
		want             any
	}{
		{"P-STA-3 no negative index", `[1]`, `[{"op":"replace","path":"/-1","value":2}]`, state.ErrPath},
		{"P-STA-3 no leading zeros", `[1,2]`, `[{"op":"remove","path":"/01"}]`, state.ErrPath},
		{"P-STA-3 no sign", `[1,2]`, `[{"op":"remove","path":"/+1"}]`, state.ErrPath},
		{"P-STA-3 an index beyond an int", `[1]`, `[{"op":"add","path":"/99999999999999999999","value":2}]`, state.ErrPath},
		{"P-STA-3 add one past the end", `[1]`, `[{"op":"add","path":"/1","value":2}]`, `[1,2]`},
		{"P-STA-3 add two past the end", `[1]`, `[{"op":"add","path":"/2","value":2}]`, state.ErrPath},
		{"P-STA-3 - appends", `[1]`, `[{"op":"add","path":"/-","value":2}]`, `[1,2]`},
		{"P-STA-3 - does not replace", `[1]`, `[{"op":"replace","path":"/-","value":2}]`, state.ErrPath},
		{"P-STA-3 - does not lead further", `[[1]]`, `[{"op":"add","path":"/-/0","value":2}]`, state.ErrPath},
		{"- is a member name like any other", `{"-":1}`, `[{"op":"replace","path":"/-","value":2}]`, `{"-":2}`},
		{"P-STA-3 the root may be replaced by any value", `{"a":1}`, `[{"op":"replace","path":"","value":null}]`, `null`},
		{"P-STA-3 the root may be added", `7`, `[{"op":"add","path":"","value":[1]}]`, `[1]`},
		{"the root cannot be removed", `7`, `[{"op":"remove","path":""}]`, state.ErrPath},
		{"P-STA-3 a value cannot move into itself", `{"a":{"b":1}}`, `[{"op":"move","from":"/a","path":"/a/b"}]`, state.ErrOp},
		{"the root cannot move into itself", `{"a":1}`, `[{"op":"move","from":"","path":"/a"}]`, state.ErrOp},
		{"a move to the same place changes nothing", `{"a":1}`, `[{"op":"move","from":"/a","path":"/a"}]`, `{"a":1}`},
		{"a move of nothing to the same place fails", `{"a":1}`, `[{"op":"move","from":"/b","path":"/b"}]`, state.ErrPath},
		{"a move to a sibling whose name has the same prefix", `{"a":1}`, `[{"op":"move","from":"/a","path":"/ab"}]`, `{"ab":1}`},
		{"a move to the root", `{"a":{"b":1}}`, `[{"op":"move","from":"/a","path":""}]`, `{"b":1}`},
		{"a copy into its own child", `{"a":{}}`, `[{"op":"copy","from":"/a","path":"/a/b"}]`, `{"a":{"b":{}}}`},
		{"a copy of the root", `{"a":1}`, `[{"op":"copy","from":"","path":"/b"}]`, `{"a":1,"b":{"a":1}}`},
		{"a move within an array", `[0,1,2,3]`, `[{"op":"move","from":"/3","path":"/0"}]`, `[3,0,1,2]`},
		{"a move to the end of its array", `[0,1,2]`, `[{"op":"move","from":"/0","path":"/-"}]`, `[1,2,0]`},
		{"a move past the end, as it is after the removal", `[0,1,2]`, `[{"op":"move","from":"/0","path":"/3"}]`, state.ErrPath},
		{"P-STA-3 test compares numbers by value", `{"a":100}`, `[{"op":"test","path":"/a","value":1e2}]`, `{"a":100}`},
		{"P-STA-3 test tells large integers apart", `9007199254740993`, `[{"op":"test","path":"","value":9007199254740992}]`, state.ErrTest},
		{"P-STA-3 test ignores the order of members", `{"a":1,"b":[2]}`, `[{"op":"test","path":"","value":{"b":[2.0],"a":1}}]`, `{"a":1,"b":[2]}`},
		{"test of null finds null", `{"a":null}`, `[{"op":"test","path":"/a","value":null}]`, `{"a":null}`},
		{"test of null does not find nothing", `{}`, `[{"op":"test","path":"/a","value":null}]`, state.ErrPath},
		{"test of an array of null", `[null]`, `[{"op":"test","path":"","value":[null]}]`, `[null]`},
		{"a path into a scalar", `{"a":1}`, `[{"op":"add","path":"/a/b","value":1}]`, state.ErrPath},
		{"replace needs a target", `{}`, `[{"op":"replace","path":"/a","value":1}]`, state.ErrPath},
		{"remove needs a target", `{}`, `[{"op":"remove","path":"/a"}]`, state.ErrPath},
		{"the empty key", `{"":1}`, `[{"op":"replace","path":"/","value":2}]`, `{"":2}`},
		{"a failure late undoes all", `{"a":1}`, `[{"op":"remove","path":"/a"},{"op":"remove","path":"/a"}]`, state.ErrPath},
		{"later operations see earlier ones", `{}`, `[{"op":"add","path":"/a","value":{}},{"op":"add","path":"/a/b","value":1}]`, `{"a":{"b":1}}`},
		{"an empty patch", `1`, `[]`, `1`},
		{"value is missing", `1`, `[{"op":"add","path":""}]`, state.ErrOp},
		{"path is missing", `1`, `[{"op":"add","value":1}]`, state.ErrOp},
		{"from is missing", `1`, `[{"op":"copy","path":""}]`, state.ErrOp},
		{"path is not a string", `1`, `[{"op":"add","path":1,"value":1}]`, state.ErrOp},
		{"path is not a pointer", `{"a":1}`, `[{"op":"remove","path":"a"}]`, state.ErrOp},
		{"a bad escape in a path", `{"a":1}`, `[{"op":"remove","path":"/~2"}]`, state.ErrOp},
		{"from is not a pointer", `{"a":1}`, `[{"op":"copy","path":"/b","from":"/a~"}]`, state.ErrOp},
		{"op is unknown", `1`, `[{"op":"increment","path":"","value":1}]`, state.ErrOp},
		{"op is missing", `1`, `[{"path":"","value":1}]`, state.ErrOp},
		{"an operation is not an object", `1`, `[1]`, state.ErrOp},
		{"the patch is not an array", `1`, `{"op":"remove","path":"/a"}`, state.ErrOp},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { applies(t, tt.doc, tt.patch, tt.want) })
	}
}

func TestApplyKeepsWhatIsWritten(t *testing.T) {
	doc := parse(`{"n":9007199254740993,"m":1.0,"e":1e2,"z":"<&>\ud83d"}`)
	got := must(doc.Apply(patchOf(`[{"op":"copy","from":"/n","path":"/k"},{"op":"replace","path":"/m","value":2.50}]`)))
	assert.Equal(t, `{"n":9007199254740993,"m":2.50,"e":1e2,"z":"<&>\ud83d","k":9007199254740993}`, got.String())
}

func TestApplyToAnAbsentValue(t *testing.T) {
	for patch, want := range map[string]any{
		`[{"op":"add","path":"","value":1}]`:     `1`,
		`[{"op":"replace","path":"","value":1}]`: `1`,
		`[{"op":"add","path":"/a","value":1}]`:   state.ErrPath,
		`[{"op":"remove","path":""}]`:            state.ErrPath,
		`[{"op":"test","path":"","value":null}]`: state.ErrPath,
		`[{"op":"copy","from":"","path":""}]`:    state.ErrPath,
	} {
		t.Run(patch, func(t *testing.T) {
			got, err := state.Value{}.Apply(patchOf(patch))
			if kind, fails := want.(error); fails {
				require.ErrorIs(t, err, kind)
				assert.False(t, got.Exists())
				return
			}
			require.NoError(t, err)
			assert.Equal(t, want, got.String())
		})
	}
}

func TestApplyLimits(t *testing.T) {
	t.Run("copies that double the text meet the size limit", func(t *testing.T) {
		doc := parse(`{"a":["0123456789"]}`)
		double := patchOf(`[{"op":"copy","from":"/a","path":"/a/-"}]`)
		var err error
		steps := 0
		for ; err == nil && steps < 100; steps++ {
			doc, err = doc.Apply(double)
		}
		require.ErrorIs(t, err, state.ErrLimit)
		assert.Equal(t, 22, steps, "15 bytes and a comma, doubled 22 times, are 64 MiB")
	})
	t.Run("a document beyond the size limit may still change, not grow", func(t *testing.T) {
		half := state.String(strings.Repeat("x", 40<<20))
		doc := state.Array(half, half, state.Int(1))
		next, err := doc.Apply(patchOf(`[{"op":"replace","path":"/2","value":2}]`))
		require.NoError(t, err)
		_, err = next.Apply(patchOf(`[{"op":"replace","path":"/2","value":22}]`))
		require.ErrorIs(t, err, state.ErrLimit)
		_, err = next.Apply(patchOf(`[{"op":"remove","path":"/1"}]`))
		require.NoError(t, err)
	})
	t.Run("copies that nest meet the depth limit", func(t *testing.T) {
		doc := parse(`{"a":{}}`)
		nest := patchOf(`[{"op":"add","path":"/b","value":{}},{"op":"move","from":"/a","path":"/b/a"},{"op":"move","from":"/b","path":"/a"}]`)
		var err error
		steps := 0
		for ; err == nil && steps < 2000; steps++ {
			doc, err = doc.Apply(nest)
		}
		require.ErrorIs(t, err, state.ErrLimit)
		assert.Equal(t, state.DefaultMaxDepth-2, steps-1, "{\"a\":{}} is two levels deep")
	})
	t.Run("a document beyond the limit may still change and shrink", func(t *testing.T) {
		deep := must(state.ParseDepth([]byte(strings.Repeat("[", 600)+"1"+strings.Repeat("]", 600)), 600))
		_, err := deep.Apply(state.Patch{{Kind: state.OpReplace, Path: strings.Repeat("/0", 600), Value: state.Int(2)}})
		require.NoError(t, err)
		_, err = deep.Apply(state.Patch{{Kind: state.OpReplace, Path: strings.Repeat("/0", 600), Value: state.Array()}})
		require.ErrorIs(t, err, state.ErrLimit)
	})
}

func TestApplyLimit(t *testing.T) {
	v := parse(`{"a":"12345"}`)
	require.Equal(t, 14, v.Size(), "the text has 13 bytes, and there is one container")
	copies := patchOf(`[{"op":"copy","from":"/a","path":"/b"}]`)
	for size, want := range map[int]error{26: nil, 25: state.ErrLimit, 0: state.ErrLimit, -1: state.ErrLimit} {
		got, err := v.ApplyLimit(copies, size)
		assert.ErrorIs(t, err, want)
		if want == nil {
			assert.Equal(t, 26, got.Size())
			assert.Equal(t, `{"a":"12345","b":"12345"}`, got.String())
		}
	}
	for _, patch := range []string{`[{"op":"remove","path":"/a"}]`, `[{"op":"replace","path":"/a","value":"54321"}]`} {
		_, err := v.ApplyLimit(patchOf(patch), 0)
		assert.NoError(t, err, "a document beyond the limit may change, as long as it does not grow")
	}
	doubled, err := parse("[1]"), error(nil)
	for i := 0; i < 100 && err == nil; i++ {
		doubled, err = doubled.ApplyLimit(patchOf(`[{"op":"copy","from":"","path":"/-"}]`), math.MaxInt)
	}
	assert.ErrorIs(t, err, state.ErrLimit, "a size never overflows")
}

func TestRandomPatchesAreAtomicAndPersistent(t *testing.T) {
	failed := 0
	for seed := range uint64(300) {
		r := seeded(seed)
		v := randomValue(r, 4)
		type version struct {
			v    state.Value
			text string
		}
		var versions []version
		for range 15 {
			versions = append(versions, version{v, v.String()})
			next, err := v.Apply(randomPatch(r, v))
			if err != nil {
				failed++
				require.True(t, state.Same(v, next), "a failed patch gives the document itself")
			}
			v = next
			require.Equal(t, v.String(), parse(v.String()).String())
		}
		for _, old := range versions {
			require.Equal(t, old.text, old.v.String(), "seed %d", seed)
		}
	}
	assert.Positive(t, failed, "some patches must fail for this to say anything")
}

// allocated returns the bytes that one call of f allocates, on average over many.
func allocated(f func()) uint64 {
	const runs = 500
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range runs {
		f()
	}
	runtime.ReadMemStats(&after)
	return (after.TotalAlloc - before.TotalAlloc) / runs
}

// TestOneOperationCopiesOnePath: an array of 100,000 elements takes 800,000 bytes for its pointers
// alone, and an object more; no operation may come near that, and neither may a diff of neighbors.
func TestOneOperationCopiesOnePath(t *testing.T) {
	const n, most = 100_000, 6000
	items := make([]state.Value, n)
	members := make([]state.Member, n)
	for i := range items {
		items[i] = state.Array(state.Int(int64(i)))
		members[i] = state.Member{Key: strconv.Itoa(i), Value: items[i]}
	}
	doc := state.Object(
		state.Member{Key: "list", Value: state.Array(items...)},
		state.Member{Key: "map", Value: state.Object(members...)},
	)
	for _, text := range []string{
		`[{"op":"replace","path":"/list/70000/0","value":7}]`,
		`[{"op":"replace","path":"/list/99999","value":[]}]`,
		`[{"op":"add","path":"/list/50000","value":[[7]]}]`,
		`[{"op":"add","path":"/list/-","value":7}]`,
		`[{"op":"remove","path":"/list/3"}]`,
		`[{"op":"replace","path":"/map/70000/0","value":7}]`,
		`[{"op":"add","path":"/map/new","value":[[7]]}]`,
		`[{"op":"remove","path":"/map/70000"}]`,
		`[{"op":"copy","from":"/list","path":"/again"}]`,
		`[{"op":"test","path":"/list/70000","value":[70000]}]`,
	} {
		t.Run(text, func(t *testing.T) {
			patch := patchOf(text)
			next := must(doc.Apply(patch))
			assert.Less(t, allocated(func() { must(doc.Apply(patch)) }), uint64(most))
			assert.Less(t, allocated(func() { state.Diff(doc, next) }), uint64(most), "Diff")
		})
	}
	t.Run("a chain of appends and replaces", func(t *testing.T) {
		chain := doc
		appends := patchOf(`[{"op":"add","path":"/list/-","value":7},{"op":"replace","path":"/list/9/0","value":8}]`)
		assert.Less(t, allocated(func() { chain = must(chain.Apply(appends)) }), uint64(2*most))
	})
}
