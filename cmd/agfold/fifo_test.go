//go:build unix

package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCtrlCEndsTheWaitForAFIFO(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	for _, args := range [][]string{
		{"run", "--input", fifo}, {"run", "--tools", fifo}, {"run", "--state", "@" + fifo}, {"run", "--continue", fifo},
	} {
		t.Run(strings.Join(args[:2], " "), func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan int, 1)
			go func() {
				var out bytes.Buffer
				done <- run(ctx, args, newTerminal(strings.NewReader(""), &out, &out))
			}()
			cancel()
			assert.Equal(t, exitInterrupted, <-done)
		})
	}
}
