package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"

	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/recording"
)

// openRecording opens a file and says how large it is, 0 if that is not known. The error does not name the file.
func openRecording(ctx context.Context, name string, t *terminal) (io.ReadCloser, int64, error) {
	if name == "-" {
		return io.NopCloser(openFile(ctx, name, t)), 0, nil
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, 0, unnamed(err)
	case info.IsDir():
		return nil, 0, errors.New("is a directory")
	case !info.Mode().IsRegular():
		return io.NopCloser(openFile(ctx, name, t)), 0, nil
	}
	f, err := os.Open(name)
	return f, info.Size(), unnamed(err)
}

// unnamed returns an error about a file without the file's name.
func unnamed(err error) error {
	if named, ok := errors.AsType[*os.PathError](err); ok {
		return named.Err
	}
	return err
}

// source is a recording that a command reads.
type source struct {
	rec  *recording.Recording
	file io.Closer
	size int64 // of the file, 0 if it is not known
}

// openSource opens a recording, or says why it cannot be read.
func openSource(ctx context.Context, name string, maxEvent int, t *terminal) (*source, bool) {
	file, size, err := openRecording(ctx, name, t)
	if err != nil {
		t.say("agfold: %s: %v", name, err)
		return nil, false
	}
	rec, err := recording.Open(file, &recording.Options{MaxEventBytes: maxEvent << 20})
	if err != nil {
		file.Close()
		t.say("agfold: %s: %v", name, advised(err))
		return nil, false
	}
	return &source{rec: rec, file: file, size: size}, true
}

// recordingWriter writes the lines of a recording to standard output. Control characters become escapes that mean the same.
type recordingWriter struct {
	out  *term.Writer
	line []byte
	n    int64
}

func (w *recordingWriter) Write(p []byte) (int, error) {
	w.n += int64(len(p))
	for rest := p; ; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		w.line = append(w.line, line...)
		if !whole {
			return len(p), nil
		}
		rest = after
		if err := w.print(); err != nil {
			return 0, err
		}
	}
}

func (w *recordingWriter) print() error {
	defer func() { w.line = w.line[:0] }()
	if bytes.ContainsFunc(w.line, func(c rune) bool { return c < ' ' && c != '\t' }) { // not JSON
		return w.out.Print(term.Clean(string(w.line)), term.Lit("\n"))
	}
	return w.out.JSON(w.line)
}
