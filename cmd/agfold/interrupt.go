package main

import (
	"context"
	"io"
)

// interruptible returns a reader of r that ends with the context even while r blocks, as a terminal or pipe
// does that nobody writes to. A blocked read of r is then left behind; the process is about to end.
func interruptible(ctx context.Context, r io.Reader) io.Reader {
	return &pump{ctx: ctx, src: r, chunks: make(chan chunk), wanted: make(chan struct{})}
}

// pump reads in a goroutine of its own, a chunk whenever one is wanted.
type pump struct {
	ctx    context.Context // of the command that reads
	src    io.Reader
	begun  bool
	wanted chan struct{}
	chunks chan chunk
	rest   chunk
}

type chunk struct {
	data []byte
	err  error
}

// Read implements io.Reader. Its error is the context's once that is done.
func (p *pump) Read(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	if !p.begun {
		p.begun = true
		go p.run()
	}
	if len(p.rest.data) == 0 && p.rest.err == nil {
		select {
		case p.wanted <- struct{}{}:
		case <-p.ctx.Done():
			return 0, p.ctx.Err()
		}
		select {
		case p.rest = <-p.chunks:
		case <-p.ctx.Done():
			return 0, p.ctx.Err()
		}
	}
	n := copy(b, p.rest.data)
	if p.rest.data = p.rest.data[n:]; len(p.rest.data) > 0 {
		return n, nil
	}
	return n, p.rest.err
}

func (p *pump) run() {
	buf := make([]byte, 64<<10)
	for {
		select {
		case <-p.wanted:
		case <-p.ctx.Done():
			return
		}
		n, err := p.src.Read(buf)
		select {
		case p.chunks <- chunk{buf[:n], err}:
		case <-p.ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}
