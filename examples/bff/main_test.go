package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/state"
	"github.com/r3labs/sse/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The reader of the snapshots is one that we did not write.
func TestHandler(t *testing.T) {
	s := client.NewSession(client.Emit(greeter), &client.SessionOptions{ThreadID: "t"})
	server := httptest.NewServer(handler(s))
	defer server.Close()

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	events := make(chan *sse.Event)
	reader := sse.NewClient(server.URL + "/thread")
	go reader.SubscribeChanWithContext(ctx, "", events)
	first := <-events
	assert.Contains(t, string(first.Data), `"status":"empty"`)

	res, err := http.Post(server.URL+"/messages", "text/plain", strings.NewReader("Hi"))
	require.NoError(t, err)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	assert.Equal(t, "succeeded\n", string(body))

	for ev := range events { // as many snapshots as there was time for, then the final one
		th, err := state.Parse(ev.Data)
		require.NoError(t, err)
		if status, _ := th.Get("status").AsString(); status != "succeeded" {
			continue
		}
		text, err := state.At[string](th, "/messages/1/content")
		require.NoError(t, err)
		assert.Equal(t, "Hello! That was message 1.", text)
		break
	}
	s.Close()
}
