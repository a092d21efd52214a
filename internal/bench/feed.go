package main

import (
	"fmt"
	"testing"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/feed"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

func feedGroups() []group {
	return []group{
		{
			title: "The feed: a token of text, from the event to what a tab gets, by what the thread holds",
			goal:  "at most 200 bytes on the wire; 100,000 messages at most 1.3 times 10",
			rows: []row{
				tokenRow("10 messages", 10, 1, false), tokenRow("20 messages", 20, 1, false),
				tokenRow("1,000 messages", 1_000, 1, false), tokenRow("100,000 messages", 100_000, 1, false),
				tokenRow("10 messages, 1,000 tabs", 10, 1_000, false),
			},
		},
		{
			title: "The same with a token of a call's arguments",
			goal:  "at most 200 bytes on the wire; 100,000 messages at most 1.3 times 10",
			rows: []row{
				tokenRow("10 messages", 10, 1, true), tokenRow("20 messages", 20, 1, true),
				tokenRow("1,000 messages", 1_000, 1, true), tokenRow("100,000 messages", 100_000, 1, true),
			},
		},
	}
}

// tokenRow streams tokens to a thread that holds n messages, and hands each change to so many tabs.
func tokenRow(name string, n, tabs int, arguments bool) row {
	thread := history(n)
	return row{name: name, direct: func() figure {
		wire, encoded := 0, 0 // bytes of the longest change; events encoded, after the view
		res := testing.Benchmark(func(b *testing.B) {
			fold, ring := reducer.New(&reducer.Options{Thread: thread}), feed.NewRing("AbCdEf", feed.Options{})
			apply(fold, ring, b, &event.RunStarted{ThreadID: "t", RunID: "r"})
			has := make([]*feed.Entry, tabs)
			b.ReportAllocs()
			b.ResetTimer()
			encoded = 0
			var token event.Event
			for i := range b.N {
				if i%1000 == 0 { // another message
					id := fmt.Sprint("m", i)
					token = &event.TextMessageContent{MessageID: id, Delta: " token"}
					if arguments {
						token = &event.ToolCallArgs{ToolCallID: id, Delta: " token"}
					}
					apply(fold, ring, b, &event.TextMessageStart{MessageID: id},
						&event.ToolCallStart{ToolCallID: id, ToolCallName: "f", ParentMessageID: messages.Some(id)},
						&event.ToolCallArgs{ToolCallID: id, Delta: `{"text":"`})
					for i := range has {
						has[i] = ring.Newest()
					}
				}
				before := ring.Encoded
				apply(fold, ring, b, token)
				for i, from := range has {
					e := ring.Event(from, feed.Append)
					has[i], wire = e.To, max(wire, len(e.Text))
				}
				encoded += ring.Encoded - before
			}
		})
		if res.N == 0 {
			return figure{err: fmt.Errorf("failed")}
		}
		return figure{
			ns: float64(res.T.Nanoseconds()) / float64(res.N), allocs: float64(res.AllocsPerOp()), bytes: float64(res.AllocedBytesPerOp()),
			note: fmt.Sprintf("at most %d B on the wire, encoded %.2f times", wire, float64(encoded)/float64(res.N)),
		}
	}}
}

// apply folds events and puts the thread after them into the ring.
func apply(fold *reducer.Reducer, ring *feed.Ring, b *testing.B, events ...event.Event) {
	for _, ev := range events {
		if err := fold.Apply(ev); err != nil {
			b.Fatal(err)
		}
	}
	ring.Put(feed.Snapshot{Thread: fold.Thread()})
}
