package compare

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agfold/agfold/state"
)

// said makes messages; a text that begins with "u" is the user's, others are the assistant's.
func said(texts ...string) state.Value {
	var list []state.Value
	for _, text := range texts {
		role := "assistant"
		if text[0] == 'u' {
			role = "user"
		}
		list = append(list, state.Object(state.Member{Key: "role", Value: state.String(role)}, state.Member{Key: "content", Value: state.String(text)}))
	}
	return state.Array(list...)
}

func TestAlign(t *testing.T) {
	for _, row := range []struct {
		name string
		a, b state.Value
		want []Pair
	}{
		{"nothing", said(), said(), nil},
		{"the same", said("u1", "a1"), said("u1", "a1"), []Pair{{0, 0}, {1, 1}}},
		{"more in front", said("a1"), said("u1", "u2", "a1"), []Pair{{-1, 0}, {-1, 1}, {0, 2}}},
		{"fewer in front, with a message that stays before them", said("u0", "u1", "u2", "a1"), said("u0", "a2"), []Pair{{0, 0}, {1, -1}, {2, -1}, {3, 1}}},
		{"more before one of the same kind", said("u0", "a1"), said("u0", "u1", "a2"), []Pair{{0, 0}, {-1, 1}, {1, 2}}},
		{"other kinds", said("u1"), said("a1"), []Pair{{0, -1}, {-1, 0}}},
		{"the equal one rather than one of its kind", said("a1", "u9"), said("a2", "a1", "a3"), []Pair{{-1, 0}, {0, 1}, {1, -1}, {-1, 2}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.ElementsMatch(t, row.want, align(row.a, row.b))
			var mirrored []Pair
			for _, p := range row.want {
				mirrored = append(mirrored, Pair{p.B, p.A})
			}
			assert.ElementsMatch(t, mirrored, align(row.b, row.a), "the other way around")
		})
	}
}

// Lists that are too long for the table are paired by place, and what the shorter one lacks has no partner.
func TestAlignByPlace(t *testing.T) {
	var short, long []string
	for i := range 2100 {
		short, long = append(short, fmt.Sprint("a", i)), append(long, fmt.Sprint("b", i))
	}
	long = append(long, "u1", "u2")
	pairs := align(said(short...), said(long...))
	assert.Equal(t, []Pair{{2099, 2099}, {-1, 2100}, {-1, 2101}}, pairs[len(pairs)-3:])
	pairs = align(said(long...), said(short...))
	assert.Equal(t, []Pair{{2099, 2099}, {2100, -1}, {2101, -1}}, pairs[len(pairs)-3:])
}
