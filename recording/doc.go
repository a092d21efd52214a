// Package recording reads and writes recorded runs: files of events as they came.
//
// [Open] tells the forms that people have apart by what they hold, not by a name: a captured
// server-sent event stream or data lines pasted out of one, one event a line, a JSON array of events, an
// object with the events as its member stream (the form of the protocol's own test data), and the form
// that [Writer] writes. Everything but the object and text that is spread over lines for people is read
// as it goes, so a recording may be larger than memory. [Folder] makes one thread of all that a recording holds.
//
// # The form that Writer writes
//
// It is lines of JSON. A head begins a run and holds the run input; every line after it is an event and
// when it came, in milliseconds since the head's start:
//
//	{"agfold":"recording/1","start":"2026-03-01T10:00:00Z","input":{"threadId":"t","runId":"r","messages":[]}}
//	{"at":132.507,"event":{"type":"RUN_STARTED","threadId":"t","runId":"r"}}
//	{"at":940.01,"event":{"type":"RUN_FINISHED","threadId":"t","runId":"r"}}
//
// Where the stream ended with an error, its text is the run's last line, with whether the error says that the
// stream was cut off:
//
//	{"at":940.01,"error":"reading events: connection reset by peer","truncated":true}
//
// Several runs may follow one another. Each line is written at once, so a crash loses no more than the
// last one, and a run recorded behind it can be read. An at may also be a date and time (RFC 3339), and
// input and start may be missing.
//
// The rules cited as P-… are in [PROTOCOL.md].
//
// [PROTOCOL.md]: https://github.com/agfold/agfold/blob/main/PROTOCOL.md
package recording
