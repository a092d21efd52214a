package event

import (
	"math"

	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/messages"
)

// DecodeOptions configures [NewDecoder] and [DecodeRunInput]; nil means defaults.
type DecodeOptions struct {
	// Strict makes unrecognized material an error instead of a warning (P-ENF-7). Off by default.
	Strict bool
	// MaxWarnings bounds the warnings about one event or run input. One more says how many there are beyond. Zero means
	// 100; a negative number removes the bound.
	MaxWarnings int
}

// defaultMaxWarnings is the bound on the warnings about one event, unless [DecodeOptions] names another one.
const defaultMaxWarnings = 100

// resolve returns the rule of strict mode, or "", and the bound on warnings.
func (o *DecodeOptions) resolve() (strict string, maxWarnings int) {
	maxWarnings = defaultMaxWarnings
	if o == nil {
		return "", maxWarnings
	}
	if o.Strict {
		strict = "P-ENF-7"
	}
	if o.MaxWarnings != 0 {
		maxWarnings = o.MaxWarnings
	}
	if maxWarnings < 0 {
		maxWarnings = math.MaxInt
	}
	return strict, maxWarnings
}

// Decoder decodes frames into typed events, which is enforcement (P-ENF-1 to 5). One goroutine at a time
// may use it. It keeps a small cache of ids between events and nothing else. A typed event may share the
// memory of the frame that it was decoded from, and of events decoded before and after it, and keeps that alive: some
// kilobytes.
type Decoder struct {
	strict      string // the rule of strict mode, or ""
	maxWarnings int
	ids         idCache
	scratch     []byte
	block       []byte // holds unescaped deltas, which are never changed once they are there

	textChunks      []TextMessageChunk
	toolCallChunks  []ToolCallChunk
	reasoningChunks []ReasoningMessageChunk
	lent            lentEvents
}

// NewDecoder returns a decoder; nil options mean the defaults.
func NewDecoder(o *DecodeOptions) *Decoder {
	strict, maxWarnings := o.resolve()
	return &Decoder{strict: strict, maxWarnings: maxWarnings}
}

// Decode returns the typed event that f is and what it warns about; the frame's own notes ([Frame.Warnings])
// are not among that. A nil event without an error means that the event was dropped: its type is unknown
// (P-ENF-1), a required member is unrecognized (P-ENF-3, P-ENF-5), or f is a [Notice]. The error is a
// [*messages.MalformedError]. Ordinals are 0: the caller, which counts the events, fills them in.
func (d *Decoder) Decode(f Frame) (Event, []Warning, error) {
	switch p := f.p; {
	case p == nil:
		return nil, nil, f.Err()
	case p.notice:
		return nil, nil, nil
	case p.name == "":
		return nil, nil, f.Err()
	default:
		if ev := d.decodeHot(p); ev != nil {
			return ev, nil, nil
		}
	}
	return d.decodeAny(f)
}

// decodeAny decodes any event.
func (d *Decoder) decodeAny(f Frame) (Event, []Warning, error) {
	ev := newEvent(f.p.typ)
	if ev == nil {
		unknown := "AG-UI " + ProtocolVersion + " knows no event of this type"
		if like := codec.Similar(f.p.name, typeNames); like != "" {
			unknown += "; it knows " + like
		}
		if d.strict != "" {
			return nil, nil, &messages.MalformedError{Rule: d.strict, Type: f.p.name, Path: "/type", Want: "a known event type", Found: codec.Quote(f.p.name)}
		}
		return nil, []Warning{{Rule: "P-ENF-1", Type: f.p.name, Text: "dropped: " + unknown}}, nil
	}
	v := f.Value()
	if f.p.data == nil && overfull(v) {
		return nil, nil, tooMany(f.p.name)
	}
	verdict := codec.Decode(v, d.maxWarnings, ev, walkEvent)
	warnings, err := warningsOf(verdict, f.p.name, d.strict)
	if err != nil {
		hint(err, f)
	}
	if verdict.Dropped || err != nil {
		return nil, warnings, err
	}
	return ev, warnings, nil
}

// typed is what each of the structs is.
type typed interface {
	Event
	base() *Base
	members(*codec.Codec)
}
