// Package entry is the form of the log of a thread, without a broker: messages, each with a header and lines, the lines of
// runs, changes and stops, and the [Replica], which makes the thread of them.
//
// A message of the log is a line of JSON, the [Header], and then lines of JSON, the entries. Entries that do not fit into one
// message are split: the messages after the first one begin with a header too, and what follows the headers is put together
// again. Entries are numbered from 0 for each writer, so that a reader sees whether one is missing or came twice.
//
//	{"agfold":"log/1","token":7,"first":0,"count":3,"at":"2026-03-01T10:00:00Z"}
//	{"open":{"holder":"node-7"}}
//	{"head":{"input":{"threadId":"t","runId":"r","messages":[]}}}
//	{"event":{"type":"RUN_STARTED","threadId":"t","runId":"r"}}
package entry
