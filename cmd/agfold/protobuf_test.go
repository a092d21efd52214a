package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/cmd/agfold/internal/demo"
	"github.com/agfold/agfold/event/protobuf"
	"github.com/agfold/agfold/serve"
)

// The demo agent's run looks the same over both transports.
func TestRunAsksForProtobuf(t *testing.T) {
	text := talk(t, counted(), "", "--yes", "--events")
	require.Equal(t, exitOK, text.status, text.stderr)
	binary := talk(t, counted(), "", "--yes", "--events", "--protobuf")
	assert.Equal(t, text, binary)

	var asked, answered []string
	handler := serve.Agent(demo.Agent(0), &serve.AgentOptions{Binding: protobuf.Binding{}})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Header.Get("Accept"))
		handler.ServeHTTP(w, r)
		answered = append(answered, w.Header().Get("Content-Type"))
	}))
	defer server.Close()
	for _, args := range [][]string{{}, {"--protobuf"}} {
		got := talk(t, counted(), "", append(args, "--url", server.URL, "--message", "Hi", "--no")...)
		require.Equal(t, exitOK, got.status, got.stderr)
	}
	server.Close()
	assert.Equal(t, []string{"text/event-stream", "text/event-stream, application/vnd.ag-ui.event+proto"}, []string{asked[0], asked[len(asked)-1]})
	assert.Equal(t, []string{"text/event-stream", protobuf.MediaType}, []string{answered[0], answered[len(answered)-1]})
}
