package protobuf

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/agfold/agfold/event"
)

// MediaType is the media type of an answer in this binding (P-PB-1).
const MediaType = "application/vnd.ag-ui.event+proto"

// Binding is the binary binding, for client.HTTPOptions and serve.AgentOptions. It holds nothing; all methods may be called
// concurrently.
type Binding struct{}

var _ event.Binding = Binding{}

// MediaType returns [MediaType].
func (Binding) MediaType() string { return MediaType }

// NewReader returns a [Reader] of src; see [NewReader].
func (Binding) NewReader(src io.Reader, maxEventBytes int) event.Reader {
	return NewReader(src, maxEventBytes)
}

// Append appends the frame of ev to dst, its length and the event, and returns what the wire could not carry, as warnings
// under P-PB-5 that name the places. If it returns an error, dst is unchanged: an [*UncoveredError] if the wire has no arm
// for the type; otherwise a [*messages.MalformedError], because ev is not in order (see [event.Check]). A retired event has
// no arm, and a null that was legal before 1.0 becomes nothing: an [event.Upgrader] converts both.
//
// The bytes are those of the official encoder, but for the order of members in open objects, which is that of ev.
//
// [*messages.MalformedError]: https://pkg.go.dev/github.com/agfold/agfold/messages#MalformedError
func (Binding) Append(dst []byte, ev event.Event) ([]byte, []event.Warning, error) {
	start := len(dst)
	out, warnings, err := appendEvent(append(dst, 0, 0, 0, 0), ev)
	if err != nil {
		return dst, nil, err
	}
	n := len(out) - start - headerSize
	if uint64(n) > math.MaxUint32 {
		return dst, nil, fmt.Errorf("the event takes %d bytes, and a frame holds at most %d", n, uint32(math.MaxUint32))
	}
	header := out[start : start+headerSize]
	header[0], header[1], header[2], header[3] = byte(n>>24), byte(n>>16), byte(n>>8), byte(n)
	return out, warnings, nil
}

// Covered returns nil if the wire has an arm for events of all these types, else an [*UncoveredError]. It has one for each of
// the 31 types of AG-UI 1.0, and none for the five retired ones and for unknown ones (P-PB-5).
func (Binding) Covered(types ...event.Type) error {
	var missing []event.Type
	for _, t := range types {
		if armOf[t] == 0 {
			missing = append(missing, t)
		}
	}
	if missing == nil {
		return nil
	}
	return &UncoveredError{Types: missing}
}

// UncoveredError says that the wire cannot carry events of some types (P-PB-5).
type UncoveredError struct {
	Types []event.Type
	Name  string // as it came, if it is about one event
}

// Error names the types.
func (e *UncoveredError) Error() string {
	names := make([]string, len(e.Types))
	for i, t := range e.Types {
		names[i] = t.String()
	}
	list := strings.Join(names, ", ")
	if e.Name != "" {
		list = fmt.Sprintf("%q", shorten(e.Name))
	}
	return "P-PB-5: the protobuf wire has no arm for " + list
}
