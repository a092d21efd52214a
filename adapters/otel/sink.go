package otel

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/agfold/agfold/spans"
)

// sink replays spans into the SDK.
type sink struct{ t *Telemetry }

// Began starts the span in the SDK.
func (k sink) Began(ctx context.Context, s *spans.Span) context.Context {
	kind := trace.SpanKindInternal
	if s.Kind == spans.Run {
		kind = trace.SpanKindClient
	}
	ctx, span := k.t.tracer.Start(ctx, s.Name, trace.WithTimestamp(s.Start), trace.WithSpanKind(kind), trace.WithAttributes(attrs(s.Attrs)...))
	s.Handle = span
	return ctx
}

// Ended ends it, with what has become known since.
func (k sink) Ended(s *spans.Span) {
	span := s.Handle.(trace.Span)
	k.t.metrics.ended(trace.ContextWithSpan(context.Background(), span), s) // exemplars name the span
	if span.IsRecording() {
		span.SetAttributes(attrs(s.Attrs)...)
		for _, e := range s.Events {
			span.AddEvent(e.Name, trace.WithTimestamp(e.Time), trace.WithAttributes(attrs(e.Attrs)...))
		}
		if s.ErrorType != "" {
			span.SetStatus(codes.Error, s.Error)
		}
	}
	span.End(trace.WithTimestamp(s.End))
}

// Chunk measures the time before a piece.
func (k sink) Chunk(s *spans.Span, after time.Duration) { k.t.metrics.chunk(s, after) }

func attrs(in []slog.Attr) []attribute.KeyValue {
	out := make([]attribute.KeyValue, len(in))
	for i, a := range in {
		switch a.Value.Kind() {
		case slog.KindInt64:
			out[i] = attribute.Int64(a.Key, a.Value.Int64())
		case slog.KindFloat64:
			out[i] = attribute.Float64(a.Key, a.Value.Float64())
		case slog.KindBool:
			out[i] = attribute.Bool(a.Key, a.Value.Bool())
		default:
			out[i] = attribute.String(a.Key, a.Value.String())
		}
	}
	return out
}
