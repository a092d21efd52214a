// Package chunks turns the chunk shorthand of AG-UI into whole events: consecutive TEXT_MESSAGE_CHUNK, TOOL_CALL_CHUNK or
// REASONING_MESSAGE_CHUNK events become the start, content and end events that they stand for (P-CHK-1 to P-CHK-8).
//
// A chunk need not say what it continues. Its lane tells: each owner, the parent agent or one subagent invocation, has a
// lane, and a lane assembles one stream at a time: a text message, a tool call or a reasoning message. Lanes are
// independent, so subagents may stream at the same time.
//
// [Expander] is the stage itself, one event in and some events out; package reducer runs one between decoding and
// verification. [Expand] does the same for a whole stream, and [Router] only tells what each chunk belongs to. Whether the
// events that come out make sense together, such as the start of a message that is already open, is for the reducer to
// judge.
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
