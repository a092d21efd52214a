package main

import (
	"testing"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/reducer"
)

// debugRow folds events made in Go and, if asked, tells each delivery to a debug log that is off, as a session does.
func debugRow(name string, ask bool) row {
	ev := &event.TextMessageContent{MessageID: "m", Delta: "token 1 "}
	var off *client.DebugLog
	return row{name: name, count: streamed, bench: func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r := reducer.New(nil)
			for _, first := range []event.Event{&event.RunStarted{ThreadID: "t", RunID: "r"}, &event.TextMessageStart{MessageID: "m"}} {
				if err := r.Apply(first); err != nil {
					b.Fatal(err)
				}
			}
			for range streamed {
				for d, err := range r.Deliver(ev) {
					if ask {
						off.Deliver(ev, d, err)
					}
				}
			}
		}
	}}
}

func debugGroup() group {
	return group{
		title: "A debug log that is off, an event made in Go",
		goal:  "nothing that can be measured",
		rows:  []row{debugRow("no debug log", false), debugRow("one that is off", true)},
	}
}
