package main

import (
	"fmt"
	"io"
	"time"
)

// A file smaller than progressBytes is read before anybody asks.
const progressBytes = 8 << 20

// progressEvery is how often progress is drawn at most.
const progressEvery = 100 * time.Millisecond

// progress draws on a terminal's last line how much of a file was read. It stands before the file's reader
// and before the terminal's standard error, so that what others write there is not mixed with it.
type progress struct {
	t      *terminal
	r      io.Reader
	out    io.Writer // standard error itself
	name   string
	total  int64
	read   int64
	events int
	last   time.Time
	drawn  bool
}

// Read reads on and draws how far.
func (p *progress) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	p.read += int64(n)
	if now := p.t.now(); now.Sub(p.last) >= progressEvery {
		p.last = now
		p.drawn = true
		fmt.Fprintf(p.out, "\r\x1b[K%s  %3d%%  %d of %d MB  %d events", p.name, 100*p.read/max(p.total, 1),
			p.read>>20, p.total>>20, p.events)
	}
	return n, err
}

// Write writes to standard error with the progress out of the way.
func (p *progress) Write(b []byte) (int, error) {
	p.clear()
	return p.out.Write(b)
}

// clear takes the progress off the terminal.
func (p *progress) clear() {
	if p.drawn {
		io.WriteString(p.out, "\r\x1b[K")
		p.drawn = false
	}
}
