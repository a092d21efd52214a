package main

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/emit"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/serve"
)

func TestRelay(t *testing.T) {
	upstream := httptest.NewServer(serve.Agent(emit.Agent(func(_ context.Context, run *emit.Run) error {
		return run.Say("Hello")
	}, nil), nil))
	defer upstream.Close()
	dir := t.TempDir()
	relay := httptest.NewServer(handler(upstream.URL, dir))
	defer relay.Close()
	res, err := client.NewSession(client.NewHTTP(relay.URL, nil), nil).Send(t.Context(), messages.UserText("Hi"))
	require.NoError(t, err)
	assert.Equal(t, "Hello", res.NewMessages[0].Text())

	files, err := filepath.Glob(filepath.Join(dir, "run-*.agfold"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	file, err := os.Open(files[0])
	require.NoError(t, err)
	defer file.Close()
	th, err := recording.Fold(file, nil)
	require.NoError(t, err)
	assert.Equal(t, reducer.Succeeded, th.Status())
	assert.Equal(t, 2, th.Messages.Len())
}
