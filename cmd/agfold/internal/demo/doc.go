// Package demo is a small agent that speaks AG-UI 1.0, to try a client against: it plans a weekend in Lisbon. It uses no model and no network, and says the same every time.
//
// Its story takes several runs of one thread, and shows what the protocol has: steps, reasoning, text,
// shared state by deltas, an activity, its own tools, two subagents in parallel, a tool of the
// client (local_time, if the client offers it) and an interrupt. Nothing is kept between runs: the run's input
// says where the story continues.
package demo
