package main

import (
	"fmt"
	"time"
)

// streamed is how many content events the streams have.
const streamed = 10_000

func groups() []group {
	return []group{
		{
			title: "Bytes to thread: an event of a streamed text, 88 bytes",
			goal:  "at most the floor; chunks and arguments 1.2 times; 1.1 allocations",
			rows: []row{
				floorRow(),
				pipelineRow("ours, no snapshot", 0, snapshotNever),
				foldBytesRow("ours, chunks", chunked, 0, snapshotNever),
				foldBytesRow("ours, arguments with escapes", arguments, 0, snapshotNever),
				pipelineRow("ours, a snapshot after every event", 0, snapshotAlways),
			},
		},
		{
			title: "A snapshot after every event, by what the thread holds already",
			goal:  "at most 1.3 times that at 10 messages",
			rows: []row{
				pipelineRow("10 messages", 10, snapshotAlways),
				pipelineRow("1,000 messages", 1_000, snapshotAlways),
				pipelineRow("100,000 messages", 100_000, snapshotAlways),
			},
		},
		{
			title: "What a subscriber costs the producer, an event made in Go",
			goal:  "about one atomic operation",
			rows:  []row{typedRow(0, false), typedRow(0, true)},
		},
		{
			title: "One replace in the state, of the item in the middle",
			goal:  "20,000 items at most 1.5 times 20, and under 3 µs",
			rows:  []row{patchRow(20), patchRow(2_000), patchRow(20_000), jsonPatchRow(20), jsonPatchRow(2_000)},
		},
		{
			title: "The same as an event: STATE_DELTA from its bytes to the thread",
			goal:  "20,000 items at most 1.5 times 20",
			rows:  []row{deltaRow(20), deltaRow(20_000)},
		},
		{
			title: "SSE framing alone, an event of 88 bytes",
			goal:  "no slower than a line reader by much, and far from the peer",
			rows:  []row{linesRow(), framingRow(), r3labsRow()},
		},
		{
			title: "10 MB in 4 KB reads",
			goal:  "one event at most 2 times as long as small ones",
			rows:  []row{bigRow("small events", 10_000), bigRow("one event", 1)},
		},
		{
			title: "Hostile shapes: what one unit costs, by how many there are",
			goal:  "the same at ten times the size",
			pairs: true,
			rows: []row{
				emptyLinesRow(1 << 20), emptyLinesRow(10 << 20),
				patchesRow(100_000), patchesRow(1_000_000),
				keysRow(10_000), keysRow(100_000),
				appendsRow(10_000), appendsRow(100_000),
				resultsRow(1_000), resultsRow(10_000),
				nestedRow(50), nestedRow(500),
				keptRow(1_000), keptRow(10_000),
				keptReasoningRow(1_000), keptReasoningRow(10_000),
				droppedRow(1_000), droppedRow(10_000),
				headsRow(1_000), headsRow(10_000),
				partsRow(1_000), partsRow(10_000),
				longIDRow(1_000), longIDRow(10_000),
				digitsRow(10_000), digitsRow(100_000),
				emptyObjectsRow(10_000), emptyObjectsRow(100_000),
				unknownRow(1_000), unknownRow(10_000),
				replayRow(100), replayRow(1_000),
			},
		},
	}
}

// liveGroup measures sessions whose events come one at a time, over loopback.
func liveGroup(quick bool) group {
	l := live{sessions: 1500, warmUp: time.Second, length: 4 * time.Second}
	if quick {
		l = live{sessions: 20, warmUp: 0, length: 200 * time.Millisecond}
	}
	return group{
		title: fmt.Sprintf("Live: %d sessions, %d events a second each; CPU an event, bytes a session", l.sessions, livePerSecond),
		goal:  "a session at most 1.3 times net/http and 12 KB more; throttled at most 1.6 times",
		rows: []row{
			liveRow("net/http and lines", "raw", l),
			liveRow("a session", "session", l),
			liveRow("a session with a throttled subscriber", "throttled", l),
		},
	}
}
