package sse

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestKeptDataStaysAsItWas(t *testing.T) {
	var k Keeper
	var kept [][]byte
	src := make([]byte, 3000)
	for i := range 500 {
		for j := range src {
			src[j] = byte(i)
		}
		kept = append(kept, k.Keep(src[:i*6]))
	}
	for i, got := range kept {
		assert.Equal(t, bytes.Repeat([]byte{byte(i)}, i*6), append([]byte{}, got...), i)
		assert.Equal(t, len(got), cap(got), "appending must not reach the next piece")
	}
}

func TestKeepingShortDataRarelyAllocates(t *testing.T) {
	var k Keeper
	data := make([]byte, 80)
	assert.Less(t, testing.AllocsPerRun(1000, func() { k.Keep(data) }), 0.1)
}
