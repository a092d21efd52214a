package state_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/agfold/agfold/state"
)

// randomValue returns a value of at most depth levels. Keys and scalars come from a small stock, so
// that two values have things in common; now and then a container is large.
func randomValue(r *rand.Rand, depth int) state.Value {
	kinds := 8
	if depth <= 0 {
		kinds = 5
	}
	switch r.IntN(kinds) {
	case 0:
		return state.Null()
	case 1:
		return state.Bool(r.IntN(2) == 0)
	case 2:
		return state.Int(int64(r.IntN(5)))
	case 3:
		return parse([]string{"1", "1.0", "10e-1", "2.50", "-0", "0", "1e400", "9007199254740993"}[r.IntN(8)])
	case 4:
		return state.String([]string{"", "a", "é", "<&>", "\xed\xa0\xbd", "line\nbreak"}[r.IntN(6)])
	case 5:
		items := make([]state.Value, size(r))
		for i := range items {
			items[i] = randomValue(r, depth-1-len(items)/10)
		}
		return state.Array(items...)
	}
	members := make([]state.Member, size(r))
	for i := range members {
		members[i] = state.Member{Key: randomKey(r, len(members)), Value: randomValue(r, depth-1-len(members)/10)}
	}
	return state.Object(members...)
}

func size(r *rand.Rand) int {
	if r.IntN(8) == 0 {
		return r.IntN(90)
	}
	return r.IntN(4)
}

func randomKey(r *rand.Rand, n int) string {
	keys := []string{"a", "b", "", "a/b", "m~n", "0", "-", "é"}
	if i := r.IntN(len(keys) + n); i < len(keys) {
		return keys[i]
	}
	return "key " + strconv.Itoa(r.IntN(2*n))
}

// randomPointer walks into v at random; the last token may lead to nothing.
func randomPointer(r *rand.Rand, v state.Value) string {
	p := ""
	for {
		switch v.Kind() {
		case state.KindArray:
			i := r.IntN(v.Len() + 1)
			if i == v.Len() && r.IntN(2) == 0 {
				return p + state.Pointer("-")
			}
			p += state.Pointer(strconv.Itoa(i))
			v = v.Index(i)
		case state.KindObject:
			key := randomKey(r, 4)
			if v.Len() > 0 && r.IntN(3) > 0 {
				at := r.IntN(v.Len())
				for k := range v.Members() {
					if at == 0 {
						key = k
					}
					at--
				}
			}
			p += state.Pointer(key)
			v = v.Get(key)
		default:
			return p
		}
		if r.IntN(3) == 0 {
			return p
		}
	}
}

// randomPatch returns operations most of which fit v.
func randomPatch(r *rand.Rand, v state.Value) state.Patch {
	kinds := []state.OpKind{state.OpAdd, state.OpAdd, state.OpRemove, state.OpReplace, state.OpMove, state.OpCopy, state.OpTest}
	var patch state.Patch
	for range 1 + r.IntN(4) {
		op := state.Op{Kind: kinds[r.IntN(len(kinds))], Path: randomPointer(r, v)}
		switch op.Kind {
		case state.OpMove, state.OpCopy:
			op.From = randomPointer(r, v)
		case state.OpAdd, state.OpReplace:
			op.Value = randomValue(r, 2)
		case state.OpTest:
			op.Value = must2(v.Lookup(op.Path))
			if !op.Value.Exists() {
				op.Value = state.Null()
			}
		}
		patch = append(patch, op)
		if next, err := v.Apply(state.Patch{op}); err == nil {
			v = next
		}
	}
	return patch
}

func must2(v state.Value, _ error) state.Value { return v }

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }

func parse(text string) state.Value {
	v, err := state.Parse([]byte(text))
	if err != nil {
		panic(fmt.Sprintf("%s: %v", text, err))
	}
	return v
}
