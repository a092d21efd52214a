// Package client runs agents and keeps conversations with them.
//
// An [Agent] yields the events of one run: [NewHTTP] asks a server over POST and server-sent events, recording.Replay plays a
// recording, [AgentFunc] and [Emit] make agents of Go functions. [Chain] wraps an agent in the upgrade of retired shapes
// and then in middleware, the same way on every path (P-PIPE-1): [FilterToolCalls], [Record], [Log], and [Peer], for
// agents of an older protocol.
//
// Some agents declare what they can do before they are asked: see [Capabilities].
//
// A [Session] holds a conversation over many runs. It makes each run's input, folds what comes back (package reducer),
// answers tool calls with Go functions ([NewTool]), resumes interrupts ([Resolve], [Decline]), and delivers immutable
// snapshots of the thread and of what the session is doing ([Snapshot], package subscribe). [Session.Start] begins a [Turn] and
// returns at once; [Session.Send] also waits for it. A [Result] says how a turn ended; errors.Is and errors.AsType distinguish its
// errors. The page [errors] lists which call returns which error.
//
// No constructor panics: if an argument is invalid, such as a nil agent or middleware, a URL, or a version, every run
// returns an error before anything is sent. A POST is never sent twice: there is no retry and no resumption, because the protocol has none (P-SSE-1).
//
// The rules cited as P-… are in [PROTOCOL.md].
//
// [errors]: https://github.com/agfold/agfold/blob/main/docs/errors.md
// [PROTOCOL.md]: https://github.com/agfold/agfold/blob/main/PROTOCOL.md
package client
