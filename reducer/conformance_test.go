package reducer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/conformance"
	"github.com/agfold/agfold/reducer"
)

func TestConformanceStreams(t *testing.T) {
	for _, f := range conformance.Load(t) {
		if f.NeedsClient() {
			continue // package client runs these over HTTP
		}
		t.Run(f.Name, func(t *testing.T) {
			var events []event.Event
			for _, data := range f.Stream {
				frame, err := event.NewFrame(data)
				require.NoError(t, err)
				events = append(events, frame)
			}
			got := &conformance.Outcome{}
			r := reducer.New(&reducer.Options{OnWarning: func(w event.Warning) { got.Warnings = append(got.Warnings, w) }})
			for ev := range event.Upgrade(reducer.Events(events...)) {
				delivered, err := deliver(r, ev)
				for _, s := range delivered {
					if s.Event != nil {
						got.Delivered = append(got.Delivered, s.Event)
					}
				}
				if err != nil {
					break
				}
			}
			got.Thread = r.End(nil)
			got.Err = r.Err()
			f.Check(t, got)
		})
	}
}
