package term

import (
	"bufio"
	"io"
)

// Writer writes texts. It keeps the first error and writes nothing after it. It is for one goroutine at a time.
type Writer struct {
	b      *bufio.Writer
	before func()
}

// NewWriter returns a Writer that collects what it writes to w until [Writer.Flush].
func NewWriter(w io.Writer) *Writer { return &Writer{b: bufio.NewWriterSize(w, 32<<10)} }

// Before sets a function that is called before anything is written, nil for none.
func (w *Writer) Before(f func()) { w.before = f }

// Print writes texts and returns the first error so far.
func (w *Writer) Print(parts ...Text) (err error) {
	if w.before != nil {
		w.before()
	}
	for _, part := range parts {
		_, err = w.b.WriteString(part.s)
	}
	return err
}

// JSON writes a JSON text on its own line, cleaned as by [JSON]. It returns the first error so far.
func (w *Writer) JSON(text []byte) error {
	if w.before != nil {
		w.before()
	}
	w.b.Write(cleanJSON(text))
	return w.b.WriteByte('\n')
}

// Flush passes on what was written and returns the first error of the underlying writer.
func (w *Writer) Flush() error { return w.b.Flush() }
