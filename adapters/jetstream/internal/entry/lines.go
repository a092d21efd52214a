package entry

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/feed"
	"github.com/agfold/agfold/internal/jsontext"
	"github.com/agfold/agfold/reducer"
)

// End says how a stream of events ended.
type End struct {
	Kind string `json:"kind"` // "done", "stopped", "truncated" or "error"
	Text string `json:"text,omitempty"`
	// Final says that nobody else says what became of the run: it was not a session's.
	Final bool `json:"final,omitempty"`
}

// EndOf returns the end that an error makes, nil for none.
func EndOf(err error, stopped, truncated bool) End {
	switch {
	case err == nil:
		return End{Kind: "done"}
	case stopped:
		return End{Kind: "stopped", Text: valid(err.Error())}
	case truncated:
		return End{Kind: "truncated", Text: valid(err.Error())}
	}
	return End{Kind: "error", Text: valid(err.Error())}
}

func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// ended is the error of a stream that has ended as an entry says.
type ended struct {
	text string
	of   error
}

func (e *ended) Error() string { return e.text }
func (e *ended) Unwrap() error { return e.of }

// Err returns the error that the stream ended with.
func (e End) Err() error {
	switch e.Kind {
	case "stopped":
		if e.Text == reducer.ErrStopped.Error() {
			return reducer.ErrStopped
		}
		return &ended{e.Text, reducer.ErrStopped}
	case "truncated":
		return &ended{e.Text, reducer.ErrTruncated}
	case "error":
		return &ended{e.Text, nil}
	}
	return nil
}

// Who is who has opened a log, or has asked for a stop.
type Who struct {
	Name string `json:"name"`
}

// AppendOpen appends the first entry of a writer.
func AppendOpen(dst []byte, name string) []byte { return appendObject(dst, "open", Who{valid(name)}) }

// AppendStop appends that somebody has asked for a stop.
func AppendStop(dst []byte, by string) []byte { return appendObject(dst, "stop", Who{valid(by)}) }

// AppendEnd appends the end of a stream.
func AppendEnd(dst []byte, e End) []byte { return appendObject(dst, "end", e) }

// AppendClose appends the last entry of a writer.
func AppendClose(dst []byte) []byte { return append(dst, "{\"close\":true}\n"...) }

// AppendGap appends that what follows is missing in the log, until the thread is stated anew.
func AppendGap(dst []byte, reason string) []byte { return appendObject(dst, "gap", Who{valid(reason)}) }

func appendObject(dst []byte, key string, v any) []byte {
	text, _ := json.Marshal(v) // strings and booleans
	return append(append(append(append(append(dst, `{"`...), key...), `":`...), text...), '}', '\n')
}

// AppendDelta appends what leads from one snapshot to another, and reports whether anything differs.
func AppendDelta(dst []byte, older, newer feed.Snapshot) ([]byte, bool) {
	start := len(dst)
	dst, differs := feed.AppendDelta(append(dst, `{"delta":`...), older, newer)
	if !differs {
		return dst[:start], false
	}
	return append(dst, '}', '\n'), true
}

// AppendThread appends the thread as a whole, in place of whatever a reader has.
func AppendThread(dst []byte, s feed.Snapshot) []byte {
	th := s.Thread
	if th == nil {
		th = new(reducer.Thread)
	}
	dst = jsontext.AppendString(append(dst, phasePrefix...), s.Phase)
	dst = th.AppendJSON(append(dst, threadPrefix...))
	return append(dst, '}', '\n')
}

// Head begins a run.
type Head struct {
	Input           *event.RunInput `json:"input"` // with the messages and the state that the thread does not have
	Strict          bool            `json:"strict,omitempty"`
	MaxPatchedBytes int             `json:"maxPatchedBytes,omitempty"`
}

// AppendHead appends the head of a run.
func AppendHead(dst []byte, h Head) []byte { return appendObject(dst, "head", h) }

var (
	eventPrefix  = []byte(`{"event":`)
	phasePrefix  = []byte(`{"phase":`)
	threadPrefix = []byte(`,"thread":`)
	dataPrefix   = []byte(`{"data":`)
	noticeLine   = []byte(`{"notice":true}`)
)

// AppendEvent appends an event. Its text is written as it is, with line ends between its tokens as spaces; data that is not an
// event is written as a string.
func AppendEvent(dst []byte, f event.Frame) []byte {
	data := f.Data()
	switch {
	case data == nil:
		return append(append(dst, noticeLine...), '\n')
	case f.Err() != nil:
		return append(event.Append(append(dst, dataPrefix...), f), '}', '\n')
	}
	dst = append(dst, eventPrefix...)
	start := len(dst)
	dst = append(dst, data...)
	if bytes.IndexByte(data, '\n') >= 0 || bytes.IndexByte(data, '\r') >= 0 {
		for i, c := range dst[start:] {
			if c == '\n' || c == '\r' {
				dst[start+i] = ' '
			}
		}
	}
	return append(dst, '}', '\n')
}
