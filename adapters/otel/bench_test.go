package otel_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/agfold/agfold/adapters/otel"
	"github.com/agfold/agfold/client"
)

// pieces is how many pieces the text of the benchmark has.
const pieces = 1000

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// BenchmarkSession compares sessions without telemetry, with that of the SDK, and with traces that are not sampled: a run with a
// text of 1000 pieces and ten tool calls, over HTTP without a network.
func BenchmarkSession(b *testing.B) {
	var body strings.Builder
	events := 0
	say := func(s string) { events++; body.WriteString("data: " + s + "\n\n") }
	say(`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`)
	say(`{"type":"TEXT_MESSAGE_START","messageId":"m"}`)
	for range pieces {
		say(`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"another piece"}`)
	}
	say(`{"type":"TEXT_MESSAGE_END","messageId":"m"}`)
	for _, id := range strings.Split("abcdefghij", "") {
		say(`{"type":"TOOL_CALL_START","toolCallId":"` + id + `","toolCallName":"search"}`)
		say(`{"type":"TOOL_CALL_ARGS","toolCallId":"` + id + `","delta":"{}"}`)
		say(`{"type":"TOOL_CALL_END","toolCallId":"` + id + `"}`)
		say(`{"type":"TOOL_CALL_RESULT","messageId":"r` + id + `","toolCallId":"` + id + `","content":"found"}`)
	}
	say(`{"type":"RUN_FINISHED","threadId":"t","runId":"r","usage":[{"provider":"p","model":"m","inputTokens":10,"outputTokens":1000}]}`)
	transport := roundTrip(func(r *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.WriteString(body.String())
		return w.Result(), nil
	})
	telemetry := func(sampler sdktrace.Sampler) *otel.Telemetry {
		t, err := otel.New(&otel.Options{Tracers: sdktrace.NewTracerProvider(sdktrace.WithSampler(sampler)), Meters: metric.NewMeterProvider(metric.WithReader(metric.NewManualReader()))})
		if err != nil {
			b.Fatal(err)
		}
		return t
	}
	for _, row := range []struct {
		name string
		t    *otel.Telemetry
	}{{"without", nil}, {"with", telemetry(sdktrace.AlwaysSample())}, {"unsampled", telemetry(sdktrace.NeverSample())}} {
		b.Run(row.name, func(b *testing.B) {
			b.ReportAllocs()
			so, ho := &client.SessionOptions{ThreadID: "t"}, &client.HTTPOptions{Client: &http.Client{Transport: transport}}
			if row.t != nil {
				so.Observers, ho.Prepare = []client.Observer{row.t.Observer()}, row.t.Prepare
			}
			before, _ := cpuTime()
			for b.Loop() {
				if _, err := client.NewSession(client.NewHTTP("http://agent.test/", ho), so).Send(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			if after, err := cpuTime(); err == nil { // other programs on the machine do not count
				b.ReportMetric(float64((after-before).Nanoseconds())/float64(b.N)/float64(events), "cpu-ns/event")
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(events), "ns/event")
		})
	}
}
