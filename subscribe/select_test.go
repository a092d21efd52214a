package subscribe_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/agfold/agfold/subscribe"
)

// filled returns a closed channel that holds items.
func filled[S any](items ...S) <-chan S {
	c := make(chan S, len(items))
	for _, s := range items {
		c <- s
	}
	close(c)
	return c
}

func TestSelect(t *testing.T) {
	length := func(s string) int { return len(s) }
	cases := []struct {
		name string
		in   []string
		want []int
	}{
		{"the first part comes even when it is the zero value", []string{""}, []int{0}},
		{"a part that stays the same comes once", []string{"a", "b", "c"}, []int{1}},
		{"each change comes, in order, back to an earlier part too", []string{"a", "b", "bb", "cc", "c"}, []int{1, 2, 1}},
		{"the final part comes before the channel closes", []string{"a", "b", "bb"}, []int{1, 2}},
		{"nothing in, nothing out", nil, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got []int
				for n := range subscribe.Select(t.Context(), filled(c.in...), length, subscribe.Equal) {
					got = append(got, n)
				}
				assert.Equal(t, c.want, got)
			})
		})
	}
	t.Run("equal may be any function and gets the part sent before", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			same := func(s string) string { return s }
			var got []string
			for s := range subscribe.Select(t.Context(), filled("Oslo", "OSLO", "Bergen", "bergen"), same, strings.EqualFold) {
				got = append(got, s)
			}
			assert.Equal(t, []string{"Oslo", "Bergen"}, got)
		})
	})
	t.Run("a slow consumer leaves the rest with the source", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			in := filled("a", "bb", "ccc")
			subscribe.Select(ctx, in, length, subscribe.Equal)
			synctest.Wait()
			assert.Len(t, in, 2)
		})
	})
	t.Run("the context ends it while it waits for the source", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			out := subscribe.Select(ctx, make(chan string), length, subscribe.Equal)
			cancel()
			_, open := <-out
			assert.False(t, open)
		})
	})
	t.Run("the context ends it when the consumer walked away", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			out := subscribe.Select(ctx, filled("a", "bb"), length, subscribe.Equal)
			synctest.Wait()
			cancel()
			synctest.Wait()
			_, open := <-out
			assert.False(t, open)
		})
	})
}
