package recording

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/jsontext"
	"github.com/agfold/agfold/state"
)

// Write writes entries to w as a recording of a form: [FormSSE], [FormLines], [FormArray], [FormObject] or
// [FormAgfold]. input is that of the recording, or nil; see [Recording.Input].
//
// Only FormAgfold holds heads, times and the errors that streams ended with. Elsewhere times and errors are left out.
// FormObject holds the first run's input. An input that has no other place becomes that of the run's RUN_STARTED, unless
// that has one: its messages are then in the thread, but a state that the client changed between runs is not (D-7).
//
// What is an error of entries is returned after what came before it was written, in a complete form. Otherwise the error
// is w's, or says that the form is none of those.
func Write(w io.Writer, form Form, input *event.RunInput, entries iter.Seq2[Entry, error]) error {
	b := bufio.NewWriterSize(w, 64<<10)
	f := &formWriter{b: b, form: form, input: input}
	switch form {
	case FormAgfold:
		f.agfold = NewWriter(struct{ io.Writer }{b}) // without Flush
	case FormSSE, FormLines, FormArray, FormObject:
	default:
		return fmt.Errorf("the form %q cannot be written", form)
	}
	var cause error
	for e, err := range entries {
		if err != nil {
			cause = err
			break
		}
		if err := f.entry(e); err != nil {
			return err
		}
	}
	f.end()
	if err := b.Flush(); err != nil {
		return err
	}
	return cause
}

// formWriter writes one recording.
type formWriter struct {
	b      *bufio.Writer
	form   Form
	agfold *Writer
	input  *event.RunInput // that the next run begins with, if it has not been written
	begun  bool
	events int
	buf    []byte
}

func (f *formWriter) entry(e Entry) error {
	switch {
	case e.Head != nil:
		f.input = e.Head.Input
		return f.begin(e.Head.Start, true)
	case e.Err != nil:
		if f.agfold == nil {
			return nil
		}
		return f.agfold.Error(e.Err, e.At)
	}
	if err := f.begin(time.Time{}, false); err != nil {
		return err
	}
	ev := e.Event
	if f.input != nil && ev.Type() == event.TypeRunStarted {
		if !ev.Value().Get("input").Exists() {
			if v, err := state.Parse(f.input.AppendJSON(nil)); err == nil {
				ev = ev.With("input", v)
			}
		}
		f.input = nil
	}
	if f.agfold != nil {
		return f.agfold.Event(ev, e.At)
	}
	return f.event(ev)
}

// begin writes what comes before the first event, and a head.
func (f *formWriter) begin(start time.Time, isHead bool) error {
	first := !f.begun
	f.begun = true
	switch {
	case f.agfold != nil && (first || isHead):
		in := f.input
		f.input = nil
		return f.agfold.Head(in, start)
	case first && f.form == FormArray:
		f.b.WriteString("[")
	case first && f.form == FormObject:
		f.b.WriteString("{")
		if f.input != nil {
			f.b.WriteString(`"input":`)
			f.b.Write(f.input.AppendJSON(nil))
			f.b.WriteString(",\n")
			f.input = nil
		}
		f.b.WriteString(`"stream":[`)
	}
	return nil
}

// event writes an event. A line end between its tokens becomes a space. What is not JSON is written as a string where
// the form is JSON, so that it is rejected again.
func (f *formWriter) event(ev event.Frame) error {
	data := ev.Data()
	if data == nil {
		return nil
	}
	f.buf = append(f.buf[:0], data...)
	if ev.Err() != nil && f.form != FormSSE {
		f.buf = jsontext.AppendString(f.buf[:0], string(data))
	}
	for i, c := range f.buf {
		if c == '\n' || c == '\r' {
			f.buf[i] = ' '
		}
	}
	switch {
	case f.form == FormSSE:
		f.b.WriteString("data: ")
	case f.form != FormLines && f.events > 0:
		f.b.WriteString(",\n")
	case f.form != FormLines:
		f.b.WriteString("\n")
	}
	f.events++
	_, err := f.b.Write(f.buf)
	switch f.form {
	case FormSSE:
		_, err = f.b.WriteString("\n\n")
	case FormLines:
		err = f.b.WriteByte('\n')
	}
	return err
}

// end completes the recording.
func (f *formWriter) end() {
	f.begin(time.Time{}, false)
	switch f.form {
	case FormArray:
		f.b.WriteString("\n]\n")
	case FormObject:
		f.b.WriteString("\n]}\n")
	}
}
