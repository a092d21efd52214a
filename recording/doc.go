// Package recording reads and writes recorded runs: files of events as they were received.
//
// [Open] opens a recording and recognizes its form by its content: a captured stream of server-sent events, or
// data lines pasted from one; one event per line; a JSON array of events; an object with the events as its member stream
// (the form of the protocol's own test data); and the form that [Writer] writes. A recording is read as it is iterated, so
// it may be larger than memory. The exceptions are the object and JSON that is spread over lines: these are read into
// memory, up to 256 MiB.
//
// [Recording.Entries] yields what is in it, with inputs and times. [Fold] makes the recorded thread at once, a [Folder]
// step by step. [Create] opens a file to record in, for the middleware client.Record. A [Replay] is an agent that plays
// recorded runs again.
//
// # The form that Writer writes
//
// Each line is JSON. A head begins a run and holds the run input. Each line after it is an event and the time when it
// came, in milliseconds since the head's start:
//
//	{"agfold":"recording/1","start":"2026-03-01T10:00:00Z","input":{"threadId":"t","runId":"r","messages":[]}}
//	{"at":132.507,"event":{"type":"RUN_STARTED","threadId":"t","runId":"r"}}
//	{"at":940.01,"event":{"type":"RUN_FINISHED","threadId":"t","runId":"r"}}
//
// Data that is not an event (P-PIPE-2) is a string:
//
//	{"at":941,"data":"[DONE]"}
//
// If the stream ended with an error, the run's last line holds its text, and whether the stream was cut off:
//
//	{"at":940.01,"error":"reading events: connection reset by peer","truncated":true}
//
// Several runs may follow one another. Each line is written at once, so a crash loses no more than the last one. What
// cannot be read is skipped up to the next head and reported as a [DamageError]. An at may also be a date and time (RFC 3339);
// input and start may be missing.
//
// The rules cited as P-… are in [PROTOCOL.md].
//
// [PROTOCOL.md]: https://github.com/agfold/agfold/blob/main/PROTOCOL.md
package recording
