package client

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/sse"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/state"
)

// TestConformanceRequests runs the streams of the protocol's corpus that pin a peer or look at the request
// over real HTTP, without a session, and checks what was sent.
func TestConformanceRequests(t *testing.T) {
	dir := os.Getenv("AGFOLD_CONFORMANCE")
	if dir == "" {
		t.Skip("AGFOLD_CONFORMANCE is not set")
	}
	files, err := filepath.Glob(filepath.Join(dir, "streams", "*.json"))
	require.NoError(t, err)
	ran := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		fixture, err := state.Parse(text)
		require.NoError(t, err)
		expect := fixture.Get("expect")
		if !fixture.Get("client").Exists() && !expect.Get("request").Exists() && !expect.Get("requestAbsentPaths").Exists() {
			continue
		}
		ran++
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			rec, err := recording.Open(bytes.NewReader(text), nil)
			require.NoError(t, err)
			var body []byte
			for ev, err := range rec.Events() {
				require.NoError(t, err)
				body = sse.Append(body, event.FrameOfEvent(ev).Data())
			}
			var request state.Value
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				sent, _ := io.ReadAll(r.Body)
				request, _ = state.Parse(sent)
				w.Header().Set("Content-Type", "text/event-stream")
				w.Write(body)
			}))
			defer server.Close()

			var in event.RunInput
			if rec.Input() != nil {
				in = *rec.Input()
			}
			in.ProtocolVersion = messages.Some(event.ProtocolVersion)
			var chain []Middleware
			if v := rec.PeerVersion(); v != "" {
				chain = append(chain, Peer(v))
			}
			got, warnings, err := read(t, Chain(NewHTTP(server.URL, nil), chain...).Run(t.Context(), in))
			require.NoError(t, err)

			contains(t, "request", expect.Get("request"), request)
			for _, path := range expect.Get("requestAbsentPaths").Elements() {
				p, _ := path.AsString()
				v, _ := request.Lookup("/" + strings.ReplaceAll(p, ".", "/"))
				assert.False(t, v.Exists(), p)
			}
			for _, absent := range expect.Get("eventTypesAbsent").Elements() {
				name, _ := absent.AsString()
				for _, ev := range got {
					assert.NotContains(t, ev, `"type":"`+name+`"`)
				}
			}
			if none, _ := expect.Get("noWarnings").AsBool(); none {
				assert.Empty(t, warnings)
			}
			if n := expect.Get("warnings").Len(); n > 0 {
				assert.NotEmpty(t, warnings)
			}
		})
	}
	assert.Greater(t, ran, 5)
}

// contains checks that got has all that want names: arrays of equal length, objects only on want's keys.
func contains(t *testing.T, path string, want, got state.Value) {
	switch want.Kind() {
	case state.KindObject:
		for key, v := range want.Members() {
			contains(t, path+"/"+key, v, got.Get(key))
		}
	case state.KindArray:
		require.Equal(t, want.Len(), got.Len(), path)
		for i, v := range want.Elements() {
			contains(t, path, v, got.Index(i))
		}
	default:
		if want.Exists() {
			assert.True(t, want.Equal(got), "%s: want %v, got %v", path, want, got)
		}
	}
}
