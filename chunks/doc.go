// Package chunks turns the chunk shorthand of AG-UI into whole events: a run of TEXT_MESSAGE_CHUNK,
// TOOL_CALL_CHUNK or REASONING_MESSAGE_CHUNK becomes the start, content and end events that it stands
// for (P-CHK-1 to P-CHK-8).
//
// A chunk need not say what it continues. What it leaves out is found by its lane: every owner, the
// parent agent or one subagent invocation, has a lane of its own, and a lane assembles one stream at a
// time: a text message, a tool call or a reasoning message. Lanes never disturb each other, so
// subagents may stream at once.
//
// [Expander] is the stage itself, one event in and some events out; package reducer runs one between
// decoding and verification. [Expand] does the same for a whole stream. Whether the events that come out
// make sense together, such as the start of a message that is open already, is for the reducer to judge.
//
// Choices where the protocol leaves room:
//
//   - A continuation that carries nothing, neither delta nor metadata nor rawEvent, expands to nothing.
//   - A start made from a chunk without role says assistant.
//   - A continuation may not add what the opener left out: a name or parentMessageId that only the
//     continuation has is a conflict (P-CHK-5).
//   - A tag that a chunk may legally carry always equals its lane's owner, so the events made from a
//     chunk, and the end of its stream, name that owner.
//   - The five retired THINKING_* close nothing. They come this far only if nobody upgraded them.
//
// The rules cited as P-… are in [PROTOCOL.md].
//
// [PROTOCOL.md]: https://github.com/agfold/agfold/blob/main/PROTOCOL.md
package chunks
