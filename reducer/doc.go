// Package reducer folds AG-UI events into a [Thread]: messages with their tool calls and metadata, the
// shared state, runs, steps, interrupts and the tree of subagents.
//
// A [Reducer] takes one event stream. Each event goes through the fixed pipeline of the protocol
// (P-PIPE-1): decoding, which is enforcement (package event), expansion of chunks (package chunks),
// verification, fold. [Reducer.Apply] does that; [Reducer.Deliver] also shows each [Delivery], an event as an
// application sees it together with what it changed. At any time [Reducer.Thread] returns a snapshot of the
// thread. A snapshot is immutable, costs the same however long the thread is, can be kept, and can be read from
// any goroutine while the reducer continues.
//
// There is no goroutine, lock, clock or logger here. The same events give the same threads, warnings and
// errors, however often they are replayed.
//
// There are three kinds of problems. What the protocol tolerates makes an [event.Warning], in the delivery that it
// belongs to. What it forbids makes an error, a [*Violation] or a [*messages.MalformedError], after which the thread is
// final: it keeps everything that came before, its last run is rejected, and every further Apply returns an error. A run
// that reports its own failure by RUN_ERROR has ended in an ordinary way, with an [*AgentError] in [Run.Err].
//
// Client sessions (package client) use one reducer per run and pass the thread from one to the next. Package subscribe
// delivers the snapshots to a UI.
//
// The code is in three parts: the intake decodes, expands and counts events, the verifier judges each one before
// anything changes, and the draft folds it.
//
// The rules cited as P-… are in [PROTOCOL.md].
//
// [PROTOCOL.md]: https://github.com/agfold/agfold/blob/main/PROTOCOL.md
package reducer
