package protobuf_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/event/protobuf"
	"github.com/agfold/agfold/state"
)

// inArrays returns a snapshot of a text in arrays.
func inArrays(size, depth int) *event.StateSnapshot {
	v := state.String(strings.Repeat("x", size))
	for range depth {
		v = state.Array(v)
	}
	return &event.StateSnapshot{Snapshot: v}
}

// A text is moved once, however deep it is.
func BenchmarkAppendByDepth(b *testing.B) {
	for _, depth := range []int{1, 100, 400} {
		b.Run(fmt.Sprintf("Depth=%d", depth), func(b *testing.B) {
			ev := inArrays(1<<20, depth)
			var dst []byte
			for b.Loop() {
				var err error
				dst, _, err = protobuf.Binding{}.Append(dst[:0], ev)
				require.NoError(b, err)
			}
		})
	}
}

func TestLengthsOfNestedFields(t *testing.T) {
	for _, size := range []int{0, 1, 100, 127, 128, 16383, 16384, 1 << 21} { // lengths of one to four bytes
		for _, depth := range []int{1, 2, 60, 400} {
			ev := inArrays(size, depth)
			text, _, err := protobuf.Binding{}.Append([]byte("before"), ev)
			require.NoError(t, err)
			require.Equal(t, "before", string(text[:6]))
			all := readAll(t, text[6:])
			require.Len(t, all, 1)
			require.True(t, valueOf(t, ev).Equal(valueOf(t, all[0])), "size %d, depth %d", size, depth)
		}
	}
}
