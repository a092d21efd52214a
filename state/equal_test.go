package state_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agfold/agfold/state"
)

func TestEqual(t *testing.T) {
	tests := []struct {
		name, a, b string
		want       bool
	}{
		{"numbers by value", `[1,1.0,10e-1,0.1e1]`, `[1.0,1,1,1]`, true},
		{"zeros", `[0,-0,0.0,0e999]`, `[-0,0e-5,0,0]`, true},
		{"signs differ", `1`, `-1`, false},
		{"beyond float64", `1e400`, `10e399`, true},
		{"integers beyond float64", `9007199254740993`, `9007199254740992`, false},
		{"a huge exponent", `1e1000000000`, `1`, false},
		{"the same huge exponent", `1e1000000000`, `10e999999999`, true},
		{"exponents beyond int64", `1e100000000000000000000`, `0.1e100000000000000000001`, true},
		{"different exponents beyond int64", `1e100000000000000000000`, `1e-100000000000000000000`, false},
		{"order of members", `{"a":1,"b":2}`, `{"b":2,"a":1}`, true},
		{"order of elements", `[1,2]`, `[2,1]`, false},
		{"another key", `{"a":1}`, `{"b":1}`, false},
		{"fewer members", `{"a":1,"b":1}`, `{"a":1}`, false},
		{"another kind", `"1"`, `1`, false},
		{"null and false", `null`, `false`, false},
		{"deep", `[[{"a":[1e1]}]]`, `[[{"a":[10]}]]`, true},
		{"a lone surrogate and its replacement", `"\ud83d"`, `"\ufffd"`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, parse(tt.a).Equal(parse(tt.b)))
			assert.Equal(t, tt.want, parse(tt.b).Equal(parse(tt.a)))
		})
	}
	assert.True(t, state.Value{}.Equal(state.Value{}))
	assert.False(t, state.Value{}.Equal(state.Null()))
}

func TestEqualOfLargeObjects(t *testing.T) {
	build := func(n int, backwards bool) state.Value {
		members := make([]state.Member, n)
		for i := range members {
			at := i
			if backwards {
				at = n - 1 - i
			}
			members[at] = state.Member{Key: strconv.Itoa(i), Value: state.Int(int64(i))}
		}
		return state.Object(members...)
	}
	v := build(200, false)
	assert.True(t, v.Equal(build(200, true)))
	assert.False(t, v.Equal(build(200, true).With("7", state.Int(-1))))
	assert.False(t, v.Equal(build(200, true).Without("7").With("x", state.Int(7))))
	shrunk := v
	for i := 10; i < 200; i++ {
		shrunk = shrunk.Without(strconv.Itoa(i))
	}
	assert.True(t, shrunk.Equal(build(10, true)), "shrunk to a small one")
}
