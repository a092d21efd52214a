package main

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/agfold/agfold/cmd/agfold/internal/transcript"
)

// terminal is what a command reads from and writes to. It is for one goroutine at a time.
type terminal struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	width          int  // of the terminal that stdout is, 0 if it is none
	color          bool // stdout is a terminal that shows colours
	live           bool // stderr is a terminal, on which progress can be drawn
	now            func() time.Time
}

// maxWidth is how wide text is set at most: longer lines are hard to read.
const maxWidth = 110

// systemTerminal is that of the process.
func systemTerminal() *terminal {
	t := &terminal{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, now: time.Now}
	dumb := os.Getenv("TERM") == "dumb"
	if fd := int(os.Stdout.Fd()); term.IsTerminal(fd) {
		t.width = transcript.DefaultWidth
		if w, _, err := term.GetSize(fd); err == nil && w > 0 {
			t.width = min(w, maxWidth)
		}
		t.color = !dumb && os.Getenv("NO_COLOR") == ""
	}
	t.live = !dumb && term.IsTerminal(int(os.Stderr.Fd()))
	return t
}

// print writes text to standard output and returns the exit status that comes of it.
func (t *terminal) print(text string) int {
	_, err := io.WriteString(t.stdout, text)
	return t.written(err)
}

// written returns the exit status for an error in writing to standard output. That nobody reads any more,
// as behind "| head", is said to nobody.
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
