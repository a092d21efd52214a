// Package spans makes spans of what agents do, as plain data: turns, runs, messages, tool calls, steps and subagents, nested as they
// are, with the time that each took and how it ended. What is done with them is up to a [Sink]: the module adapters/otel replays
// them into the OpenTelemetry SDK, and agfold convert --otlp prints them as OTLP/JSON.
//
// [Observe] makes the spans of live sessions, as an observer of package client; [Recording] makes those of a recorded
// conversation with its recorded times.
//
//	turn                             Session.Send: one question with all that follows
//	├── invoke_agent                 a run, from the request to RUN_FINISHED
//	│   ├── message assistant        a text, from its start to its end
//	│   ├── reasoning
//	│   ├── tool_call search         a call, while its arguments arrive
//	│   ├── execute_tool search      from then to its result, if the agent's side calls the tool
//	│   │   └── invoke_agent finder  a subagent, under the call that it was made by
//	│   └── step plan                a step; what its owner does meanwhile is in it
//	├── execute_tool locate          a tool that the session calls, between runs
//	└── invoke_agent                 the run that gets the answer
//
// Names and attributes follow OpenTelemetry's semantic conventions for generative AI, version 1.41.0, where these say something
// (gen_ai.…, error.type); what is particular to AG-UI is called agfold.…. docs/otel.md lists all of them.
//
// What agents say is bounded and cut before it becomes a name or an attribute. What was said (texts, arguments, results) is not in
// the spans unless [Options.ContentBytes] asks for it.
//
// The rules cited as P-… are in PROTOCOL.md.
//
// [PROTOCOL.md]: https://github.com/agfold/agfold/blob/main/PROTOCOL.md
package spans
