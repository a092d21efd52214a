package client

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/sse"
	"github.com/agfold/agfold/recording"
)

const benchEvents = 10_000

var benchStream = func() []byte {
	content := []byte(`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m-1","delta":"some words of text"}`)
	return bytes.Repeat(sse.Append(nil, content), benchEvents)
}()

// cannedTransport answers every request with the same body, without a network.
type cannedTransport struct{}

func (cannedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(bytes.NewReader(benchStream)), Request: req}, nil
}

// BenchmarkEvents measures what an event costs on its way from the bytes of an answer to the reader, in one
// run beside the floor: framing and json.Valid.
func BenchmarkEvents(b *testing.B) {
	agent := NewHTTP("http://agent", &HTTPOptions{Client: &http.Client{Transport: cannedTransport{}}})
	run := func(name string, f func() int) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if n := f(); n != benchEvents {
					b.Fatal(n)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*benchEvents), "ns/event")
		})
	}
	drain := func(agent Agent) func() int {
		return func() (n int) {
			for _, err := range agent.Run(context.Background(), event.RunInput{}) {
				if err != nil {
					b.Fatal(err)
				}
				n++
			}
			return n
		}
	}
	run("floor", func() (n int) {
		r := sse.NewReader(bytes.NewReader(benchStream), 0)
		for {
			data, err := r.Next()
			if err != nil {
				return n
			}
			if json.Valid(data) {
				n++
			}
		}
	})
	run("http", drain(agent))
	run("chain", drain(Chain(agent)))
	run("filter", drain(Chain(agent, FilterToolCalls(func(string) bool { return false }))))
	run("peer", drain(Chain(agent, Peer("0.0.57"))))
	run("record", drain(Chain(agent, Record(recording.NewWriter(&countingWriter{})))))
}

type countingWriter struct{ n int }

func (w *countingWriter) Write(p []byte) (int, error) { w.n += len(p); return len(p), nil }
