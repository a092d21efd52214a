package event

import (
	"bytes"
	"fmt"

	"github.com/agfold/agfold/internal/jsontext"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// DefaultMaxBytes is the bound on one event's JSON text, in bytes, in every transport and recording that is not given
// another one.
const DefaultMaxBytes = 64 << 20

// TooLargeError reports an event that exceeds the bound on its size (P-SSE-2). It ends the stream.
type TooLargeError struct {
	Limit int // the bound, in bytes
	Line  int // the line of the stream where the event's data begins, from 1; 0 if the stream has no lines
	Frame int // the number of the frame, from 1; 0 if the stream has no frames (P-PB-2)
}

// Error names the bound and the line or frame.
func (e *TooLargeError) Error() string {
	if e.Frame > 0 {
		return fmt.Sprintf("the event in frame %d holds more than %d bytes", e.Frame, e.Limit)
	}
	return fmt.Sprintf("the event at line %d holds more than %d bytes of data", e.Line, e.Limit)
}

// maxValues is the bound on the JSON values in one event or run input: about two million. It bounds the memory that an
// event takes, because a value of two bytes takes many more when decoded.
const maxValues = 1 << 21

// crowded reports whether data, which is JSON, holds more than maxValues values.
func crowded(data []byte) bool {
	if len(data) < 2*maxValues {
		return false
	}
	most := 1
	for _, c := range ",[{" {
		most += bytes.Count(data, []byte{byte(c)})
	}
	if most <= maxValues {
		return false
	}
	values := 1
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			i, _ = jsontext.SkipString(data, i)
			i--
		case ',':
			values++
		case '[', '{': // what it holds is one more than its commas, unless it is empty
			if next := jsontext.Space(data, i+1); next < len(data) && data[next] != ']' && data[next] != '}' {
				values++
			}
		}
	}
	return values > maxValues
}

// overfull reports whether v holds more than maxValues values.
func overfull(v state.Value) bool { return v.Size() >= 2*maxValues && valuesIn(v) > maxValues }

// valuesIn counts the values in v, itself included, until they are more than maxValues.
func valuesIn(v state.Value) int {
	n := 1
	count := func(e state.Value) bool {
		if e.Len() == 0 {
			n++
		} else {
			n += valuesIn(e)
		}
		return n <= maxValues
	}
	if v.Kind() == state.KindArray {
		for _, e := range v.Elements() {
			if !count(e) {
				break
			}
		}
		return n
	}
	for _, e := range v.Members() {
		if !count(e) {
			break
		}
	}
	return n
}

func tooMany(name string) error {
	return &messages.MalformedError{Rule: "P-SSE-2", Type: name, Want: fmt.Sprintf("at most %d values", maxValues), Found: "more"}
}
