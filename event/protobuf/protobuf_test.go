package protobuf_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/event/protobuf"
	"github.com/agfold/agfold/state"
)

// readAll returns the events of a body that is in order.
func readAll(t *testing.T, body []byte) (all []event.Event) {
	t.Helper()
	r := protobuf.NewReader(bytes.NewReader(body), 0)
	for {
		ev, err := r.Next()
		if err == io.EOF {
			return all
		}
		require.NoError(t, err)
		all = append(all, ev)
	}
}

// valueOf returns the event as JSON.
func valueOf(t *testing.T, ev event.Event) state.Value {
	t.Helper()
	f := event.FrameOfEvent(ev)
	require.NoError(t, f.Err())
	return f.Value()
}
