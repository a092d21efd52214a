// Package chunks expands the chunk events of AG-UI: consecutive TEXT_MESSAGE_CHUNK, TOOL_CALL_CHUNK or
// REASONING_MESSAGE_CHUNK events become start, content and end events (P-CHK-1 to P-CHK-8).
//
// A chunk need not say what it continues; its lane says it. Each owner, the parent agent or one subagent invocation, has a
// lane. A lane assembles one stream at a time: a text message, a tool call or a reasoning message. Lanes are independent,
// so subagents may stream at the same time.
//
// [Expander] takes one event and returns its expansion; package reducer runs one between decoding and verification.
// [Expand] expands a whole stream. [Router] only says what each chunk belongs to. The reducer judges whether the resulting
// events are valid together: this package does not reject, for example, the start of a message that is already open.
//
// Choices where the protocol leaves room:
//
//   - A continuation that carries nothing, neither delta nor metadata nor rawEvent, expands to nothing.
//   - A start made from a chunk without a role says assistant.
//   - A continuation may not add what the opener left out: a name or parentMessageId that only the
//     continuation has is a conflict (P-CHK-5).
//   - A valid tag equals its lane's owner, so the events made from a chunk, and the end of its stream, name
//     that owner.
//   - The five retired THINKING_* close nothing. They get here only if nothing upgraded them.
//
// The rules cited as P-… are in [PROTOCOL.md].
//
// [PROTOCOL.md]: https://github.com/agfold/agfold/blob/main/PROTOCOL.md
package chunks
