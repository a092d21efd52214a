package state

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// measured returns what size and height of v must be, found by walking all of it.
func measured(v Value) (size int, height int32) {
	switch v.Kind() {
	case KindArray:
		size = 2
		for _, e := range v.Elements() {
			s, h := measured(e)
			size += s + 1
			height = max(height, h)
		}
		return size, height + 1
	case KindObject:
		size = 2
		for key, m := range v.Members() {
			s, h := measured(m)
			size += s + len(key) + 4
			height = max(height, h)
		}
		return size, height + 1
	}
	return v.size(), 0
}

func nested(depth int) Value {
	v := Int(1)
	for range depth {
		v = Array(v)
	}
	return v
}

func TestSizeAndHeightStayExact(t *testing.T) {
	for _, start := range []Value{emptyObject, Array()} {
		r := rand.New(rand.NewPCG(3, 4))
		v := start
		for i := range 4000 {
			child := nested(r.IntN(4))
			n := v.Len()
			growing := i < 1000 || i > 2000 && i < 2500
			switch op := r.IntN(4); {
			case v.Kind() == KindObject && (op < 2 || growing):
				v = v.With(strconv.Itoa(r.IntN(300)), child)
			case v.Kind() == KindObject:
				v = v.Without(strconv.Itoa(r.IntN(300)))
			case op == 0 && n > 0:
				at := r.IntN(n)
				v = v.setElement(at, v.Index(at), child)
			case op == 1 || growing:
				v = v.insertElement(r.IntN(n+1), child)
			case n > 0:
				v = v.removeElement(r.IntN(n))
			}
			size, height := measured(v)
			require.Equal(t, size, v.size(), "size after step %d", i)
			require.Equal(t, height, v.height(), "height after step %d", i)
		}
	}
}
