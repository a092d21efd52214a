// Package reducer folds AG-UI events into a [Thread]: messages with their tool calls and metadata, the
// shared state, runs, steps, interrupts and the tree of subagents.
//
// A [Reducer] takes one event stream. Each event goes through the fixed pipeline of the protocol
// (P-PIPE-1): decoding, which is enforcement (package event), expansion of chunks (package chunks),
// verification, fold. What comes out is a list of [Delivery] values, the events as an application sees them
// together with what each one changed, and on request a snapshot of the thread. A snapshot is immutable,
// costs the same whatever the thread's length is, can be kept for ever and be read from any goroutine
// while the reducer goes on.
//
// There is no goroutine, lock, clock or logger here. The same events give the same threads, warnings and
// errors, however often they are replayed.
//
// Three kinds of trouble are told apart. What the protocol tolerates is an [event.Warning] value in the
// step that it belongs to. What it forbids is an error, a [*Violation] or an [*messages.MalformedError],
// after which the thread is final: it keeps all that came before, its last run is rejected, and every
// further Apply says so. And a run that reports its own failure by RUN_ERROR is an ordinary end of a run,
// found in [Run.Err] as a [*AgentError].
//
// Client sessions (package client) use one reducer for each run and hand the thread from one to the next;
// package subscribe carries the snapshots on.
package reducer
