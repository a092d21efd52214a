// Package event holds the events of AG-UI 1.0: 31 types and five retired ones, as Go structs and as they
// arrive, and everything between the two.
//
// Transports turn bytes into frames ([NewFrame] or a [Framer], P-PIPE-2); the [Upgrader] converts what
// older peers send (P-CMP-1 to 3); middleware sees frames (P-PIPE-3); the [Decoder] enforces the protocol and
// returns typed events (P-ENF-1 to 7), which package chunks expands and package reducer verifies and folds.
// Frames and typed events are both [Event]s, so that a stream is always an iter.Seq2[event.Event, error].
// [Check] judges events that are made in Go by the same rules. A [RunInput] goes the other way, through
// [RunInput.Enforce] (P-ENF-6).
//
// # Three results
//
// What enforcement finds is malformed, unrecognized or valid. Malformed material, a described field of the
// wrong kind, is an error, a [*messages.MalformedError] that names rule, type, path, what belongs there and what is
// there. Unrecognized material, which a newer peer may send, is removed with a [Warning] that names the
// removed place, or is an error in strict mode ([DecodeOptions]). Open objects (metadata, patch operations,
// any-JSON values) are data and never looked into.
//
// # Where the protocol leaves a choice
//
//   - If two members share a key, the last one counts, and only that one is judged.
//   - Bytes that are not UTF-8 become U+FFFD. A surrogate escape without its partner is kept and encoded
//     as it came, so that ids that differ stay different; see package state.
//   - An integer is one by its value, as in JSON Schema: 1.0 and 1e3 are integers. Timestamps lie within
//     ±(2^53-1), token counts between 0 and 2^53-1.
//   - Containers nest at most [state.DefaultMaxDepth] deep, the event itself included. Deeper text is not
//     an event (P-PIPE-2), and neither is text with anything but white space after the object.
//   - A tag that is missing or not a string is malformed; only a string can be unrecognized (P-ENF-3, D-15).
//   - A fixed value that differs is malformed: the role of REASONING_MESSAGE_START, the role of a tool
//     result, the type of a tool call (P-ENF-4).
//   - The metadata of a content part may be any JSON value but null; all other metadata is an object.
//   - RunAgentInput.state may be null, which counts as absent (P-STA-2). No other optional field may.
//   - What lies inside a removed place is not judged (P-ENF-3).
//
// # Encoding
//
// [Append] writes type first, then the fields in the order in which the protocol lists them, then
// subagentRunId, timestamp, rawEvent and metadata. (The SUBAGENT_* events, which are about an invocation,
// have its id right after type.) Decoding what was encoded gives an equal event, without a warning if the
// event is valid.
//
// The rules cited as P-… are in [PROTOCOL.md].
//
// [PROTOCOL.md]: https://github.com/agfold/agfold/blob/main/PROTOCOL.md
package event
