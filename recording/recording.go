package recording

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/jsontext"
	"github.com/agfold/agfold/internal/sse"
	"github.com/agfold/agfold/state"
)

// Options configures [Open]; nil means defaults.
type Options struct {
	// MaxEventBytes bounds one event's JSON text: 0 means event.DefaultMaxBytes, a negative number no bound.
	// A larger event ends the recording with a *event.TooLargeError; so does a head of more than 256 MiB.
	MaxEventBytes int
}

// Form is the format of a recording.
type Form string

// The forms of a recording.
const (
	FormEmpty  Form = "empty"  // nothing but white space
	FormSSE    Form = "sse"    // a captured stream of server-sent events, or its data lines
	FormLines  Form = "lines"  // one event a line
	FormValues Form = "values" // events spread over lines, one after the other
	FormArray  Form = "array"  // a JSON array of events
	FormObject Form = "object" // an object with the member stream
	FormAgfold Form = "agfold" // what Writer writes
)

// A Recording is one recorded run or several. It is for one goroutine at a time. It reads from its source as its entries
// are iterated.
type Recording struct {
	form     Form
	input    *event.RunInput
	warnings []event.Warning
	peer     string
	src      source
	err      error // what the source ended with
	timed    bool
}

// source yields a recording's entries; io.EOF is a clean end.
type source interface{ next() (Entry, error) }

// Entry is one entry of a recording: the head of a run, an event, or the error that ended a run's stream. That is a
// *StreamError if it was recorded, or a *DamageError about the lines that cannot be read.
type Entry struct {
	Head  *Head         // a run begins here; Event is then the zero Frame
	Event event.Frame   // the event as it came
	Err   error         // the run's stream ended with it; Event is then the zero Frame
	At    time.Duration // when it came, since the run's start; 0 in a recording without times
	Line  int           // where it begins in the recording, from 1
}

// Head begins a run in a recording of [FormAgfold].
type Head struct {
	Input    *event.RunInput // nil if it was not recorded
	Warnings []event.Warning // about unrecognized material that was removed from the input
	Start    time.Time       // zero if it was not recorded

	offset int64 // where it begins in the recording
	line   int
}

// Open finds out what form the recording in r has and reads up to its first event. The recording reads from r as its
// entries are iterated; the caller closes r. An empty r is a recording without events.
// The error is a *FormatError if r does not hold a recording, or one of r's own.
func Open(r io.Reader, o *Options) (*Recording, error) {
	return sniff(newLines(r), o.limit())
}

func (o *Options) limit() int {
	if o == nil {
		return event.DefaultMaxBytes
	}
	return cmp.Or(o.MaxEventBytes, event.DefaultMaxBytes)
}

// Form returns the form of the recording.
func (r *Recording) Form() Form { return r.form }

// Input returns the run's input, or nil if the recording does not have it: the member input of an
// object, or that of the first head. It must not be changed.
func (r *Recording) Input() *event.RunInput { return r.input }

// Warnings returns what was removed from, or converted in, the input.
func (r *Recording) Warnings() []event.Warning { return r.warnings }

// PeerVersion returns the protocol version that the run's peer is pinned to: the member
// client.maxProtocolVersion of an object, else "".
func (r *Recording) PeerVersion() string { return r.peer }

// Timed reports whether the recording says when its events came.
func (r *Recording) Timed() bool { return r.timed }

// Entries yields the heads, events and recorded errors of the recording in order. An error comes alone and last:
// a *CutError if the recording ends in the middle of an event, a *FormatError if it cannot be read any further, an
// *event.TooLargeError, or one of the source; a clean end yields none. Iterating again after a break continues
// after the last entry; after the end it yields nothing, after an error the error.
func (r *Recording) Entries() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for r.err == nil {
			e, err := r.src.next()
			if err != nil {
				r.err = err
				break
			}
			if !yield(e, nil) {
				return
			}
		}
		if r.err != io.EOF {
			yield(Entry{}, r.err)
		}
	}
}

// Events yields the events alone; otherwise it is like Entries.
func (r *Recording) Events() iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for e, err := range r.Entries() {
			switch {
			case err != nil:
				yield(nil, err)
				return
			case e.Head == nil && e.Err == nil && !yield(e.Event, nil):
				return
			}
		}
	}
}

// keeper makes frames of copies of data that a reader will overwrite.
type keeper struct {
	text   sse.Keeper
	framer event.Framer
}

// frame makes a frame of a copy of data.
func (k *keeper) frame(data []byte) event.Frame { return k.framer.Frame(k.text.Keep(data)) }

// isCut reports whether f is not an event because its data ends too early.
func isCut(f event.Frame) bool {
	return f.Err() != nil && jsontext.IsCut(f.Data(), state.DefaultMaxDepth)
}

func readError(err error) error {
	if err == io.EOF {
		return err
	}
	return fmt.Errorf("reading the recording: %w", err)
}
