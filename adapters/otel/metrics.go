package otel

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/spans"
)

// metrics are the instruments.
type metrics struct {
	duration, firstChunk, perChunk metric.Float64Histogram
	tokens                         metric.Int64Histogram
	outcomes                       metric.Int64Counter

	agent  []attribute.KeyValue
	chunks []metric.RecordOption // the attributes of firstChunk and perChunk, made once
	names  names
}

func newMetrics(m metric.Meter, agent string, maxNames int) (*metrics, error) {
	ms := &metrics{names: names{max: maxNames, seen: make(map[string]map[string]bool)}}
	if agent != "" {
		ms.agent = []attribute.KeyValue{attribute.String("gen_ai.agent.name", agent)}
	}
	ms.chunks = []metric.RecordOption{metric.WithAttributeSet(ms.set(attribute.String("gen_ai.operation.name", "invoke_agent")))}
	var errs [5]error
	ms.duration, errs[0] = m.Float64Histogram("gen_ai.client.operation.duration", metric.WithUnit("s"),
		metric.WithDescription("The time that runs and tools took."),
		metric.WithExplicitBucketBoundaries(0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92))
	ms.firstChunk, errs[1] = m.Float64Histogram("gen_ai.client.operation.time_to_first_chunk", metric.WithUnit("s"),
		metric.WithDescription("The time from sending a request to the first piece of a text, reasoning or arguments."),
		metric.WithExplicitBucketBoundaries(0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10))
	ms.perChunk, errs[2] = m.Float64Histogram("gen_ai.client.operation.time_per_output_chunk", metric.WithUnit("s"),
		metric.WithDescription("The time between two pieces of the same text, reasoning or arguments."),
		metric.WithExplicitBucketBoundaries(0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5))
	ms.tokens, errs[3] = m.Int64Histogram("gen_ai.client.token.usage", metric.WithUnit("{token}"),
		metric.WithDescription("The tokens that a run used, as the agent reported them."),
		metric.WithExplicitBucketBoundaries(1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864))
	ms.outcomes, errs[4] = m.Int64Counter("agfold.runs", metric.WithUnit("{run}"), metric.WithDescription("Runs, by how they ended."))
	return ms, errors.Join(errs[:]...)
}

// set is a set of attributes, with the agent's name.
func (m *metrics) set(attrs ...attribute.KeyValue) attribute.Set {
	return attribute.NewSet(append(attrs, m.agent...)...)
}

// chunk measures the time to the first piece of a run, or between two pieces.
func (m *metrics) chunk(s *spans.Span, after time.Duration) {
	if s.Kind == spans.Run {
		m.firstChunk.Record(context.Background(), after.Seconds(), m.chunks...)
		return
	}
	m.perChunk.Record(context.Background(), after.Seconds(), m.chunks...)
}

// ended measures runs and tools.
func (m *metrics) ended(ctx context.Context, s *spans.Span) {
	var attrs []attribute.KeyValue
	switch s.Kind {
	case spans.Run:
		attrs = []attribute.KeyValue{attribute.String("gen_ai.operation.name", "invoke_agent")}
		m.outcomes.Add(ctx, 1, metric.WithAttributeSet(m.set(attribute.String("agfold.run.outcome", s.Outcome))))
		for _, u := range s.Usage {
			m.usage(ctx, u)
		}
	case spans.Tool:
		attrs = []attribute.KeyValue{attribute.String("gen_ai.operation.name", "execute_tool"),
			attribute.String("gen_ai.tool.name", m.names.bound("tool", s.Attr("gen_ai.tool.name").String())),
			attribute.String("agfold.tool.by", s.Attr("agfold.tool.by").String()), attribute.String("agfold.tool.outcome", s.Outcome)}
	default:
		return
	}
	if s.ErrorType != "" {
		attrs = append(attrs, attribute.String("error.type", m.names.bound("error", s.ErrorType)))
	}
	m.duration.Record(ctx, s.End.Sub(s.Start).Seconds(), metric.WithAttributeSet(m.set(attrs...)))
}

// usage measures the tokens of one provider and model.
func (m *metrics) usage(ctx context.Context, u event.TokenUsage) {
	record := func(kind string, count messages.Opt[int64]) {
		n, ok := count.Get()
		if !ok {
			return
		}
		attrs := []attribute.KeyValue{attribute.String("gen_ai.operation.name", "invoke_agent"), attribute.String("gen_ai.token.type", kind)}
		if p, ok := u.Provider.Get(); ok {
			attrs = append(attrs, attribute.String("gen_ai.provider.name", m.names.bound("provider", p)))
		}
		if model, ok := u.Model.Get(); ok {
			attrs = append(attrs, attribute.String("gen_ai.response.model", m.names.bound("model", model)))
		}
		m.tokens.Record(ctx, n, metric.WithAttributeSet(m.set(attrs...)))
	}
	record("input", u.InputTokens)
	record("output", u.OutputTokens)
}

// names bounds how many different names become attributes. It is safe for concurrent use.
type names struct {
	max  int
	mu   sync.Mutex
	seen map[string]map[string]bool // by kind
}

// maxName is the length of a name, in bytes.
const maxName = 256

// bound returns the name, or "_OTHER" if there are too many of its kind already, or if it is too long.
func (n *names) bound(kind, name string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	seen := n.seen[kind]
	switch {
	case seen[name]:
	case len(seen) >= n.max || len(name) > maxName:
		return "_OTHER"
	case seen == nil:
		n.seen[kind] = map[string]bool{name: true}
	default:
		seen[name] = true
	}
	return name
}
