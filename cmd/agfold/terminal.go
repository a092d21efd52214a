package main

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	xterm "golang.org/x/term"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/cmd/agfold/internal/transcript"
)

// terminal is what a command reads from and writes to. It is for one goroutine at a time.
type terminal struct {
	stdin          io.Reader
	stdout, stderr *term.Writer
	width          int         // of the terminal that stdout is, 0 if it is not one
	errWidth       int         // of the terminal that stderr is, 0 if it is not one
	color          term.Colors // stdout is a terminal that shows colors
	live           bool        // stderr is a terminal, on which progress can be drawn
	now            func() time.Time
	stage          stage
	errors         io.Writer        // what stderr writes to, for several goroutines
	debugList      string           // what debugVariable says
	debug          *client.DebugLog // nil if it is off
}

// newTerminal returns a terminal for files or pipes.
func newTerminal(stdin io.Reader, stdout, stderr io.Writer) *terminal {
	locked := &lockedWriter{w: stderr}
	return &terminal{stdin: stdin, stdout: term.NewWriter(stdout), stderr: term.NewWriter(locked), errors: locked, now: time.Now}
}

// minWidth is the least width that text is set in.
const minWidth = 24

// maxWidth is the greatest width that text is set in: longer lines are hard to read.
const maxWidth = 110

// systemTerminal is the terminal of the process.
func systemTerminal() *terminal {
	t := newTerminal(os.Stdin, os.Stdout, os.Stderr)
	t.debugList = os.Getenv(debugVariable)
	dumb := os.Getenv("TERM") == "dumb"
	if fd := int(os.Stdout.Fd()); xterm.IsTerminal(fd) {
		t.width = transcript.DefaultWidth
		if w, _, err := xterm.GetSize(fd); err == nil && w > 0 {
			t.width = min(w, maxWidth)
		}
		t.color = term.Colors(!dumb && os.Getenv("NO_COLOR") == "")
		if !dumb {
			t.stage.size = func() (int, int) {
				w, h, err := xterm.GetSize(fd)
				if err != nil || w <= 0 || h <= 0 {
					return 80, 24
				}
				return w, h
			}
		}
	}
	onTerminal := xterm.IsTerminal(int(os.Stderr.Fd()))
	if w, _, err := xterm.GetSize(int(os.Stderr.Fd())); err == nil && w > 0 {
		t.errWidth = max(w, minWidth)
	}
	t.live = !dumb && onTerminal
	t.stage.asks = onTerminal && xterm.IsTerminal(int(os.Stdin.Fd()))
	return t
}

// say writes one line to standard error, after what was written to standard output.
func (t *terminal) say(format term.Constant, args ...any) {
	t.tell(term.Sprintf(format, args...).Plus(term.Lit("\n")))
}

// tell writes a text to standard error, after what was written to standard output.
func (t *terminal) tell(text term.Text) {
	t.stdout.Flush()
	t.stderr.Print(text.Fold(t.errWidth))
	t.stderr.Flush()
}

// print writes text to standard output and returns the exit status.
func (t *terminal) print(text term.Text) int {
	t.stdout.Print(text)
	return t.written(t.stdout.Flush())
}

// written returns the exit status for an error in writing to standard output. If the reader is gone, as after
// "| head", it prints nothing.
func (t *terminal) written(err error) int {
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, syscall.EPIPE), errors.Is(err, io.ErrClosedPipe):
		return exitBrokenPipe
	}
	t.say("agfold: writing the output: %v", err)
	return exitUnreadable
}
