package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/sse"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

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

// wireRow folds n frames of the same text, after a prelude of frames, and the first of that text, which are not measured. A
// snapshot is taken after each event if it says so.
func wireRow(name string, n int, snapshot snapshots, prelude func() []string, text string) row {
	return row{name: name, count: n, bench: func(b *testing.B) {
		before, next := slices.Clip(frames(b, prelude())), frames(b, []string{text})[0]
		b.ReportAllocs()
		for range b.N {
			b.StopTimer()
			r := reducer.New(nil)
			for _, f := range append(before, next) {
				if err := r.Apply(f); err != nil {
					b.Fatal(err)
				}
			}
			r.Thread()
			b.StartTimer()
			for range n {
				if err := r.Apply(next); err != nil {
					b.Fatal(err)
				}
				if snapshot {
					r.Thread()
				}
			}
		}
	}}
}

func frames(b *testing.B, texts []string) []event.Frame {
	b.Helper()
	made := make([]event.Frame, len(texts))
	for i, text := range texts {
		frame, err := event.NewFrame([]byte(text))
		if err != nil {
			b.Fatal(err)
		}
		made[i] = frame
	}
	return made
}

const started = `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`

// keptRow replaces the messages again and again while n activities stay.
func keptRow(n int) row {
	return wireRow(fmt.Sprintf("a small snapshot beside %d kept activities", n), 10_000, snapshotNever, func() []string {
		texts := []string{started}
		for i := range n {
			texts = append(texts, fmt.Sprintf(`{"type":"ACTIVITY_SNAPSHOT","messageId":"a%d","activityType":"x","content":{}}`, i))
		}
		return texts
	}, `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"user","content":"x"}]}`)
}

// keptReasoningRow replaces the messages again and again while n reasoning messages stay.
func keptReasoningRow(n int) row {
	return wireRow(fmt.Sprintf("a small snapshot beside %d kept reasoning messages", n), 10_000, snapshotNever, func() []string {
		texts := []string{started}
		for i := range n {
			texts = append(texts, fmt.Sprintf(`{"type":"REASONING_MESSAGE_START","messageId":"r%d","role":"reasoning"}`, i),
				fmt.Sprintf(`{"type":"REASONING_MESSAGE_END","messageId":"r%d"}`, i))
		}
		return texts
	}, `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"user","content":"x"}]}`)
}

// headsRow folds many recorded runs that follow a run with n messages, which is not measured.
func headsRow(n int) row {
	const runs = 1_000
	run := func(i int, msgs string) string {
		return fmt.Sprintf(`{"agfold":"recording/1","input":{"threadId":"t","runId":"r%d","messages":[%s]}}`+"\n"+
			`{"at":0,"event":{"type":"RUN_STARTED","threadId":"t","runId":"r%d"}}`+"\n"+
			`{"at":1,"event":{"type":"RUN_FINISHED","threadId":"t","runId":"r%d"}}`+"\n", i, msgs, i, i)
	}
	var msgs, text strings.Builder
	for i := range n {
		fmt.Fprintf(&msgs, `,{"id":"m%d","role":"user","content":"x"}`, i)
	}
	text.WriteString(run(0, msgs.String()[1:]))
	for i := range runs {
		text.WriteString(run(i+1, ""))
	}
	return row{name: fmt.Sprintf("a recorded run after %d messages", n), count: runs, bench: func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			b.StopTimer()
			rec, err := recording.Open(strings.NewReader(text.String()), nil)
			if err != nil {
				b.Fatal(err)
			}
			begun := false
			for d, err := range recording.NewFolder(rec, nil).Deliveries() {
				if err != nil {
					b.Fatal(err)
				}
				if !begun && d.Change.Kind == reducer.RunEnded {
					begun = true
					b.StartTimer()
				}
			}
		}
	}}
}

// droppedRow replaces the messages again and again after n of them are gone.
func droppedRow(n int) row {
	return wireRow(fmt.Sprintf("a small snapshot after %d dropped messages", n), 10_000, snapshotNever, func() []string {
		var all strings.Builder
		for i := range n {
			fmt.Fprintf(&all, `,{"id":"m%d","role":"user","content":"x"}`, i)
		}
		return []string{started,
			`{"type":"MESSAGES_SNAPSHOT","messages":[` + all.String()[1:] + `]}`, `{"type":"MESSAGES_SNAPSHOT","messages":[]}`}
	}, `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"user","content":"x"}]}`)
}

// partsRow appends to a message of n parts, with a snapshot after each event.
func partsRow(n int) row {
	return wireRow(fmt.Sprintf("a delta to a message of %d parts, and a snapshot", n), 1_000, snapshotAlways, func() []string {
		parts := strings.Repeat(`,{"type":"text","text":"x"}`, n)[1:]
		return []string{started,
			`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"user","content":[` + parts + `]}]}`,
			`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"user"}`}
	}, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x"}`)
}

// longIDRow continues by chunks a message whose id is n bytes long.
func longIDRow(n int) row {
	return wireRow(fmt.Sprintf("a chunk without id of a message with an id of %d bytes", n), 1_000, snapshotNever, func() []string {
		return []string{started, `{"type":"TEXT_MESSAGE_CHUNK","messageId":"` + strings.Repeat("m", n) + `","delta":"x"}`}
	}, `{"type":"TEXT_MESSAGE_CHUNK","delta":"x"}`)
}

// digitsRow tests a number of n digits against short literals, one a 60 bytes.
func digitsRow(n int) row {
	ops := strings.Repeat(fmt.Sprintf(`,{"op":"test","path":"/a","value":1e%d}`, n-1), n/60)[1:]
	digits := "1" + strings.Repeat("0", n-1)
	return row{name: fmt.Sprintf("a test of a number of %d digits", n), count: n / 60, bench: func(b *testing.B) {
		fs := frames(b, []string{started, `{"type":"STATE_SNAPSHOT","snapshot":{"a":` + digits + `}}`, `{"type":"STATE_DELTA","delta":[` + ops + `]}`})
		b.ReportAllocs()
		for b.Loop() {
			r := reducer.New(nil)
			for _, f := range fs {
				if err := r.Apply(f); err != nil {
					b.Fatal(err)
				}
			}
		}
	}}
}

// emptyObjectsRow takes a state of n empty objects.
func emptyObjectsRow(n int) row {
	data := []byte("[" + strings.Repeat(",{}", n)[1:] + "]")
	return row{name: fmt.Sprintf("an empty object of %d", n), count: n, bench: func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := state.Parse(data); err != nil {
				b.Fatal(err)
			}
		}
	}}
}

// unknownRow takes an event with n members that the protocol does not know.
func unknownRow(n int) row {
	var members strings.Builder
	for i := range n {
		fmt.Fprintf(&members, `,"x%d":0`, i)
	}
	return wireRow(fmt.Sprintf("an unknown member of %d", n), 1, snapshotNever, func() []string { return []string{started} },
		`{"type":"RAW","event":0`+members.String()+`}`).times(n)
}

// replayRow replays a recording of n runs, run by run.
func replayRow(n int) row {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, `{"agfold":"recording/1","input":{"threadId":"t","runId":"r%d","messages":[]}}`+"\n"+
			`{"at":0,"event":{"type":"RUN_STARTED","threadId":"t","runId":"r%d"}}`+"\n"+
			`{"at":1,"event":{"type":"RUN_FINISHED","threadId":"t","runId":"r%d"}}`+"\n", i, i, i)
	}
	return row{name: fmt.Sprintf("a replayed run of %d", n), count: n, bench: func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			replay := recording.NewReplay(func() (io.ReadCloser, error) {
				return io.NopCloser(strings.NewReader(text.String())), nil
			}, nil)
			for range n {
				for _, err := range replay.Run(context.Background(), event.RunInput{}) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		}
	}}
}
