// Package otlp writes spans as OTLP/JSON: in the file format of OpenTelemetry, which collectors and trace viewers read. Each
// trace, that is each turn, is one line, and each line alone is also the body of a request to a collector's /v1/traces.
package otlp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"log/slog"
	"strconv"
	"time"

	"github.com/agfold/agfold/spans"
)

// Writer is a sink that writes each turn when it has ended, and keeps its spans in memory until then. It is for the spans of
// one recording, by one goroutine. The same recording gives the same ids, so writing it twice does not double it in a store.
type Writer struct {
	// Traces and Spans count what was written.
	Traces, Spans int

	w       io.Writer
	version string
	turn    []*spans.Span // that have ended, of the turn at hand
	err     error
}

// NewWriter returns a Writer that writes to w. version is that of agfold.
func NewWriter(w io.Writer, version string) *Writer {
	if version == "(devel)" {
		version = ""
	}
	return &Writer{w: w, version: version}
}

// Err returns the first error of writing. Nothing is written after it.
func (w *Writer) Err() error { return w.err }

// Began does nothing.
func (w *Writer) Began(ctx context.Context, _ *spans.Span) context.Context { return ctx }

// Chunk does nothing: spans count their pieces.
func (w *Writer) Chunk(*spans.Span, time.Duration) {}

// Ended keeps the span, and writes the turn when it ends.
func (w *Writer) Ended(s *spans.Span) {
	w.turn = append(w.turn, s)
	if s.Kind == spans.Turn {
		if w.err == nil {
			w.err = w.write(s)
		}
		w.turn = nil
	}
}

func (w *Writer) write(turn *spans.Span) error {
	h := sha256.New()
	fmt.Fprintf(h, "%d\x00%d\x00", w.Traces, turn.Start.UnixNano())
	ids := make(map[*spans.Span]string, len(w.turn))
	for _, s := range w.turn {
		fmt.Fprintf(h, "%d\x00%s\x00%d\x00%d\x00", s.Kind, s.Name, s.Start.UnixNano(), s.End.UnixNano())
		if s.Kind == spans.Run {
			fmt.Fprintf(h, "%s\x00%s\x00", s.Attr("gen_ai.conversation.id"), s.Attr("agfold.run.id"))
		}
	}
	trace := idOf(h, 16)
	for i, s := range w.turn {
		fmt.Fprintf(h, "%d\x00", i)
		ids[s] = idOf(h, 8)
	}
	list := make([]span, len(w.turn))
	for i, s := range w.turn {
		list[len(list)-1-i] = spanOf(s, trace, ids)
	}
	line, err := json.Marshal(request{[]resourceSpans{{
		Resource:   resource{attrsOf([]slog.Attr{slog.String("service.name", "agfold")})},
		ScopeSpans: []scopeSpans{{Scope: scope{Name: "github.com/agfold/agfold/spans", Version: w.version}, Spans: list, SchemaURL: spans.SchemaURL}},
		SchemaURL:  spans.SchemaURL,
	}}})
	if err != nil {
		return err
	}
	w.Traces++
	w.Spans += len(list)
	_, err = w.w.Write(append(line, '\n'))
	return err
}

// idOf returns the beginning of a sum as an id, which must not be zero.
func idOf(h hash.Hash, n int) string {
	sum := h.Sum(nil)[:n]
	sum[0] |= 1
	return hex.EncodeToString(sum)
}

// The shapes of OTLP/JSON: 64-bit integers are strings, ids are hexadecimal, enums are numbers.
type (
	request struct {
		ResourceSpans []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource   resource     `json:"resource"`
		ScopeSpans []scopeSpans `json:"scopeSpans"`
		SchemaURL  string       `json:"schemaUrl"`
	}
	resource struct {
		Attributes []attr `json:"attributes"`
	}
	scopeSpans struct {
		Scope     scope  `json:"scope"`
		Spans     []span `json:"spans"`
		SchemaURL string `json:"schemaUrl"`
	}
	scope struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
	}
	span struct {
		TraceID           string  `json:"traceId"`
		SpanID            string  `json:"spanId"`
		ParentSpanID      string  `json:"parentSpanId,omitempty"`
		Name              string  `json:"name"`
		Kind              int     `json:"kind"`
		StartTimeUnixNano string  `json:"startTimeUnixNano"`
		EndTimeUnixNano   string  `json:"endTimeUnixNano"`
		Attributes        []attr  `json:"attributes,omitempty"`
		Events            []event `json:"events,omitempty"`
		Status            status  `json:"status"`
	}
	event struct {
		TimeUnixNano string `json:"timeUnixNano"`
		Name         string `json:"name"`
		Attributes   []attr `json:"attributes,omitempty"`
	}
	attr struct {
		Key   string         `json:"key"`
		Value map[string]any `json:"value"`
	}
	status struct {
		Message string `json:"message,omitempty"`
		Code    int    `json:"code,omitempty"`
	}
)

const (
	kindInternal = 1
	kindClient   = 3
	statusError  = 2
)

func spanOf(s *spans.Span, trace string, ids map[*spans.Span]string) span {
	out := span{
		TraceID: trace, SpanID: ids[s], Name: s.Name, Kind: kindInternal, StartTimeUnixNano: nanos(s.Start), EndTimeUnixNano: nanos(s.End),
		Attributes: attrsOf(s.Attrs),
	}
	if s.Parent != nil {
		out.ParentSpanID = ids[s.Parent]
	}
	if s.Kind == spans.Run {
		out.Kind = kindClient
	}
	if s.ErrorType != "" {
		out.Status = status{Message: s.Error, Code: statusError}
	}
	for _, e := range s.Events {
		out.Events = append(out.Events, event{nanos(e.Time), e.Name, attrsOf(e.Attrs)})
	}
	return out
}

func nanos(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

func attrsOf(attrs []slog.Attr) []attr {
	var out []attr
	for _, a := range attrs {
		v := map[string]any{"stringValue": a.Value.String()}
		switch a.Value.Kind() {
		case slog.KindInt64:
			v = map[string]any{"intValue": strconv.FormatInt(a.Value.Int64(), 10)}
		case slog.KindFloat64:
			v = map[string]any{"doubleValue": a.Value.Float64()}
		case slog.KindBool:
			v = map[string]any{"boolValue": a.Value.Bool()}
		}
		out = append(out, attr{a.Key, v})
	}
	return out
}
