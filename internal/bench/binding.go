package main

import (
	"bytes"
	"testing"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/event/protobuf"
	"github.com/agfold/agfold/internal/sse"
	"github.com/agfold/agfold/reducer"
)

// encoded returns the events of a stream as protobuf frames.
func encoded(events stream) (body []byte) {
	framing := sse.NewReader(bytes.NewReader(events.bytes()), 0)
	for {
		payload, err := framing.Next()
		if err != nil {
			return body
		}
		f, err := event.NewFrame(payload)
		if err == nil {
			body, _, err = protobuf.Binding{}.Append(body, f)
		}
		if err != nil {
			panic(err) // the stream is ours
		}
	}
}

// bindingRow folds the bytes of protobuf frames.
func bindingRow(name string, events stream) row {
	body := encoded(events)
	return row{name: name, count: streamed, bench: func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r := reducer.New(nil)
			frames := protobuf.NewReader(bytes.NewReader(body), 0)
			for {
				ev, err := frames.Next()
				if err != nil {
					break
				}
				if err := r.Apply(ev); err != nil {
					b.Fatal(err)
				}
			}
			if got := r.End(nil); got.Status() != reducer.Succeeded {
				b.Fatal(got.Status())
			}
		}
	}}
}

func bindingGroups() []group {
	return []group{
		{
			title: "Bytes to thread, by transport: an event of a streamed text",
			goal:  "protobuf at most 1.1 times SSE",
			rows:  []row{pipelineRow("SSE", 0, snapshotNever), bindingRow("protobuf", texts)},
		},
		{
			title: "The same: arguments with escapes",
			goal:  "protobuf at most 1.1 times SSE",
			rows:  []row{foldBytesRow("SSE", arguments, 0, snapshotNever), bindingRow("protobuf", arguments)},
		},
		{
			title: "The same: chunks",
			goal:  "protobuf at most 1.1 times SSE",
			rows:  []row{foldBytesRow("SSE", chunked, 0, snapshotNever), bindingRow("protobuf", chunked)},
		},
		{
			title: "The same: patches of the state",
			goal:  "protobuf at most 1.1 times SSE",
			rows:  []row{foldBytesRow("SSE", patches, 0, snapshotNever), bindingRow("protobuf", patches)},
		},
	}
}
