package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	jsonpatch "github.com/evanphx/json-patch/v5"
	r3labs "github.com/r3labs/sse/v2"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/sse"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
	"github.com/agfold/agfold/subscribe"
)

// streamed is how many content events the streams have.
const streamed = 10_000

func groups() []group {
	return []group{
		{
			title: "Bytes to thread: an event of a streamed text, 88 bytes",
			goal:  "at most 2 times the floor, at most 2 allocations",
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
			rows: []row{
				emptyLinesRow(1 << 20), emptyLinesRow(10 << 20),
				patchesRow(100_000), patchesRow(1_000_000),
				keysRow(10_000), keysRow(100_000),
				appendsRow(10_000), appendsRow(100_000),
				resultsRow(1_000), resultsRow(10_000),
				nestedRow(50), nestedRow(500),
			},
		},
	}
}

// told is a run of some thousand events of one kind, as SSE.
type told struct{ open, next, shut string }

var (
	texts = told{
		`{"type":"TEXT_MESSAGE_START","messageId":"message-1","role":"assistant"}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"message-1","delta":"token %d and more"}`,
		`{"type":"TEXT_MESSAGE_END","messageId":"message-1"}`,
	}
	chunked = told{
		`{"type":"TEXT_MESSAGE_CHUNK","messageId":"message-1","role":"assistant"}`,
		`{"type":"TEXT_MESSAGE_CHUNK","messageId":"message-1","delta":"token %d and more"}`,
		`{"type":"RAW","event":0}`,
	}
	arguments = told{
		`{"type":"TOOL_CALL_START","toolCallId":"call-1","toolCallName":"f"}`,
		`{"type":"TOOL_CALL_ARGS","toolCallId":"call-1","delta":"{\"n\":%d,\"more\":1}"}`,
		`{"type":"TOOL_CALL_END","toolCallId":"call-1"}`,
	}
)

func (t told) bytes() []byte {
	var b bytes.Buffer
	put := func(format string, args ...any) { fmt.Fprintf(&b, "data: "+format+"\n\n", args...) }
	put(`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`)
	put(t.open)
	for i := range streamed {
		put(t.next, i%10)
	}
	put(t.shut)
	put(`{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`)
	return b.Bytes()
}

// history is a thread of n messages.
func history(n int) *reducer.Thread {
	msgs := make([]*messages.Message, n)
	for i := range msgs {
		msgs[i] = &messages.Message{
			ID: fmt.Sprintf("h%d", i), Role: messages.RoleUser, Content: messages.Text("Lorem ipsum dolor sit amet."),
		}
	}
	return &reducer.Thread{Messages: messages.NewList(msgs...)}
}

func floorRow() row {
	data := texts.bytes()
	return row{name: "floor: lines and json.Valid", count: streamed, bench: func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			lines := bufio.NewReaderSize(bytes.NewReader(data), 64<<10)
			for {
				line, err := lines.ReadSlice('\n')
				if err != nil {
					break
				}
				if payload, ok := bytes.CutPrefix(line, []byte("data: ")); ok && !json.Valid(payload) {
					b.Fatal("invalid")
				}
			}
		}
	}}
}

type snapshots bool

const (
	snapshotNever  snapshots = false
	snapshotAlways snapshots = true
)

// pipelineRow folds the bytes of a streamed text.
func pipelineRow(name string, before int, snapshot snapshots) row {
	return foldBytesRow(name, texts, before, snapshot)
}

// foldBytesRow folds SSE bytes into a thread that holds before messages already.
func foldBytesRow(name string, events told, before int, snapshot snapshots) row {
	data := events.bytes()
	return row{name: name, count: streamed, bench: func(b *testing.B) {
		th := history(before)
		b.ReportAllocs()
		b.ResetTimer()
		for range b.N {
			b.StopTimer()
			r := reducer.New(&reducer.Options{Thread: th})
			b.StartTimer()
			framing, keep, framer := sse.NewReader(bytes.NewReader(data), 0), new(sse.Keeper), new(event.Framer)
			for { // as a transport does
				payload, err := framing.Next()
				if err != nil {
					break
				}
				if err := r.Apply(framer.Frame(keep.Keep(payload))); err != nil {
					b.Fatal(err)
				}
				if snapshot {
					r.Thread()
				}
			}
			if got := r.End(nil); got.Status() != reducer.Succeeded {
				b.Fatal(got.Status())
			}
		}
	}}
}

// typedRow folds events made in Go, the way a session does, with or without a subscriber that does not read.
func typedRow(before int, subscriber bool) row {
	name := "ours, events made in Go, no subscriber"
	if subscriber {
		name = "ours, events made in Go, a slow subscriber"
	}
	ev := &event.TextMessageContent{MessageID: "message-1", Delta: "token 1 "}
	return row{name: name, count: streamed, bench: func(b *testing.B) {
		th := history(before)
		b.ReportAllocs()
		b.ResetTimer()
		for range b.N {
			b.StopTimer()
			var mu sync.Mutex
			r := reducer.New(&reducer.Options{Thread: th})
			hub := subscribe.NewHub(&mu, r.Thread)
			ctx, cancel := context.WithCancel(context.Background())
			if subscriber {
				hub.Latest(ctx)
			}
			apply := func(ev event.Event) {
				mu.Lock()
				err := r.Apply(ev)
				hub.Changed()
				mu.Unlock()
				if err = errors.Join(err, hub.Flush(ctx)); err != nil {
					b.Fatal(err)
				}
			}
			apply(&event.RunStarted{ThreadID: "t", RunID: "r"})
			apply(&event.TextMessageStart{MessageID: "message-1"})
			b.StartTimer()
			for range streamed {
				apply(ev)
			}
			b.StopTimer()
			cancel()
			hub.Close()
			b.StartTimer()
		}
	}}
}

// items is a state with a list of n things to do.
func items(n int) string {
	var b strings.Builder
	b.WriteString(`{"title":"plan","items":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"text":"something to do","done":false}`, i)
	}
	b.WriteString(`]}`)
	return b.String()
}

// onePatch replaces a member of the item in the middle of n.
func onePatch(n int) []byte {
	return fmt.Appendf(nil, `[{"op":"replace","path":"/items/%d/done","value":true}]`, n/2)
}

func patchRow(n int) row {
	return row{name: fmt.Sprintf("ours, %d items", n), count: 1, bench: func(b *testing.B) {
		doc, err := state.Parse([]byte(items(n)))
		if err != nil {
			b.Fatal(err)
		}
		var patch state.Patch
		if err := json.Unmarshal(onePatch(n), &patch); err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := doc.Apply(patch); err != nil {
				b.Fatal(err)
			}
		}
	}}
}

// deltaRow folds STATE_DELTA events, as they arrive.
func deltaRow(n int) row {
	return row{name: fmt.Sprintf("%d items", n), count: streamed, bench: func(b *testing.B) {
		var frames [2]event.Frame
		for i, value := range []string{"true", "false"} {
			text := fmt.Appendf(nil, `{"type":"STATE_DELTA","delta":[{"op":"replace","path":"/items/%d/done","value":%s}]}`, n/2, value)
			frame, err := event.NewFrame(text)
			if err != nil {
				b.Fatal(err)
			}
			frames[i] = frame
		}
		r := reducer.New(nil)
		for _, ev := range begun(&event.StateSnapshot{Snapshot: mustParse(items(n))}) {
			if err := r.Apply(ev); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportAllocs()
		for b.Loop() {
			for i := range streamed {
				if err := r.Apply(frames[i%2]); err != nil {
					b.Fatal(err)
				}
			}
		}
	}}
}

func jsonPatchRow(n int) row {
	return row{name: fmt.Sprintf("json-patch/v5, %d items", n), count: 1, bench: func(b *testing.B) {
		doc := []byte(items(n))
		patch, err := jsonpatch.DecodePatch(onePatch(n))
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := patch.Apply(doc); err != nil {
				b.Fatal(err)
			}
		}
	}}
}

func linesRow() row {
	data := texts.bytes()
	return row{name: "a line reader", count: streamed, bench: func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			lines := bufio.NewReaderSize(bytes.NewReader(data), 64<<10)
			for {
				if _, err := lines.ReadSlice('\n'); err != nil {
					break
				}
			}
		}
	}}
}

func framingRow() row {
	data := texts.bytes()
	return row{name: "ours", count: streamed, bench: func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r := sse.NewReader(bytes.NewReader(data), 0)
			for {
				if _, err := r.Next(); err != nil {
					break
				}
			}
		}
	}}
}

func r3labsRow() row {
	data := texts.bytes()
	return row{name: "r3labs/sse/v2", count: streamed, bench: func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r := r3labs.NewEventStreamReader(bytes.NewReader(data), 64<<20)
			for {
				if _, err := r.ReadEvent(); err != nil {
					break
				}
			}
		}
	}}
}

// pieces reads at most 4 KB at a time.
type pieces struct{ r io.Reader }

func (c pieces) Read(p []byte) (int, error) { return c.r.Read(p[:min(len(p), 4096)]) }

// bigRow folds 10 MB of text in n events.
func bigRow(name string, n int) row {
	const size = 10 << 20
	var stream bytes.Buffer
	stream.WriteString("data: {\"type\":\"RUN_STARTED\",\"threadId\":\"t\",\"runId\":\"r\"}\n\n" +
		"data: {\"type\":\"TEXT_MESSAGE_START\",\"messageId\":\"m\"}\n\n")
	text := strings.Repeat("x", size/n)
	for range n {
		fmt.Fprintf(&stream, "data: {\"type\":\"TEXT_MESSAGE_CONTENT\",\"messageId\":\"m\",\"delta\":%q}\n\n", text)
	}
	return row{name: name, count: 1, bench: func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r := reducer.New(nil)
			framing := sse.NewReader(iotest.DataErrReader(pieces{bytes.NewReader(stream.Bytes())}), 64<<20)
			for {
				payload, err := framing.Next()
				if err != nil {
					break
				}
				frame, err := event.NewFrame(payload)
				if err != nil {
					b.Fatal(err)
				}
				if err := r.Apply(frame); err != nil {
					b.Fatal(err)
				}
			}
			if got := len(r.Thread().Messages.At(0).Text()); got != size/n*n {
				b.Fatal(got)
			}
		}
	}}
}

// emptyLinesRow reads n bytes of nothing but line ends.
func emptyLinesRow(n int) row {
	data := bytes.Repeat([]byte("\n"), n)
	return row{name: fmt.Sprintf("an empty line of %d", n), count: n, bench: func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := sse.NewReader(bytes.NewReader(data), 0).Next(); err != io.EOF {
				b.Fatal(err)
			}
		}
	}}
}

// foldRow folds n events that are made anew for each round, after a prelude that is not measured.
func foldRow(name string, n int, prelude []event.Event, nth func(i int) event.Event) row {
	return row{name: name, count: n, bench: func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			b.StopTimer()
			r := reducer.New(nil)
			for _, ev := range prelude {
				if err := r.Apply(ev); err != nil {
					b.Fatal(err)
				}
			}
			b.StartTimer()
			for i := range n {
				if err := r.Apply(nth(i)); err != nil {
					b.Fatal(err)
				}
			}
		}
	}}
}

func begun(more ...event.Event) []event.Event {
	return append([]event.Event{&event.RunStarted{ThreadID: "t", RunID: "r"}}, more...)
}

func mustParse(text string) state.Value {
	v, err := state.Parse([]byte(text))
	if err != nil {
		panic(err) // the texts are ours
	}
	return v
}

// patchesRow applies n patches of one small replace each.
func patchesRow(n int) row {
	deltas := []*event.StateDelta{
		{Delta: state.Patch{{Kind: "replace", Path: "/n", Value: state.Int(0)}}},
		{Delta: state.Patch{{Kind: "replace", Path: "/n", Value: state.Int(1)}}},
	}
	prelude := begun(&event.StateSnapshot{Snapshot: mustParse(`{"n":0}`)})
	return foldRow(fmt.Sprintf("a tiny patch of %d", n), n, prelude, func(i int) event.Event { return deltas[i%2] })
}

// keysRow parses an object of n members.
func keysRow(n int) row {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, `,"key %d":%d`, i, i)
	}
	data := []byte("{" + text.String()[1:] + "}")
	return row{name: fmt.Sprintf("a member of an object of %d", n), count: n, bench: func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := state.Parse(data); err != nil {
				b.Fatal(err)
			}
		}
	}}
}

// appendsRow appends n elements to an array by patches.
func appendsRow(n int) row {
	delta := &event.StateDelta{Delta: state.Patch{{Kind: "add", Path: "/list/-", Value: state.Int(1)}}}
	prelude := begun(&event.StateSnapshot{Snapshot: mustParse(`{"list":[]}`)})
	return foldRow(fmt.Sprintf("an append to an array of %d", n), n, prelude, func(int) event.Event { return delta })
}

// resultsRow answers n calls of one message in the middle of a thread.
func resultsRow(n int) row {
	prelude := begun()
	for i := range n {
		id := fmt.Sprintf("call %d", i)
		prelude = append(prelude,
			&event.ToolCallStart{ToolCallID: id, ToolCallName: "f", ParentMessageID: messages.Some("m")},
			&event.ToolCallEnd{ToolCallID: id})
	}
	prelude = append(prelude, &event.TextMessageStart{MessageID: "last"})
	return foldRow(fmt.Sprintf("a tool result of %d, in mid-thread", n), n, prelude, func(i int) event.Event {
		return &event.ToolCallResult{
			MessageID: fmt.Sprintf("result %d", i), ToolCallID: fmt.Sprintf("call %d", i), Content: messages.Text("ok"),
		}
	})
}

// nestedRow parses arrays that nest n deep.
func nestedRow(n int) row {
	data := []byte(strings.Repeat("[", n) + strings.Repeat("]", n))
	return row{name: fmt.Sprintf("a level of JSON nested %d deep", n), count: n, bench: func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := state.Parse(data); err != nil {
				b.Fatal(err)
			}
		}
	}}
}
