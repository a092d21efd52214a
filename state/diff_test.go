package state_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/state"
)

func TestDiff(t *testing.T) {
	tests := []struct{ name, old, new, want string }{
		{"nothing", `{"a":[1]}`, `{"a":[1]}`, `[]`},
		{"another order of members is not a change", `{"a":1,"b":2}`, `{"b":2,"a":1}`, `[]`},
		{"a member is added", `{"a":1}`, `{"a":1,"b/c":2}`, `[{"op":"add","path":"/b~1c","value":2}]`},
		{"a member is removed", `{"a":1,"~":2}`, `{"a":1}`, `[{"op":"remove","path":"/~0"}]`},
		{"a member is replaced", `{"a":{"b":1}}`, `{"a":{"b":null}}`, `[{"op":"replace","path":"/a/b","value":null}]`},
		{"other digits are a change", `1`, `1.0`, `[{"op":"replace","path":"","value":1.0}]`},
		{"another kind", `{"a":{}}`, `{"a":[]}`, `[{"op":"replace","path":"/a","value":[]}]`},
		{"objects with nothing in common", `{"a":1,"b":2}`, `{"c":1}`, `[{"op":"replace","path":"","value":{"c":1}}]`},
		{"an object that is emptied", `{"a":1,"b":2}`, `{}`, `[{"op":"remove","path":"/a"},{"op":"remove","path":"/b"}]`},
		{"an append", `[1,2]`, `[1,2,3]`, `[{"op":"add","path":"/2","value":3}]`},
		{"an insertion at the start", `[1,2]`, `[0,1,2]`, `[{"op":"add","path":"/0","value":0}]`},
		{"an insertion in the middle", `[1,2,3,4]`, `[1,2,9,3,4]`, `[{"op":"add","path":"/2","value":9}]`},
		{"a removal in the middle", `[1,2,3,4]`, `[1,2,4]`, `[{"op":"remove","path":"/2"}]`},
		{"one of several equal elements is removed", `[1,1,1]`, `[1,1]`, `[{"op":"remove","path":"/2"}]`},
		{"an element changes inside", `[{"a":1},{"a":2}]`, `[{"a":1},{"a":3}]`, `[{"op":"replace","path":"/1/a","value":3}]`},
		{"a window moves on", `[1,2,3,4,5]`, `[2,3,4,5,6]`, `[{"op":"remove","path":"/0"},{"op":"add","path":"/4","value":6}]`},
		{
			"removals in several places", `[0,1,2,3,4,5,6,7]`, `[0,2,3,5,6,7]`,
			`[{"op":"remove","path":"/1"},{"op":"remove","path":"/3"}]`,
		},
		{
			"everything differs", `[1,2,3]`, `[4,5]`,
			`[{"op":"replace","path":"/0","value":4},{"op":"replace","path":"/1","value":5},{"op":"remove","path":"/2"}]`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			old, new := parse(tt.old), parse(tt.new)
			patch := state.Diff(old, new)
			assert.Equal(t, tt.want, patch.Value().String())
			got, err := old.Apply(patch)
			require.NoError(t, err)
			assert.True(t, new.Equal(got))
		})
	}
}

func TestDiffOfAbsentValues(t *testing.T) {
	assert.Nil(t, state.Diff(state.Value{}, state.Value{}))
	assert.Nil(t, state.Diff(parse(`1`), state.Value{}))
	assert.Equal(t, `[{"op":"add","path":"","value":1}]`, state.Diff(state.Value{}, parse(`1`)).Value().String())
}

func TestDiffOfLargeArrays(t *testing.T) {
	old := must(state.Parse(todo(20_000)))
	for name, text := range map[string]string{
		"a set":     `[{"op":"replace","path":"/items/17/done","value":true}]`,
		"an insert": `[{"op":"add","path":"/items/9000","value":1}]`,
		"a removal": `[{"op":"remove","path":"/items/9000"}]`,
		"an append": `[{"op":"add","path":"/items/20000","value":1}]`,
		"far apart": `[{"op":"replace","path":"/items/3/done","value":true},{"op":"replace","path":"/items/19999/done","value":true}]`,
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, text, state.Diff(old, must(old.Apply(patchOf(text)))).Value().String())
		})
	}
	t.Run("more edits than are aligned", func(t *testing.T) {
		next := old
		for i := range 200 {
			next = must(next.Apply(state.Patch{{Kind: state.OpAdd, Path: fmt.Sprint("/items/", i*90), Value: state.Int(int64(i))}}))
		}
		got := must(old.Apply(state.Diff(old, next)))
		assert.True(t, next.Equal(got))
	})
}

func TestDiffOfLargeObjects(t *testing.T) {
	members := make([]state.Member, 1000)
	for i := range members {
		members[i] = state.Member{Key: strconv.Itoa(i), Value: state.Int(int64(i))}
	}
	old := state.Object(members...)
	next := old.With("700", state.Null()).With("z", state.Int(1)).Without("30").With("y", state.Int(2)).With("4", state.Bool(true))
	const want = `[{"op":"replace","path":"/4","value":true},{"op":"remove","path":"/30"},{"op":"replace","path":"/700","value":null},` +
		`{"op":"add","path":"/z","value":1},{"op":"add","path":"/y","value":2}]`
	assert.Equal(t, want, state.Diff(old, next).Value().String())
	assert.Equal(t, want, state.Diff(parse(old.String()), parse(next.String())).Value().String(), "nothing is shared")
}

func TestDiffThenApplyOfNeighbors(t *testing.T) {
	for seed := range uint64(400) {
		r := seeded(seed)
		old := randomValue(r, 4)
		new := old
		for range r.IntN(6) {
			new, _ = new.Apply(randomPatch(r, new))
		}
		diffApplies(t, old, new)
		diffApplies(t, old, parse(new.String()))
		diffApplies(t, old, randomValue(r, 4))
	}
}

// diffApplies checks that the patch makes old into new, and that no second one is needed, which says
// that the digits of numbers are those of new too.
func diffApplies(t *testing.T, old, new state.Value) {
	t.Helper()
	patch := state.Diff(old, new)
	got, err := old.Apply(patch)
	require.NoError(t, err, "%s to %s by %s", old, new, patch.Value())
	require.True(t, new.Equal(got), "%s to %s by %s gave %s", old, new, patch.Value(), got)
	require.Empty(t, state.Diff(got, new))
}

func TestDiffAlignsWhatMovedInALargeArray(t *testing.T) {
	old := must(state.Parse(todo(20_000)))
	moved := must(old.Apply(patchOf(`[{"op":"move","from":"/items/50","path":"/items/19000"}]`)))
	patch := state.Diff(old, moved)
	require.Len(t, patch, 2)
	assert.Equal(t, state.Op{Kind: state.OpRemove, Path: "/items/50"}, patch[0])
	assert.Equal(t, "/items/19000", patch[1].Path)
	assert.Equal(t, old.Get("items").Index(50).String(), patch[1].Value.String())
}

// doubled returns an array of 2^n leaves whose parts share memory.
func doubled(leaf string, n int) state.Value {
	v := state.Array(state.String(leaf))
	for range n {
		v = state.Array(v, v)
	}
	return v
}

func TestDiffIsBoundedWherePartsShareMemory(t *testing.T) {
	for name, leaf := range map[string]string{"equal leaves": "x", "other leaves": "y"} {
		t.Run(name, func(t *testing.T) {
			old, new := doubled("x", 40), doubled(leaf, 40)
			patch := state.DiffWithin(old, new, 10_000)
			assert.Less(t, len(patch), 1000)
			require.NotEmpty(t, patch)
			for _, op := range patch {
				require.Equal(t, state.OpReplace, op.Kind)
				require.True(t, state.Same(must(new.Lookup(op.Path)), op.Value))
			}
		})
	}
}

func TestDiffThatRunsOutStaysCorrect(t *testing.T) {
	runOut := 0
	for seed := range uint64(300) {
		r := seeded(seed)
		old := randomValue(r, 4)
		next, _ := old.Apply(randomPatch(r, old))
		for _, new := range []state.Value{next, parse(next.String()), randomValue(r, 4)} {
			full := state.Diff(old, new)
			for _, budget := range []int{0, 1, 7, 40, 150, 600} {
				patch := state.DiffWithin(old, new, budget)
				got, err := old.Apply(patch)
				require.NoError(t, err)
				require.True(t, new.Equal(got), "%s to %s by %s gave %s", old, new, patch.Value(), got)
				require.LessOrEqual(t, len(patch), 1+2*budget/16)
				if patch.Value().String() != full.Value().String() {
					runOut++
				}
			}
		}
	}
	assert.Greater(t, runOut, 300)
}

func FuzzDiff(f *testing.F) {
	f.Add([]byte(`{"a":[1,2,3],"b":{"c":1}}`), []byte(`{"a":[1,3],"b":{"c":2},"d":0}`))
	f.Add([]byte(`[1,2,3,4]`), []byte(`[0,1,2,3,5,4]`))
	f.Add([]byte(`[{"a":1},{"b":2}]`), []byte(`[{"b":2},{"a":1.0}]`))
	f.Add([]byte(`1`), []byte(`{}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		old, err := state.Parse(a)
		if err != nil {
			return
		}
		new, err := state.Parse(b)
		if err != nil {
			return
		}
		diffApplies(t, old, new)
		diffApplies(t, new, old)
	})
}
