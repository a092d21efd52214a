package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/reducer"
)

func TestOneIsSingular(t *testing.T) {
	var stderr bytes.Buffer
	on := newTerminal(nil, &bytes.Buffer{}, &stderr)
	c := &conversation{t: on, f: &runFlags{Timeout: time.Second}, seen: 1}
	for _, cause := range []error{context.Canceled, context.DeadlineExceeded} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		stderr.Reset()
		c.verdict(ctx, &reducer.Thread{}, nil)
		on.stderr.Flush()
		assert.Contains(t, stderr.String(), " 1 event: ")
	}

	stderr.Reset()
	p := newProgress(on, strings.NewReader("x"), "file", 1)
	p.events, p.last = 1, p.last.Add(-progressEvery)
	_, err := p.Read(make([]byte, 1))
	assert.NoError(t, err)
	assert.True(t, strings.HasSuffix(stderr.String(), " 1 event"), "%q", stderr.String())

	for range 2 {
		c.warnings.add(event.Warning{Rule: "P-ENF-1", Text: "no"})
	}
	assert.Contains(t, c.warnings.note().String(), "2 warnings, the last: ")
}
