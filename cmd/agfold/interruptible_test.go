package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestInterruptEndsAReplay(t *testing.T) {
	long := write(t, "long.ndjson", ndjson(began, finished))
	var stdout, stderr bytes.Buffer
	status := run(cancelled(), []string{"replay", long, long}, newTerminal(nil, &stdout, &stderr))
	assert.Equal(t, exitInterrupted, status)
	assert.Equal(t, 1, strings.Count(stderr.String(), "stopped"), "the other files are left alone")
}

func TestInterruptibleReader(t *testing.T) {
	t.Run("reads what there is to read", func(t *testing.T) {
		text := strings.Repeat("0123456789", 20000)
		got, err := io.ReadAll(interruptible(t.Context(), strings.NewReader(text)))
		require.NoError(t, err)
		assert.Equal(t, text, string(got))
	})
	t.Run("passes an error on", func(t *testing.T) {
		_, err := io.ReadAll(interruptible(t.Context(), io.MultiReader(strings.NewReader("x"), errReader{})))
		assert.ErrorIs(t, err, errRead)
	})
	t.Run("ends with the context even if nothing is written", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, w := io.Pipe()
			defer w.Close()
			ctx, stop := context.WithTimeout(t.Context(), time.Hour)
			defer stop()
			var stderr bytes.Buffer
			status := run(ctx, []string{"replay", "-"}, newTerminal(r, io.Discard, &stderr))
			assert.Equal(t, exitInterrupted, status)
			assert.Equal(t, "agfold: -: stopped after event 0\n", stderr.String())
		})
	})
}

var errRead = errors.New("a bad sector")

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errRead }

func TestReadErrorKeepsWhatCame(t *testing.T) {
	var stdout, stderr bytes.Buffer
	status := run(t.Context(), []string{"replay", "-", "--json"}, newTerminal(io.MultiReader(strings.NewReader(began+"\n"), errReader{}), &stdout, &stderr))
	assert.Equal(t, exitUnreadable, status)
	assert.Contains(t, stderr.String(), errRead.Error())
	assert.Contains(t, stdout.String(), `"status":"truncated"`)
}

// cancelled returns a context that is done.
func cancelled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
