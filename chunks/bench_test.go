package chunks_test

import (
	"fmt"
	"testing"

	"github.com/agfold/agfold/chunks"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

// BenchmarkContinuation times one continuation chunk beside the number of open lanes, which must not
// matter.
func BenchmarkContinuation(b *testing.B) {
	for _, lanes := range []int{1, 1000, 100_000} {
		last := messages.SubagentOwner(fmt.Sprint("s", lanes-1))
		for _, form := range []struct {
			name string
			ev   *event.TextMessageChunk
		}{
			{"tag", &event.TextMessageChunk{Attribution: event.By(last), Delta: messages.Some("word ")}},
			{"id", &event.TextMessageChunk{MessageID: messages.Some(fmt.Sprint("m", lanes-1)), Delta: messages.Some("word ")}},
			{"bare", &event.TextMessageChunk{Delta: messages.Some("word ")}},
		} {
			b.Run(fmt.Sprintf("%s/lanes=%d", form.name, lanes), func(b *testing.B) {
				x := new(chunks.Expander)
				for i := range lanes {
					mustExpand(b, x, &event.TextMessageChunk{
						MessageID: messages.Some(fmt.Sprint("m", i)), Attribution: event.By(messages.SubagentOwner(fmt.Sprint("s", i))),
					})
				}
				mustExpand(b, x, &event.TextMessageChunk{MessageID: messages.Some("m")}) // the parent agent's
				out := make([]event.Event, 0, 1)
				b.ReportAllocs()
				for b.Loop() {
					out, _ = x.Expand(out[:0], form.ev)
				}
			})
		}
	}
}

// BenchmarkTriad times a whole message of one chunk: start, content and, caused by the next, end.
func BenchmarkTriad(b *testing.B) {
	x := new(chunks.Expander)
	ids := [2]*event.TextMessageChunk{
		{MessageID: messages.Some("m1"), Delta: messages.Some("word ")},
		{MessageID: messages.Some("m2"), Delta: messages.Some("word ")},
	}
	out := make([]event.Event, 0, 3)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		out, _ = x.Expand(out[:0], ids[i&1])
		i++
	}
}

// BenchmarkPassThrough times an event that is not a chunk while nothing is under assembly.
func BenchmarkPassThrough(b *testing.B) {
	x := new(chunks.Expander)
	ev := &event.TextMessageContent{MessageID: "m", Delta: "word "}
	out := make([]event.Event, 0, 1)
	b.ReportAllocs()
	for b.Loop() {
		out, _ = x.Expand(out[:0], ev)
	}
}

func mustExpand(b *testing.B, x *chunks.Expander, ev event.Event) {
	b.Helper()
	if _, err := x.Expand(nil, ev); err != nil {
		b.Fatal(err)
	}
}
