package otel

import (
	"cmp"
	"context"
	"net/http"
	"runtime/debug"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/spans"
)

// scope names what makes the telemetry.
const scope = "github.com/agfold/agfold/adapters/otel"

// Options configures [New]; nil means defaults.
type Options struct {
	// Tracers makes the spans, and Meters the instruments; nil means the global provider at the time of New.
	Tracers trace.TracerProvider
	Meters  metric.MeterProvider
	// Propagator writes contexts into requests. Nil means the global one at the time of each request; unless one is set, that
	// writes nothing.
	Propagator propagation.TextMapPropagator
	// Agent is the name of the agent, if it has one: gen_ai.agent.name of spans and metrics.
	Agent string
	// ContentBytes is how much of each text, of the arguments and the result of each call, and of what the user said last, becomes
	// attributes, in bytes. 0 means none of it.
	ContentBytes int
	// MaxSpans bounds the spans of one stream, and MaxEvents the events of one span; see [spans.Options]. 0 means the default.
	MaxSpans, MaxEvents int
	// MaxNames bounds how many different names of one kind (of tools, models, providers and error types) are attributes of metrics.
	// Agents make these up, and each one is a time series. Further ones count as "_OTHER". 0 means 100.
	MaxNames int
}

// Telemetry makes traces and metrics. It is safe for concurrent use: one serves any number of sessions. It has no goroutine and
// needs no Close; what it has handed over belongs to the providers.
type Telemetry struct {
	o       Options
	tracer  trace.Tracer
	metrics *metrics
}

// New makes the tracer and the instruments. It returns an error only if an instrument cannot be made.
func New(o *Options) (*Telemetry, error) {
	t := new(Telemetry)
	if o != nil {
		t.o = *o
	}
	if t.o.Tracers == nil {
		t.o.Tracers = otel.GetTracerProvider()
	}
	if t.o.Meters == nil {
		t.o.Meters = otel.GetMeterProvider()
	}
	t.tracer = t.o.Tracers.Tracer(scope, trace.WithInstrumentationVersion(version()), trace.WithSchemaURL(spans.SchemaURL))
	var err error
	t.metrics, err = newMetrics(t.o.Meters.Meter(scope, metric.WithInstrumentationVersion(version()), metric.WithSchemaURL(spans.SchemaURL)), t.o.Agent, cmp.Or(t.o.MaxNames, 100))
	return t, err
}

// version returns the version of this module in the program, "" if it is not known.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range info.Deps {
		if m.Path == scope {
			return m.Version
		}
	}
	return ""
}

// Observer returns what goes into [client.SessionOptions.Observers].
func (t *Telemetry) Observer() client.Observer { return spans.Observe(sink{t}, t.spanOptions()) }

// Recording makes spans and metrics of a recording, with its recorded times. It returns what [spans.Recording] does. The spans
// of each turn are roots.
func (t *Telemetry) Recording(ctx context.Context, rec *recording.Recording) (spans.Times, error) {
	return spans.Recording(ctx, rec, sink{t}, t.spanOptions())
}

func (t *Telemetry) spanOptions() *spans.Options {
	return &spans.Options{Agent: t.o.Agent, ContentBytes: t.o.ContentBytes, MaxSpans: t.o.MaxSpans, MaxEvents: t.o.MaxEvents}
}

// Prepare writes the context of a run into its request. It goes into [client.HTTPOptions.Prepare]; a Prepare of your own calls it.
// Redirects to other servers do not get what it writes. The error is always nil.
func (t *Telemetry) Prepare(ctx context.Context, r *client.Request) error {
	p := t.o.Propagator
	if p == nil {
		p = otel.GetTextMapPropagator()
	}
	if r.Header == nil {
		r.Header = make(http.Header)
	}
	p.Inject(ctx, propagation.HeaderCarrier(r.Header))
	return nil
}
