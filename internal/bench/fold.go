package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/sse"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/subscribe"
)

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
func foldBytesRow(name string, events stream, before int, snapshot snapshots) row {
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
