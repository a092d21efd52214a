// Package serve has the HTTP handlers of agents and threads. [Agent] serves any [client.Agent] as an AG-UI endpoint: a run's
// input comes with a POST, and its events leave as server-sent events. [Threads] keeps conversations for browsers: it runs the
// agent on their behalf, and stores the threads.
//
// The handlers use net/http and nothing else. The package does not authenticate and sets no CORS headers: wrap the handlers
// in what your site uses for both. SECURITY.md in the repository says what is promised.
//
// The rules (P-…) are those of [PROTOCOL.md].
//
// [PROTOCOL.md]: https://github.com/agfold/agfold/blob/main/PROTOCOL.md
package serve
