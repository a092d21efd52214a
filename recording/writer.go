package recording

import (
	"errors"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/jsontext"
	"github.com/agfold/agfold/reducer"
)

// Writer writes recordings of [FormAgfold]. It is safe for concurrent use, but runs written at the same
// time cannot be told apart afterwards.
type Writer struct {
	mu    sync.Mutex
	w     io.Writer
	begun bool
	buf   []byte
}

// NewWriter returns a Writer that appends to w. Every line is one call of w's Write, followed by one of
// its Flush if it has a method Flush() error, so that a crash loses no more than the last line. A file
// that is not empty is gone on with on a line of its own.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Head begins a run with its input, which may be nil, and the time of its start. The error is w's.
func (w *Writer) Head(in *event.RunInput, start time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	buf := w.buf[:0]
	if !w.begun && !isEmpty(w.w) {
		buf = append(buf, '\n')
	}
	w.begun = true
	buf = append(buf, `{"agfold":"`+format+`","start":"`...)
	buf = start.AppendFormat(buf, time.RFC3339Nano)
	buf = append(buf, '"')
	if in != nil {
		buf = append(buf, `,"input":`...)
		buf = in.AppendJSON(buf)
	}
	return w.line(append(buf, '}'))
}

// isEmpty reports whether w is a new file, or something that cannot tell.
func isEmpty(w io.Writer) bool {
	file, ok := w.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		return true
	}
	info, err := file.Stat()
	return err != nil || info.Size() == 0
}

// Event appends an event that came a time after the run's start; less than 0 counts as 0. Its JSON text is
// written as it is, with line ends between its tokens as spaces; data that is not an event is written as a string, so
// that it is rejected again. A notice has no text and is left out. The error is w's.
func (w *Writer) Event(ev event.Event, at time.Duration) error {
	f := event.FrameOfEvent(ev)
	data := f.Data()
	if data == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if f.Err() != nil {
		buf := append(appendAt(w.buf[:0], at), `,"data":`...)
		return w.line(append(event.Append(buf, f), '}'))
	}
	buf := append(appendAt(w.buf[:0], at), `,"event":`...)
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
// whether that matches reducer.ErrTruncated. The error is w's.
func (w *Writer) Error(cause error, at time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	buf := append(appendAt(w.buf[:0], at), `,"error":`...)
	buf = jsontext.AppendString(buf, strings.ToValidUTF8(cause.Error(), "\uFFFD"))
	if errors.Is(cause, reducer.ErrTruncated) {
		buf = append(buf, `,"truncated":true`...)
	}
	return w.line(append(buf, '}'))
}

// appendAt begins a line.
func appendAt(buf []byte, at time.Duration) []byte {
	return strconv.AppendFloat(append(buf, `{"at":`...), float64(max(0, at).Microseconds())/1e3, 'f', -1, 64)
}

// line writes the line in buf, which it keeps to be used again.
func (w *Writer) line(buf []byte) error {
	buf = append(buf, '\n')
	w.buf = buf[:0]
	if cap(buf) > 1<<20 {
		w.buf = nil
	}
	if _, err := w.w.Write(buf); err != nil {
		return err
	}
	if f, ok := w.w.(interface{ Flush() error }); ok {
		return f.Flush()
	}
	return nil
}
