// Package sse reads and writes the framing of server-sent events: the lines that carry one AG-UI event
// each. It knows nothing of what the events say.
//
// Only the data field counts. The event, id and retry fields of the format belong to a browser's
// reconnecting client, and an AG-UI stream answers a POST that is never sent twice, so they are skipped
// (P-SSE-1). What is one event, and where lines end, follows the HTML standard, section 9.2.6, with one
// addition: an event that the end of the stream cuts off before its blank line is delivered.
package sse
