// Package messages holds the conversation of AG-UI 1.0: messages of every role, their content, tool calls
// and metadata, and the persistent list that a thread keeps them in. Package event carries
// messages over the wire, and package reducer folds events into them.
//
// A message is found by its kind and id (P-ID-1), see [Kind]. What a message says is its [Content]: a text,
// or a list of [Part]s; [Message.Text] gives the text of either. Metadata differs between absent and empty
// and is merged key by key ([Metadata.Merge], P-MET-1). Optional scalars are [Opt]s and an optional
// subagentRunId is an [Owner], because absent and empty are different (P-VOC-4).
//
// Everything here is a value: once a snapshot, an event or a run input holds a message, it does not change,
// and any goroutine may read it. To change one, copy the struct:
//
//	changed := *m
//	changed.Name = messages.Some("Ada")
//
// Encoding writes exactly the shape that a role has on the wire. [Decode] rejects a message
// that is malformed and reports what it left out because it is not recognized; package event decodes the events and
// run inputs that hold messages.
//
// The rules cited as P-… are in [PROTOCOL.md].
//
// [PROTOCOL.md]: https://github.com/agfold/agfold/blob/main/PROTOCOL.md
package messages
