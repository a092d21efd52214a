package conformance

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/state"
)

func TestSubset(t *testing.T) {
	for _, row := range []struct {
		rule, want, got string
		holds           bool
	}{
		{"objects are compared on the keys that are named", `{"a":1}`, `{"a":1,"b":2}`, true},
		{"a named key must be there", `{"a":1}`, `{"b":2}`, false},
		{"a named null must be there", `{"a":null}`, `{}`, false},
		{"arrays have equal lengths", `[1]`, `[1,2]`, false},
		{"arrays are compared element by element", `[{"a":1},2]`, `[{"a":1,"b":0},2]`, true},
		{"the order of an array counts", `[1,2]`, `[2,1]`, false},
		{"an object is not an array", `{}`, `[]`, false},
		{"an array is not an object", `[]`, `{}`, false},
		{"numbers are compared by value", `1.0`, `1`, true},
		{"strings are compared whole", `"a"`, `"ab"`, false},
	} {
		t.Run(row.rule, func(t *testing.T) {
			assert.Equal(t, row.holds, subset(parse(t, row.want), parse(t, row.got)))
		})
	}
}

func TestAt(t *testing.T) {
	v := parse(t, `{"a":[{"b":1}],"0":2}`)
	assert.Equal(t, "1", at(v, []string{"a", "0", "b"}).String())
	assert.Equal(t, "2", at(v, []string{"0"}).String())
	assert.False(t, at(v, []string{"a", "1", "b"}).Exists())
}

func parse(t *testing.T, text string) state.Value {
	v, err := state.Parse([]byte(text))
	require.NoError(t, err)
	return v
}
