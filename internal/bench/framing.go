package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	r3labs "github.com/r3labs/sse/v2"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/sse"
	"github.com/agfold/agfold/reducer"
)

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
