package reducer

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestBufferRoom(t *testing.T) {
	b := newBuffer("start")
	for range 1000 {
		b.append(" and on")
	}
	b.b = append(make([]byte, 0, 2*len(b.b)), b.b...)
	before := b.String()
	assert.True(t, b.clip())
	assert.Equal(t, len(b.b), cap(b.b), "no room is left")
	assert.Equal(t, before, b.String())
	assert.False(t, b.clip(), "there is nothing to give back")
	b.append("!")
	assert.Equal(t, "start"+strings.Repeat(" and on", 1000), before, "what was given out stays")
	assert.Equal(t, before+"!", b.String())

	short := newBuffer("")
	short.append("hi")
	assert.False(t, short.clip(), "a few bytes are not worth a copy")

	long := newBuffer(strings.Repeat("x", 10_000))
	long.b = append(make([]byte, 0, 10_100), long.b...)
	assert.False(t, long.clip(), "nor is a small part of much")
}
