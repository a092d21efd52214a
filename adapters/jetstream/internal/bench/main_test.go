package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Every measurement runs; its figures are for people.
func TestMeasure(t *testing.T) {
	require.NoError(t, measure(t.Context(), size{events: 300, tail: 300, latencies: 10, followers: []int{1, 2}, idle: 3}))
}
