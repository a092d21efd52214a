package main

import (
	"context"
	"fmt"
	"io"
	"os"
)

// maxInputFile is the size limit of a file that a flag names, in bytes.
const maxInputFile = 64 << 20

// openFile returns a reader of a file, or of standard input for "-", that fails once ctx is done. The first read opens the file,
// because opening a FIFO blocks until a writer opens it; the file is closed at its end or when ctx ends.
func openFile(ctx context.Context, name string, t *terminal) io.Reader {
	if name == "-" {
		return interruptible(ctx, t.stdin)
	}
	return interruptible(ctx, &lazyFile{name: name})
}

// readFile reads a file, or standard input for "-", of a bounded size.
func readFile(ctx context.Context, name string, t *terminal) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(openFile(ctx, name, t), maxInputFile+1))
	if err == nil && len(data) > maxInputFile {
		return nil, fmt.Errorf("the file holds more than %d MiB", maxInputFile>>20)
	}
	return data, err
}

// lazyFile is a file that the first Read opens.
type lazyFile struct {
	name string
	file *os.File
}

func (f *lazyFile) Read(b []byte) (n int, err error) {
	if f.file == nil {
		if f.file, err = os.Open(f.name); err != nil {
			return 0, err
		}
	}
	return f.file.Read(b)
}

func (f *lazyFile) Close() error { return f.file.Close() } // a nil file returns an error

// interruptible returns a reader of r that fails once ctx is done, even while a read from a terminal or pipe
// blocks. The goroutine of a blocked read stays: the process is about to end.
func interruptible(ctx context.Context, r io.Reader) io.Reader {
	return &pump{ctx: ctx, src: r, chunks: make(chan chunk), wanted: make(chan struct{})}
}

// pump reads in its own goroutine, one chunk for each request.
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

// Read implements io.Reader. Once the context is done it returns the context's error.
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
	if file, ok := p.src.(*lazyFile); ok {
		defer file.Close()
	}
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
