package protobuf_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/event/protobuf"
	"github.com/agfold/agfold/internal/conformance"
	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// over serves events and folds what a client gets of them, with the media type that the answer had.
func over(t *testing.T, events []event.Event, binding event.Binding) (thread state.Value, mediaType string) {
	t.Helper()
	agent := client.Emit(func(_ context.Context, _ event.RunInput, emit func(...event.Event) error) error {
		return emit(events...)
	})
	handler := serveQuietly(agent)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r)
		mediaType = w.Header().Get("Content-Type")
	}))
	defer server.Close()
	r := reducer.New(nil)
	var cause error
	in := event.RunInput{ThreadID: "t", RunID: "r"}
	for ev, err := range client.Chain(client.NewHTTP(server.URL, &client.HTTPOptions{Binding: binding})).Run(t.Context(), in) {
		if cause = err; err != nil || r.Apply(ev) != nil {
			break
		}
	}
	v, err := state.Parse(r.End(cause).AppendJSON(nil))
	require.NoError(t, err)
	server.Close()
	return v, mediaType
}

// sameOverBoth folds events that came over both transports. The threads differ at the places in lost.
func sameOverBoth(t *testing.T, events []event.Event, lost ...string) {
	t.Helper()
	text, textType := over(t, events, nil)
	binary, binaryType := over(t, events, protobuf.Binding{})
	require.Equal(t, "text/event-stream", textType)
	require.Equal(t, protobuf.MediaType, binaryType)
	var differs []string
	for _, op := range state.Diff(text, binary) {
		differs = append(differs, op.Path)
	}
	assert.Equal(t, lost, differs, "SSE      %s\nprotobuf %s", text, binary)
}

// lost is what the threads of recordings lose on the wire: a number that needs more than 64 bits (P-PB-5).
var lost = map[string][]string{"shared-state.json": {"/state/orderNo"}}

// The streams of the protocol's corpus make the same threads over both transports. What the wire does not carry is not in any
// thread that they make.
func TestConformanceOverBothTransports(t *testing.T) {
	for _, f := range conformance.Load(t) {
		t.Run(f.Name, func(t *testing.T) {
			var events []event.Event
			for _, data := range f.Stream {
				events = append(events, jsonFrame(t, string(data)))
			}
			sameOverBoth(t, events)
		})
	}
}

// And so do the recordings of this repository.
func TestRecordingsOverBothTransports(t *testing.T) {
	files, err := filepath.Glob("../../testdata/*")
	require.NoError(t, err)
	n := 0
	for _, file := range files {
		if strings.Contains(file, ".golden.") {
			continue
		}
		n++
		t.Run(filepath.Base(file), func(t *testing.T) {
			opened, err := os.Open(file)
			require.NoError(t, err)
			defer opened.Close()
			rec, err := recording.Open(opened, nil)
			require.NoError(t, err)
			var events []event.Event
			for ev, err := range rec.Events() {
				if err != nil {
					require.ErrorIs(t, err, reducer.ErrTruncated)
					break
				}
				events = append(events, ev)
			}
			sameOverBoth(t, events, lost[filepath.Base(file)]...)
		})
	}
	assert.Greater(t, n, 5)
}

var quiet = slog.New(slog.DiscardHandler)
