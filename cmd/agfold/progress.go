package main

import (
	"io"
	"time"

	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/cmd/agfold/internal/transcript"
)

// progressBytes is the least size of a file for which progress is drawn; a smaller file is read too fast.
const progressBytes = 8 << 20

// progressEvery is the shortest time between two drawings of the progress.
const progressEvery = 100 * time.Millisecond

// progress draws on a terminal's last line how much of a file was read. It wraps the file's reader, and clears the line
// before anything else is written to standard error.
type progress struct {
	t      *terminal
	r      io.Reader
	name   string
	total  int64
	read   int64
	events int
	last   time.Time
	drawn  bool
}

// newProgress returns the progress of reading r. It must be closed.
func newProgress(t *terminal, r io.Reader, name string, total int64) *progress {
	p := &progress{t: t, r: r, name: name, total: total, last: t.now()}
	t.stderr.Before(p.clear)
	return p
}

// Read implements io.Reader and draws the progress.
func (p *progress) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	p.read += int64(n)
	if now := p.t.now(); now.Sub(p.last) >= progressEvery {
		p.last = now
		p.draw(term.Sprintf("%s  %3d%%  %d of %d MB  %s", p.name, 100*p.read/max(p.total, 1),
			p.read>>20, p.total>>20, transcript.Count(p.events, "event")))
	}
	return n, err
}

// clear takes the progress off the terminal.
func (p *progress) clear() {
	if p.drawn {
		p.draw(term.Text{})
	}
}

func (p *progress) draw(line term.Text) {
	if p.t.errWidth > 0 {
		line = line.Clip(p.t.errWidth - 1)
	}
	p.drawn = false
	p.t.stderr.Print(term.Lit("\r\x1b[K"), line)
	p.t.stderr.Flush()
	p.drawn = !line.Empty()
}

// close takes the progress off the terminal for good.
func (p *progress) close() {
	p.clear()
	p.t.stderr.Before(nil)
}
