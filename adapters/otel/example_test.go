package otel_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/agfold/agfold/adapters/otel"
	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/serve"
)

func Example() {
	server := httptest.NewServer(serve.Agent(twice(), nil))
	defer server.Close()
	url := server.URL
	exporter := tracetest.NewInMemoryExporter()
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))
	if err := ask(url, tracers); err != nil {
		fmt.Println("error:", err)
	}
	for _, span := range exporter.GetSpans() {
		fmt.Println(span.Name)
	}
	// Output:
	// tool_call now
	// invoke_agent planner
	// turn
}

// ask has one turn with the agent at url.
func ask(url string, tracers *sdktrace.TracerProvider) error {
	telemetry, err := otel.New(&otel.Options{Agent: "planner", Tracers: tracers}) // without Tracers and Meters: the global ones
	if err != nil {
		return err
	}
	agent := client.NewHTTP(url, &client.HTTPOptions{Prepare: telemetry.Prepare}) // sends traceparent
	s := client.NewSession(agent, &client.SessionOptions{Observers: []client.Observer{telemetry.Observer()}})
	defer s.Close()
	_, err = s.Send(context.Background(), messages.UserText("Plan a weekend in Lisbon."))
	return err
}
