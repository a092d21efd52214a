package sse

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"
)

var benchStreams = []struct {
	name   string
	stream []byte
	events int
}{
	{"80B", bytes.Repeat([]byte("data: "+strings.Repeat("x", 72)+"\n\n"), 1<<17), 1 << 17},
	{"one10MB", []byte("data: " + strings.Repeat("x", 10<<20) + "\n\n"), 1},
	{"lines10MB", append(bytes.Repeat([]byte("data: "+strings.Repeat("x", 73)+"\n"), 1<<17), '\n'), 1},
}

// BenchmarkRead compares, in one run and for reads of 4 KB, the Reader with bare line framing on a
// bufio.Reader.
func BenchmarkRead(b *testing.B) {
	for _, s := range benchStreams {
		run := func(name string, read func(io.Reader) int) {
			b.Run(s.name+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(len(s.stream)))
				b.ReportAllocs()
				for b.Loop() {
					if n := read(limitReads{bytes.NewReader(s.stream)}); n != s.events {
						b.Fatal(n)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*s.events), "ns/event")
			})
		}
		run("reader", func(src io.Reader) int {
			n, err := readDiscard(NewReader(src, 64<<20))
			if err != nil {
				b.Fatal(err)
			}
			return n
		})
		run("bufio", func(src io.Reader) int {
			n, err := readLines(src)
			if err != nil {
				b.Fatal(err)
			}
			return n
		})
	}
}

// readLines counts events by their blank lines and does nothing else.
func readLines(src io.Reader) (n int, err error) {
	r := bufio.NewReaderSize(src, 16<<10)
	var long []byte
	data := false
	for {
		line, err := r.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			long = append(long, line...)
			continue
		}
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		if len(long) > 0 {
			long = append(long, line...)
			line, long = long, long[:0]
		}
		switch {
		case bytes.HasPrefix(line, []byte("data:")):
			data = true
		case len(line) == 1 && data:
			n++
			data = false
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	data := []byte(`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m-1","delta":"some words of text"}`)
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = Append(buf[:0], data)
	}
}
