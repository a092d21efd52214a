package recording

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/jsontext"
	"github.com/agfold/agfold/reducer"
)

// Writer writes recordings of [FormAgfold]. All methods may be called concurrently, but runs written at the same time
// are mixed in the recording.
type Writer struct {
	mu   sync.Mutex
	w    io.Writer
	buf  []byte
	torn bool  // what is written may not end with a line end
	err  error // the first of w's

	file    *os.File // that Create opened, or nil
	piped   bool     // it has no past and is not locked
	created bool     // it is new, and nothing is in it
	replace bool     // the first event replaces what is in it
	head    []byte   // the head of the run, until then
}

// NewWriter returns a Writer that appends to w. Every line is one call of w's Write, followed by one of its Flush if it
// has a method Flush() error, so that a crash loses no more than the last line. If w is a file that is not empty, the
// first head begins with a line end.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w, torn: !isEmpty(w)} }

// isEmpty reports whether w is an empty file, or is not a file.
func isEmpty(w io.Writer) bool {
	file, ok := w.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		return true
	}
	info, err := file.Stat()
	return err != nil || info.Size() == 0
}

// Head begins a run with its input, which may be nil, and the time of its start. The head always begins a line, even if
// an earlier write failed half way. The error is that of the underlying writer.
func (w *Writer) Head(in *event.RunInput, start time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	buf := append(w.begin(), `{"agfold":"`+format+`","start":"`...)
	buf = start.AppendFormat(buf, time.RFC3339Nano)
	buf = append(buf, '"')
	if in != nil {
		buf = append(buf, `,"input":`...)
		buf = in.AppendJSON(buf)
	}
	buf = append(buf, '}')
	if w.replace {
		w.head = slices.Clone(buf)
		return nil
	}
	return w.line(buf)
}

// Event appends an event that came a time after the run's start; less than 0 counts as 0. Its JSON text is
// written as it is, with line ends between its tokens as spaces; data that is not an event is written as a string, so
// that it is rejected again. A notice has no text and is left out. The error is that of the underlying writer.
func (w *Writer) Event(ev event.Event, at time.Duration) error {
	f := event.FrameOfEvent(ev)
	data := f.Data()
	if data == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.replaceOld(); err != nil {
		return err
	}
	buf := appendAt(w.begin(), at)
	if f.Err() != nil {
		buf = append(buf, `,"data":`...)
		return w.line(append(event.Append(buf, f), '}'))
	}
	buf = append(buf, `,"event":`...)
	start := len(buf)
	buf = append(buf, data...)
	for i, c := range buf[start:] {
		if c == '\n' || c == '\r' {
			buf[start+i] = ' '
		}
	}
	return w.line(append(buf, '}'))
}

// Error ends a run with the text of the error that its stream ended with, a time after the run's start, and
// whether that matches reducer.ErrTruncated. The error is that of the underlying writer.
func (w *Writer) Error(cause error, at time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.replace {
		w.head = nil // a run of which nothing was received replaces nothing
		return nil
	}
	buf := append(appendAt(w.begin(), at), `,"error":`...)
	buf = jsontext.AppendString(buf, strings.ToValidUTF8(cause.Error(), "\uFFFD"))
	if errors.Is(cause, reducer.ErrTruncated) {
		buf = append(buf, `,"truncated":true`...)
	}
	return w.line(append(buf, '}'))
}

// Close closes the file that [Create] opened and returns the first error of writing or closing. Of a Writer from
// [NewWriter] it closes nothing. Closing again returns the same error.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return w.err
	}
	name := w.file.Name()
	empty := w.created && w.is(os.Lstat(name))
	open := empty && os.Remove(name) != nil // Windows does not remove an open file
	w.err = cmp.Or(w.err, w.file.Close())
	if open {
		if now, err := os.Lstat(name); err == nil && now.Size() == 0 {
			os.Remove(name)
		}
	}
	w.file = nil
	return w.err
}

// appendAt begins an entry.
func appendAt(buf []byte, at time.Duration) []byte {
	return strconv.AppendFloat(append(buf, `{"at":`...), float64(max(0, at).Microseconds())/1e3, 'f', -1, 64)
}

// begin returns the beginning of a line, in the buffer.
func (w *Writer) begin() []byte {
	if w.torn {
		return append(w.buf[:0], '\n')
	}
	return w.buf[:0]
}

// line writes the line in buf, which it keeps to be used again.
func (w *Writer) line(buf []byte) error {
	buf = append(buf, '\n')
	w.buf = buf[:0]
	if cap(buf) > 1<<20 {
		w.buf = nil
	}
	n, err := w.w.Write(buf)
	if f, ok := w.w.(interface{ Flush() error }); ok && err == nil {
		n, err = 1, f.Flush()
	}
	w.created = w.created && n == 0
	w.torn = err != nil && (w.torn || n > 0)
	w.err = cmp.Or(w.err, err)
	return err
}
