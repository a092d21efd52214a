package otel_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/agfold/agfold/adapters/otel"
	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/serve"
	"github.com/agfold/agfold/spans"
)

// memory is telemetry that stays in memory.
type memory struct {
	*otel.Telemetry
	spans   *tracetest.InMemoryExporter
	metrics *metric.ManualReader
	tracers *sdktrace.TracerProvider
}

func inMemory(t testing.TB, o otel.Options, more ...sdktrace.TracerProviderOption) *memory {
	m := &memory{spans: tracetest.NewInMemoryExporter(), metrics: metric.NewManualReader()}
	m.tracers = sdktrace.NewTracerProvider(append(more, sdktrace.WithSyncer(m.spans))...)
	o.Tracers, o.Meters = m.tracers, metric.NewMeterProvider(metric.WithReader(m.metrics))
	if o.Propagator == nil {
		o.Propagator = propagation.TraceContext{}
	}
	var err error
	m.Telemetry, err = otel.New(&o)
	require.NoError(t, err)
	return m
}

// session returns the options of a session that is observed.
func (m *memory) session(o client.SessionOptions) *client.SessionOptions {
	o.ThreadID, o.OnWarning, o.Observers = "t", func(event.Warning) {}, []client.Observer{m.Observer()}
	return &o
}

// tree draws the spans, each with its kind, its status and some attributes.
func (m *memory) tree(keys ...attribute.Key) string {
	var b strings.Builder
	stubs := m.spans.GetSpans()
	known := map[trace.SpanID]bool{}
	for _, s := range stubs {
		known[s.SpanContext.SpanID()] = true
	}
	var draw func(parent trace.SpanID, indent string)
	draw = func(parent trace.SpanID, indent string) {
		for _, s := range byStart(stubs) {
			if s.Parent.SpanID() != parent && !(parent == (trace.SpanID{}) && !known[s.Parent.SpanID()]) {
				continue
			}
			fmt.Fprintf(&b, "%s%s", indent, s.Name)
			if s.SpanKind != trace.SpanKindInternal {
				fmt.Fprintf(&b, " [%v]", s.SpanKind)
			}
			if s.Status.Code != codes.Unset {
				fmt.Fprintf(&b, " (%v: %s)", s.Status.Code, s.Status.Description)
			}
			for _, a := range s.Attributes {
				for _, key := range keys {
					if a.Key == key {
						fmt.Fprintf(&b, " %s=%s", a.Key, a.Value.String())
					}
				}
			}
			for _, e := range s.Events {
				fmt.Fprintf(&b, " *%s", e.Name)
			}
			b.WriteByte('\n')
			draw(s.SpanContext.SpanID(), indent+"  ")
		}
	}
	draw(trace.SpanID{}, "")
	return b.String()
}

// byStart returns the spans in the order in which they began. The exporter has them in the order in which they ended.
func byStart(stubs tracetest.SpanStubs) tracetest.SpanStubs {
	sorted := append(tracetest.SpanStubs(nil), stubs...)
	for i := range sorted {
		for j := i; j > 0 && sorted[j].StartTime.Before(sorted[j-1].StartTime); j-- {
			sorted[j], sorted[j-1] = sorted[j-1], sorted[j]
		}
	}
	return sorted
}

// find returns the spans with a name.
func (m *memory) find(name string) tracetest.SpanStubs {
	var found tracetest.SpanStubs
	for _, s := range byStart(m.spans.GetSpans()) {
		if s.Name == name {
			found = append(found, s)
		}
	}
	return found
}

// measured returns what was measured, by instrument and attributes: of histograms the count and the sum.
func (m *memory) measured(t *testing.T) map[string]string {
	t.Helper()
	var data metricdata.ResourceMetrics
	require.NoError(t, m.metrics.Collect(t.Context(), &data))
	got := map[string]string{}
	for _, s := range data.ScopeMetrics {
		assert.Equal(t, "github.com/agfold/agfold/adapters/otel", s.Scope.Name)
		assert.Equal(t, spans.SchemaURL, s.Scope.SchemaURL)
		for _, in := range s.Metrics {
			key := func(set attribute.Set) string {
				return in.Name + " " + set.Encoded(attribute.DefaultEncoder())
			}
			switch d := in.Data.(type) {
			case metricdata.Histogram[float64]:
				for _, p := range d.DataPoints {
					got[key(p.Attributes)] = fmt.Sprintf("%d × %.3f %s", p.Count, p.Sum, in.Unit)
				}
			case metricdata.Histogram[int64]:
				for _, p := range d.DataPoints {
					got[key(p.Attributes)] = fmt.Sprintf("%d × %d %s", p.Count, p.Sum, in.Unit)
				}
			case metricdata.Sum[int64]:
				for _, p := range d.DataPoints {
					got[key(p.Attributes)] = fmt.Sprintf("%d %s", p.Value, in.Unit)
				}
			default:
				t.Errorf("%s is a %T", in.Name, d)
			}
		}
	}
	return got
}

// twice is an agent that calls the tool now and then says what it was told.
func twice() client.Agent {
	return client.Emit(func(_ context.Context, in event.RunInput, emit func(...event.Event) error) error {
		begin := &event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID}
		if in.Messages[len(in.Messages)-1].Role != messages.RoleTool {
			return emit(begin, &event.ToolCallStart{ToolCallID: "c", ToolCallName: "now"}, &event.ToolCallArgs{ToolCallID: "c", Delta: "{}"}, &event.ToolCallEnd{ToolCallID: "c"},
				&event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID, Outcome: event.Outcome{Type: event.OutcomeSuccess, PendingToolCallIDs: []string{"c"}}})
		}
		return emit(begin, &event.TextMessageStart{MessageID: in.RunID + "m"}, &event.TextMessageContent{MessageID: in.RunID + "m", Delta: "noon"}, &event.TextMessageEnd{MessageID: in.RunID + "m"},
			&event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID, Outcome: event.Outcome{Type: event.OutcomeInterrupt, Interrupts: []event.Interrupt{{ID: "i", Reason: "approval"}}}})
	})
}

func TestLiveSession(t *testing.T) {
	m := inMemory(t, otel.Options{Agent: "clock"})
	var mu sync.Mutex
	var headers []string
	handler := serve.Agent(twice(), nil)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		headers = append(headers, r.Header.Get("Traceparent"))
		mu.Unlock()
		handler.ServeHTTP(w, r)
	}))
	defer server.Close()
	now := client.Tool{Tool: event.Tool{Name: "now"}, Call: func(ctx context.Context, _ *messages.ToolCall) (any, error) {
		_, span := m.tracers.Tracer("mine").Start(ctx, "mine")
		span.End()
		return "noon", nil
	}}
	s := client.NewSession(client.NewHTTP(server.URL, &client.HTTPOptions{Prepare: m.Prepare}), m.session(client.SessionOptions{Tools: []client.Tool{now}}))
	ctx, caller := m.tracers.Tracer("mine").Start(t.Context(), "caller")
	_, err := s.Send(ctx, messages.UserText("What time is it?"))
	require.NoError(t, err)
	caller.End()
	assert.Equal(t, "caller\n  turn\n    invoke_agent clock [client] gen_ai.conversation.id=t agfold.run.outcome=succeeded\n      tool_call now\n"+
		"    execute_tool now agfold.tool.by=client\n      mine\n    invoke_agent clock [client] gen_ai.conversation.id=t agfold.run.outcome=interrupted *agfold.interrupt\n      message assistant\n",
		strings.ReplaceAll(m.tree("gen_ai.conversation.id", "agfold.run.outcome", "agfold.tool.by"), "turn gen_ai.conversation.id=t", "turn"))
	runs := m.find("invoke_agent clock")
	mu.Lock()
	defer mu.Unlock()
	require.Len(t, headers, 2)
	for i, run := range runs {
		assert.Equal(t, fmt.Sprintf("00-%s-%s-01", run.SpanContext.TraceID(), run.SpanContext.SpanID()), headers[i], "the request of each run carries its span")
		assert.Equal(t, caller.SpanContext().TraceID(), run.SpanContext.TraceID())
	}
	for _, s := range m.spans.GetSpans() {
		assert.False(t, s.EndTime.Before(s.StartTime), s.Name)
		if s.InstrumentationScope.Name != "mine" {
			assert.Equal(t, spans.SchemaURL, s.InstrumentationScope.SchemaURL)
			assert.Equal(t, "github.com/agfold/agfold/adapters/otel", s.InstrumentationScope.Name)
		}
	}
}

func TestFailuresHaveAStatus(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }))
	defer server.Close()
	m := inMemory(t, otel.Options{})
	_, err := client.NewSession(client.NewHTTP(server.URL, nil), m.session(client.SessionOptions{})).Send(t.Context())
	require.Error(t, err)
	assert.Equal(t, "turn (Error: unexpected status 429 Too Many Requests) error.type=429\n  invoke_agent [client] (Error: unexpected status 429 Too Many Requests) error.type=429\n", m.tree("error.type"))
	assert.Equal(t, "1 {run}", m.measured(t)["agfold.runs agfold.run.outcome=unstarted"])
	m = inMemory(t, otel.Options{})
	broken := client.Emit(func(context.Context, event.RunInput, func(...event.Event) error) error { return errors.New("no model") })
	_, err = client.NewSession(broken, m.session(client.SessionOptions{})).Send(t.Context())
	require.Error(t, err)
	assert.Equal(t, "turn (Error: no model) error.type=_OTHER\n  invoke_agent [client] (Error: no model) error.type=_OTHER\n", m.tree("error.type"))
}

func TestRecording(t *testing.T) {
	m := inMemory(t, otel.Options{Agent: "clock"})
	times := m.replay(t, "../../spans/testdata/two-turns.ndjson")
	assert.Equal(t, spans.TimesRecorded, times)
	assert.Equal(t, `turn
  invoke_agent clock [client]
    step agent
      reasoning
      tool_call now
  execute_tool now
  invoke_agent clock [client] *agfold.usage *agfold.usage
    message assistant
turn (Error: reading events: connection reset by peer)
  invoke_agent clock [client] (Error: reading events: connection reset by peer)
`, m.tree())
	start := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	run := m.find("invoke_agent clock")[0]
	assert.True(t, run.StartTime.Equal(start), run.StartTime)
	assert.True(t, run.EndTime.Equal(start.Add(725*time.Millisecond)), run.EndTime)
	tool := m.find("execute_tool now")[0]
	assert.True(t, tool.StartTime.Equal(start.Add(725*time.Millisecond)), tool.StartTime)
	assert.True(t, tool.EndTime.Equal(start.Add(900*time.Millisecond)), tool.EndTime)
	assert.Equal(t, map[string]string{
		"agfold.runs agfold.run.outcome=succeeded,gen_ai.agent.name=clock":                                                                                                       "2 {run}",
		"agfold.runs agfold.run.outcome=truncated,gen_ai.agent.name=clock":                                                                                                       "1 {run}",
		"gen_ai.client.operation.duration error.type=truncated,gen_ai.agent.name=clock,gen_ai.operation.name=invoke_agent":                                                       "1 × 0.090 s",
		"gen_ai.client.operation.duration gen_ai.agent.name=clock,gen_ai.operation.name=invoke_agent":                                                                            "2 × 1.065 s",
		"gen_ai.client.operation.duration agfold.tool.by=client,agfold.tool.outcome=answered,gen_ai.agent.name=clock,gen_ai.operation.name=execute_tool,gen_ai.tool.name=now":    "1 × 0.175 s",
		"gen_ai.client.operation.time_to_first_chunk gen_ai.agent.name=clock,gen_ai.operation.name=invoke_agent":                                                                 "2 × 0.960 s",
		"gen_ai.client.operation.time_per_output_chunk gen_ai.agent.name=clock,gen_ai.operation.name=invoke_agent":                                                               "2 × 0.041 s",
		"gen_ai.client.token.usage gen_ai.agent.name=clock,gen_ai.operation.name=invoke_agent,gen_ai.provider.name=anthropic,gen_ai.response.model=m-1,gen_ai.token.type=input":  "2 × 270 {token}",
		"gen_ai.client.token.usage gen_ai.agent.name=clock,gen_ai.operation.name=invoke_agent,gen_ai.provider.name=anthropic,gen_ai.response.model=m-1,gen_ai.token.type=output": "2 × 23 {token}",
		"gen_ai.client.token.usage gen_ai.agent.name=clock,gen_ai.operation.name=invoke_agent,gen_ai.provider.name=openai,gen_ai.response.model=m-2,gen_ai.token.type=input":     "1 × 10 {token}",
		"gen_ai.client.token.usage gen_ai.agent.name=clock,gen_ai.operation.name=invoke_agent,gen_ai.provider.name=openai,gen_ai.response.model=m-2,gen_ai.token.type=output":    "1 × 1 {token}",
	}, m.measured(t))
}

// replay makes the telemetry of a recorded file.
func (m *memory) replay(t *testing.T, file string) spans.Times {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	rec, err := recording.Open(strings.NewReader(string(text)), nil)
	require.NoError(t, err)
	times, err := m.Recording(t.Context(), rec)
	require.NoError(t, err)
	return times
}

func TestWhatIsNotSampled(t *testing.T) {
	m := inMemory(t, otel.Options{}, sdktrace.WithSampler(sdktrace.NeverSample()))
	headers := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		headers <- r.Header.Get("Traceparent")
		serve.Agent(twice(), nil).ServeHTTP(w, r)
	}))
	defer server.Close()
	_, err := client.NewSession(client.NewHTTP(server.URL, &client.HTTPOptions{Prepare: m.Prepare}), m.session(client.SessionOptions{})).Send(t.Context(), messages.UserText("x"))
	require.NoError(t, err)
	assert.Empty(t, m.spans.GetSpans())
	assert.Regexp(t, `^00-[0-9a-f]{32}-[0-9a-f]{16}-00$`, <-headers)
	assert.Equal(t, "1 {run}", m.measured(t)["agfold.runs agfold.run.outcome=succeeded"], "metrics do not depend on samples")
}

func TestDefaultsDoNothingUntilProvidersAreSet(t *testing.T) {
	tel, err := otel.New(nil)
	require.NoError(t, err)
	r := new(client.Request)
	require.NoError(t, tel.Prepare(t.Context(), r))
	assert.Empty(t, r.Header)
	s := client.NewSession(twice(), &client.SessionOptions{Observers: []client.Observer{tel.Observer()}})
	_, err = s.Send(t.Context(), messages.UserText("x"))
	require.NoError(t, err)
}

func TestNamesOfMetricsAreBounded(t *testing.T) {
	m := inMemory(t, otel.Options{MaxNames: 3})
	var b strings.Builder
	b.WriteString(`{"type":"RUN_STARTED","threadId":"t","runId":"r"}` + "\n")
	for i := range 20 {
		fmt.Fprintf(&b, `{"type":"TOOL_CALL_START","toolCallId":"c%d","toolCallName":"tool%d"}`+"\n", i, i)
		fmt.Fprintf(&b, `{"type":"TOOL_CALL_END","toolCallId":"c%d"}`+"\n", i)
		fmt.Fprintf(&b, `{"type":"TOOL_CALL_RESULT","messageId":"m%d","toolCallId":"c%d","content":"x"}`+"\n", i, i)
	}
	b.WriteString(`{"type":"RUN_FINISHED","threadId":"t","runId":"r"}` + "\n")
	rec, err := recording.Open(strings.NewReader(b.String()), nil)
	require.NoError(t, err)
	_, err = m.Recording(t.Context(), rec)
	require.NoError(t, err)
	tools := map[string]string{}
	for key, value := range m.measured(t) {
		if _, name, ok := strings.Cut(key, "gen_ai.tool.name="); ok {
			tools[name], _, _ = strings.Cut(value, " ")
		}
	}
	assert.Equal(t, map[string]string{"tool0": "1", "tool1": "1", "tool2": "1", "_OTHER": "17"}, tools)
	assert.Len(t, m.find("execute_tool tool19"), 1, "spans have the names")
}

func TestManySessionsShareOne(t *testing.T) {
	m := inMemory(t, otel.Options{ContentBytes: 10})
	before := runtime.NumGoroutine()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			now := client.Tool{Tool: event.Tool{Name: "now"}, Call: func(context.Context, *messages.ToolCall) (any, error) { return "noon", nil }}
			s := client.NewSession(twice(), m.session(client.SessionOptions{Tools: []client.Tool{now}}))
			defer s.Close()
			_, err := s.Send(t.Context(), messages.UserText("x"))
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	assert.Len(t, m.find("turn"), 8)
	assert.Len(t, m.find("execute_tool now"), 8)
	assert.Equal(t, "16 {run}", sum(m.measured(t), "agfold.runs"))
	for deadline := time.Now().Add(30 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("goroutines left: %d before, %d now", before, runtime.NumGoroutine())
		}
	}
}

// sum adds up the counts of an instrument.
func sum(measured map[string]string, name string) string {
	total := 0
	unit := ""
	for key, value := range measured {
		if strings.HasPrefix(key, name+" ") {
			n := 0
			_, _ = fmt.Sscanf(value, "%d %s", &n, &unit)
			total += n
		}
	}
	return fmt.Sprintf("%d %s", total, unit)
}
