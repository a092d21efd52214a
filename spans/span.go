package spans

import (
	"context"
	"log/slog"
	"time"

	"github.com/agfold/agfold/event"
)

// SchemaURL names the version of the semantic conventions that names and attributes follow.
const SchemaURL = "https://opentelemetry.io/schemas/1.41.0"

// Kind says what a span is about.
type Kind uint8

// The kinds of spans.
const (
	Turn      Kind = iota // one turn of a session: the run that was asked for, and those that follow with answers of tools
	Run                   // one run (P-RUN-1), from the request to its end
	Message               // a text message, from its start to its end
	Reasoning             // a reasoning message
	ToolCall              // a tool call, while its arguments arrive
	Tool                  // a tool at work: from the end of the arguments to the result, or as long as the session calls it
	Step                  // a step (P-VER-4)
	Subagent              // an invocation of a subagent (P-SUB-1), as far as one run sees it
)

var kindNames = [...]string{"turn", "run", "message", "reasoning", "tool call", "tool", "step", "subagent"}

// String returns the kind in lower-case words, and "unknown" for another value.
func (k Kind) String() string {
	if int(k) >= len(kindNames) {
		return "unknown"
	}
	return kindNames[k]
}

// Span is one operation. It belongs to whoever makes it until it has ended, and does not change after that. A [Sink] may read
// it during its calls, and after the end at any time.
type Span struct {
	Kind   Kind
	Name   string // such as "execute_tool search"
	Parent *Span  // nil for a turn: what that is in is known by its context alone
	Start  time.Time
	End    time.Time // zero until it has ended; not before Start
	// Attrs have the kinds string, int64, float64 and bool. Each key comes once.
	Attrs  []slog.Attr
	Events []Event // in order; at most Options.MaxEvents
	// Outcome says in one lower-case word how it ended: for runs a status of package reducer, such as "succeeded" or
	// "truncated". What tools call "failed" is an answer that the agent gets.
	Outcome string
	// Error says what failed, "" if nothing did; ErrorType is then a short name of the kind of failure.
	Error, ErrorType string
	// Usage is the token usage that a run reported.
	Usage []event.TokenUsage

	// Handle is for the sink.
	Handle any

	ctx     context.Context // what the sink made of it
	at      int             // in stream.open
	dropped int64           // events
}

// Event is something that happened at one moment of a span: "agfold.interrupt", "agfold.warning" and others.
type Event struct {
	Name  string
	Time  time.Time
	Attrs []slog.Attr
}

// Attr returns the value of an attribute; the zero value, whose kind is KindAny, if there is none.
func (s *Span) Attr(key string) slog.Value {
	for _, a := range s.Attrs {
		if a.Key == key {
			return a.Value
		}
	}
	return slog.Value{}
}

// set adds attributes, or replaces those with the same keys.
func (s *Span) set(attrs ...slog.Attr) {
next:
	for _, a := range attrs {
		for i := range s.Attrs {
			if s.Attrs[i].Key == a.Key {
				s.Attrs[i] = a
				continue next
			}
		}
		s.Attrs = append(s.Attrs, a)
	}
}

// fail says that the operation failed.
func (s *Span) fail(text, errorType string) {
	s.Error, s.ErrorType = clip(text, maxError), clip(errorType, maxAttr)
	s.set(slog.String("error.type", s.ErrorType))
}

// Sink receives spans. Spans of one stream come from one goroutine at a time; those of the tools that a session calls, and of other
// streams, may come at the same time, so a Sink must be safe for concurrent use. What the spans are about waits for the sink.
type Sink interface {
	// Began is called when a span begins, with the context of its parent: for a turn the one that the caller of the session
	// passed, for the spans of recordings an empty one. What it returns, which must be derived from ctx, is the context of what
	// is in the span: the agent gets that of its run, a tool's function that of its own.
	Began(ctx context.Context, s *Span) context.Context
	// Ended is called once for each span that began. A run ends after what is in it. What began in a step or a subagent may end
	// after that, and so may a run that the agent began on a stream that has outlived its turn.
	Ended(s *Span)
	// Chunk is called with each piece of a text, reasoning or arguments after the first one of its span, and how long it
	// came after that before it. It is called with the span of the run and the time since its start for the run's first piece.
	Chunk(s *Span, after time.Duration)
}

// Options configures [Observe] and [Recording]; nil means defaults.
type Options struct {
	// Agent is the name of the agent, if it has one.
	Agent string
	// ContentBytes is how much of each text, of the arguments and the result of each call, and of what the user said last, is
	// recorded, in bytes. 0 records none of it.
	ContentBytes int
	// MaxSpans bounds the spans of one stream. Beyond it, what happens is not recorded, and agfold.spans.dropped of the run counts it.
	// 0 means 10,000.
	MaxSpans int
	// MaxEvents bounds the events of one span; agfold.events.dropped counts those beyond it. 0 means 128.
	MaxEvents int
}

// completed returns the options with their defaults.
func (o *Options) completed() Options {
	var c Options
	if o != nil {
		c = *o
	}
	if c.MaxSpans == 0 {
		c.MaxSpans = 10_000
	}
	if c.MaxEvents == 0 {
		c.MaxEvents = 128
	}
	return c
}
