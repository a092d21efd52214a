package entry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
)

const (
	logForm        = "log/1"
	checkpointForm = "checkpoint/1"
)

// Header begins each message of a log.
type Header struct {
	Form  string    `json:"agfold"`
	Token uint64    `json:"token"` // of the writer: the next one's is greater
	First uint64    `json:"first"` // the number of the first entry, of this writer
	Count int       `json:"count"` // of entries
	Part  int       `json:"part,omitempty"`
	Parts int       `json:"parts,omitempty"` // 0 is 1
	At    time.Time `json:"at"`              // by the writer's clock; nothing depends on it
	// Of a checkpoint.
	Sequence uint64 `json:"sequence,omitempty"` // of the last message of the log that is in it
	Start    uint64 `json:"start,omitempty"`    // the sequence of its first part; 0 in that itself
	Previous uint64 `json:"previous,omitempty"` // the sequence of the last part of the checkpoint before
}

// Checkpoint reports whether the header is one of a checkpoint.
func (h *Header) Checkpoint() bool { return h.Form == checkpointForm }

// Last reports whether the message completes its entries.
func (h *Header) Last() bool { return h.Part+1 >= h.Parts }

// maxHeader bounds a header, in bytes.
const maxHeader = 1024

// maxParts bounds the parts of one message.
const maxParts = 1 << 16

// errForm is the error of a header of an unknown form.
var errForm = errors.New("it is not a message of a log of this version")

// ParseHeader takes a message apart.
func ParseHeader(data []byte) (h Header, rest []byte, err error) {
	line, rest, _ := bytes.Cut(data, []byte{'\n'})
	if len(line) > maxHeader || !bytes.HasPrefix(line, []byte(`{"agfold":"`)) {
		return h, nil, errForm
	}
	if err := json.Unmarshal(line, &h); err != nil {
		return h, nil, fmt.Errorf("its header cannot be read: %w", err)
	}
	if h.Form != logForm && h.Form != checkpointForm {
		return h, nil, errForm
	}
	if h.Parts == 0 {
		h.Parts = 1
	}
	if h.Part < 0 || h.Part >= h.Parts || h.Parts > maxParts || h.Count < 0 {
		return h, nil, fmt.Errorf("part %d of %d is not one", h.Part, h.Parts)
	}
	return h, rest, nil
}

// Append appends the header as a line.
func (h *Header) Append(dst []byte) []byte {
	form := logForm
	if h.Form != "" {
		form = h.Form
	}
	dst = append(append(append(dst, `{"agfold":"`...), form...), `","token":`...)
	dst = strconv.AppendUint(dst, h.Token, 10)
	dst = strconv.AppendUint(append(dst, `,"first":`...), h.First, 10)
	dst = strconv.AppendInt(append(dst, `,"count":`...), int64(h.Count), 10)
	if h.Parts > 1 {
		dst = strconv.AppendInt(append(dst, `,"part":`...), int64(h.Part), 10)
		dst = strconv.AppendInt(append(dst, `,"parts":`...), int64(h.Parts), 10)
	}
	for _, m := range [...]struct {
		key string
		n   uint64
	}{{"sequence", h.Sequence}, {"start", h.Start}, {"previous", h.Previous}} {
		if m.n > 0 {
			dst = strconv.AppendUint(append(append(append(dst, `,"`...), m.key...), `":`...), m.n, 10)
		}
	}
	dst = append(dst, `,"at":"`...)
	return append(h.At.UTC().AppendFormat(dst, time.RFC3339Nano), '"', '}', '\n')
}

// Split returns the messages that a header and its entries make, with at most so many bytes each, the headers apart.
func Split(h Header, entries []byte, most int) []Part {
	h.Parts = max(1, (len(entries)+most-1)/most)
	parts := make([]Part, 0, h.Parts)
	for h.Part = range h.Parts {
		n := min(most, len(entries))
		parts = append(parts, Part{h, entries[:n]})
		entries = entries[n:]
	}
	return parts
}

// Part is one message before it is encoded.
type Part struct {
	Header  Header
	Entries []byte
}

// Encode returns the message.
func (p *Part) Encode() []byte {
	return append(p.Header.Append(make([]byte, 0, 160+len(p.Entries))), p.Entries...)
}
