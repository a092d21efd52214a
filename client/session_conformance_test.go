package client_test

import (
	"io"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/conformance"
	"github.com/agfold/agfold/internal/sse"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// TestConformanceSession serves every stream of the protocol's corpus over HTTP to a session. Pipes carry it, so that time
// stands still while a stream goes on after its first run.
func TestConformanceSession(t *testing.T) {
	for _, f := range conformance.Load(t) {
		t.Run(f.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { f.Check(t, converse(t, f)) })
		})
	}
}

// converse lets a session run once against a server that answers with the fixture's stream.
func converse(t *testing.T, f *conformance.Fixture) *conformance.Outcome {
	got := &conformance.Outcome{}
	server, through := piped(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		got.Request, err = state.Parse(body)
		assert.NoError(t, err)
		w.Header().Set("Content-Type", "text/event-stream")
		for _, data := range f.Stream {
			_, _ = w.Write(sse.Append(nil, data))
			w.(http.Flusher).Flush()
		}
	}))

	o := &client.SessionOptions{OnWarning: func(w event.Warning) { got.Warnings = append(got.Warnings, w) }}
	if f.Client != nil {
		o.PeerVersion = f.Client.MaxProtocolVersion
	}
	// A typed message cannot hold what older versions sent, so the boundary comes first.
	raw := state.Object(state.Member{Key: "threadId", Value: state.String("t")}, state.Member{Key: "runId", Value: state.String("r")}, state.Member{Key: "messages", Value: state.Array()})
	if f.Input.Messages.Exists() {
		raw = raw.With("messages", f.Input.Messages)
	}
	if f.Input.Tools.Exists() {
		raw = raw.With("tools", f.Input.Tools)
	}
	upgraded, _ := event.UpgradeInput(raw)
	in, warnings, err := event.DecodeRunInput(upgraded, nil)
	require.NoError(t, err)
	require.Empty(t, warnings)
	o.Messages = in.Messages
	for _, tool := range in.Tools {
		o.Tools = append(o.Tools, client.Tool{Tool: tool})
	}

	s := client.NewSession(client.NewHTTP(server, &client.HTTPOptions{Client: through}), o)
	for step, err := range s.Run(t.Context(), nil) {
		if err == nil && step.Event != nil {
			got.Delivered = append(got.Delivered, step.Event)
		}
	}
	res := s.Snapshot().Result
	got.Thread, got.Err = res.Thread, res.Err
	if res.Status == reducer.Failed {
		got.Err = nil // by the run's own word
	} else if res.Err != nil && res.Status != reducer.Truncated {
		assert.ErrorIs(t, res.Err, client.ErrRejected)
	}
	return got
}
