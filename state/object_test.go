package state_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/state"
)

func TestWithKeepsThePlaceOfMembers(t *testing.T) {
	v := parse(`{"a":1,"b":2,"c":3}`)
	assert.Equal(t, `{"a":1,"b":true,"c":3}`, v.With("b", state.Bool(true)).String())
	assert.Equal(t, `{"a":1,"b":2,"c":3,"d":4}`, v.With("d", state.Int(4)).String())
	assert.Equal(t, `{"a":1,"c":3}`, v.Without("b").String())
	assert.Equal(t, `{"a":1,"c":3}`, v.With("b", state.Value{}).String())
	assert.Equal(t, `{"a":1,"b":2,"c":3}`, v.String())
	assert.True(t, state.Same(v, v.Without("x")))
}

// TestObjectsOfAnySize changes an object at random beside a plain list of members.
func TestObjectsOfAnySize(t *testing.T) {
	for seed := range uint64(20) {
		r := seeded(seed)
		v := state.Object()
		var model []state.Member
		for i := range 600 {
			key := "k" + strconv.Itoa(r.IntN(60))
			at := -1
			for j, m := range model {
				if m.Key == key {
					at = j
				}
			}
			val := state.Int(int64(i))
			if r.IntN(5) < 3 || i < 100 {
				v = v.With(key, val)
				if at >= 0 {
					model[at].Value = val
				} else {
					model = append(model, state.Member{Key: key, Value: val})
				}
			} else {
				v = v.Without(key)
				if at >= 0 {
					model = append(model[:at:at], model[at+1:]...)
				}
			}
			want := "{"
			for j, m := range model {
				if j > 0 {
					want += ","
				}
				want += fmt.Sprintf("%q:%s", m.Key, m.Value)
				require.True(t, state.Same(m.Value, v.Get(m.Key)))
			}
			require.Equal(t, want+"}", v.String())
			require.Equal(t, len(model), v.Len())
		}
	}
}

func TestMembersStopsOnBreak(t *testing.T) {
	for _, n := range []int{3, 100} {
		v := state.Object()
		for i := range n {
			v = v.With(strconv.Itoa(i), state.Null())
		}
		seen := 0
		for range v.Members() {
			if seen++; seen == 2 {
				break
			}
		}
		assert.Equal(t, 2, seen)
	}
}
