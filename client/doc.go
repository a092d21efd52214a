// Package client runs agents and keeps conversations with them.
//
// An [Agent] yields the events of one run: [HTTP] asks a server over POST and server-sent events, recording.Replay
// answers from a recording, [Func] and [Emit] are agents written in Go. [Chain] puts the upgrade of retired
// shapes and then middleware before an agent, on every path the same (P-PIPE-1): [FilterToolCalls], [Record],
// [Log], and [Peer], which talks to agents of an older protocol.
//
// A [Session] holds a conversation over many runs. It makes the run's input, folds what comes back (package
// reducer), answers tool calls with Go functions ([NewTool]), resumes interrupts ([Resolve], [Decline]), and hands
// immutable snapshots of the thread to any number of goroutines (package subscribe). How a run ended is one
// [Result], and its error is told apart with errors.Is and errors.As.
//
// [Record] writes what a session's agent sends to a file. Package recording makes a thread of such a file, or of
// any captured stream.
//
// A POST is never sent twice: there is no retry and no resumption, because the protocol has none (P-SSE-1).
//
// The rules cited as P-… are in [PROTOCOL.md].
//
// [PROTOCOL.md]: https://github.com/agfold/agfold/blob/main/PROTOCOL.md
package client
