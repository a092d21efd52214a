// Package emit is for agents written in Go: handles whose events are always in order.
//
// [Agent] makes a [client.Agent] of a function that gets a [Run]. The run, and the steps and subagents in it, are scopes: each
// opens texts, reasoning, tool calls, steps, subagents, activities and the shared state. What a scope has opened is closed
// with the scope, and everything with the run, so there is no stream of events that lacks an end, ends twice, mixes up
// owners or continues what is closed.
//
//	agent := emit.Agent(func(ctx context.Context, run *emit.Run) error {
//		call := run.Call("weather", nil)
//		call.Args(map[string]string{"city": "Oslo"})
//		call.Result(weather(ctx, "Oslo"))
//		answer := run.Text(nil)
//		fmt.Fprint(answer, "It is 4 °C in Oslo.")
//		return nil
//	}, nil)
//
// # Concurrency
//
// All handles may be used from several goroutines: tool calls and subagents that run in parallel simply write. An event has
// reached the reader of the stream when the method that made it returns; there is no queue, so a slow reader slows
// the agent down.
//
// # Errors
//
// Each method that sends returns an error once nothing can be sent any more: the context is done, the reader has left, the
// handle is closed ([ErrClosed]), or what is to be sent is malformed. Nothing is sent then. A function may ignore these errors: the stream is in order anyway, and
// returning soon after ctx is done is all that it must do.
//
// An error that the function returns, and a panic, becomes a RUN_ERROR. A [*reducer.AgentError] is told as it is. Of any other
// error the client is told only that the agent failed, because its text may hold what is not the client's; see [Options].
//
// What fails leaves its texts and calls open: RUN_ERROR ends them, and the client knows that they broke off (P-TXT-3,
// P-TOL-5). So leave the closing to the scope where you can. A deferred Close says that the text is complete.
//
// The rules cited as P-… are in [PROTOCOL.md].
//
// [PROTOCOL.md]: https://github.com/agfold/agfold/blob/main/PROTOCOL.md
package emit
