// Package otel makes OpenTelemetry traces and metrics of agfold sessions.
//
//	t, err := otel.New(&otel.Options{Agent: "planner"})
//	…
//	agent := client.NewHTTP(url, &client.HTTPOptions{Prepare: t.Prepare})
//	session := client.NewSession(agent, &client.SessionOptions{Observers: []client.Observer{t.Observer()}})
//
// The spans are those of package spans: a turn, in it its runs and the tools that the session calls, in the runs messages,
// tool calls, steps and subagents. A turn is in the span of the context that is passed to Session.Send or Start, a tool's function
// gets a context with the span of its call, and [Telemetry.Prepare] sends the context of the run to the agent's server, as
// traceparent and whatever else the propagator knows.
//
// Traces and metrics follow OpenTelemetry's semantic conventions for generative AI, version 1.41.0. docs/otel.md lists them.
//
// This module has versions of its own, tagged adapters/otel/vX.Y.Z.
package otel
