//go:build unix

package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	cursorHidden = "\x1b[?25l"
	cursorShown  = "\x1b[?25h"
)

// viewer is a process that draws the live view of a run into a pipe.
type viewer struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdout io.Reader
	seen   bytes.Buffer
}

func startViewer(t *testing.T) *viewer {
	cmd := exec.Command(os.Args[0], "-test.run=^TestViewerProcess$")
	cmd.Env = append(os.Environ(), "AGFOLD_TEST_VIEWER=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // the signals of a terminal go to a group
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill() })
	return &viewer{t: t, cmd: cmd, stdout: stdout}
}

// TestViewerProcess is the process.
func TestViewerProcess(t *testing.T) {
	if os.Getenv("AGFOLD_TEST_VIEWER") == "" {
		t.Skip("started by TestSignals")
	}
	ctx, stop := signal.NotifyContext(context.Background(), endSignals()...)
	defer stop()
	term := newTerminal(strings.NewReader(""), os.Stdout, os.Stderr)
	term.stage.size = func() (int, int) { return 80, 24 }
	os.Exit(run(ctx, []string{"run", "--pace", "10"}, term))
}

// await reads what the process writes up to a text.
func (v *viewer) await(text string) {
	v.t.Helper()
	buf := make([]byte, 4096)
	for !strings.Contains(v.seen.String(), text) {
		n, err := v.stdout.Read(buf)
		v.seen.Write(buf[:n])
		if n == 0 {
			require.NoError(v.t, err, "waiting for %q", text)
		}
	}
	_, rest, _ := strings.Cut(v.seen.String(), text)
	v.seen.Reset()
	v.seen.WriteString(rest)
}

// rest reads the rest of what the process writes.
func (v *viewer) rest() string {
	io.Copy(&v.seen, v.stdout)
	return v.seen.String()
}

func (v *viewer) signal(s os.Signal) { require.NoError(v.t, v.cmd.Process.Signal(s)) }

func TestSignals(t *testing.T) {
	for name, s := range map[string]syscall.Signal{"SIGINT": syscall.SIGINT, "SIGTERM": syscall.SIGTERM, "SIGHUP": syscall.SIGHUP} {
		t.Run(name+" ends the run with the cursor back", func(t *testing.T) {
			v := startViewer(t)
			v.await(cursorHidden)
			v.signal(s)
			assert.Contains(t, v.rest(), cursorShown)
			v.cmd.Wait()
			assert.Equal(t, exitInterrupted, v.cmd.ProcessState.ExitCode())
		})
	}
	t.Run("SIGQUIT ends the process with the cursor back", func(t *testing.T) {
		v := startViewer(t)
		v.await(cursorHidden)
		v.signal(syscall.SIGQUIT)
		assert.Contains(t, v.rest(), cursorShown)
		assert.Error(t, v.cmd.Wait())
	})
	t.Run("SIGTSTP stops the process with the cursor back, SIGCONT draws the view again", func(t *testing.T) {
		v := startViewer(t)
		v.await(cursorHidden)
		v.signal(syscall.SIGTSTP)
		v.await(cursorShown)
		var status syscall.WaitStatus
		_, err := syscall.Wait4(v.cmd.Process.Pid, &status, syscall.WUNTRACED, nil)
		require.NoError(t, err)
		assert.True(t, status.Stopped())
		v.signal(syscall.SIGCONT)
		v.await(cursorHidden)
		v.signal(syscall.SIGINT)
		assert.Contains(t, v.rest(), cursorShown)
		v.cmd.Wait()
		assert.Equal(t, exitInterrupted, v.cmd.ProcessState.ExitCode())
	})
}
