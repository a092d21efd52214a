package serve_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/serve"
)

// What an agent's error says is for the log, not for the thread that browsers see.
func TestThreadsKeepTheTextsOfErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		agent := client.Emit(func(_ context.Context, in event.RunInput, emit func(...event.Event) error) error {
			emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID})
			return errors.New("the model is down: secret")
		})
		s := open(t, agent, serve.ThreadsOptions{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		require.Equal(t, 202, s.post("/a/messages", `{"content":"Hi"}`).Status)
		synctest.Wait()
		th := s.thread("a")
		assert.NotContains(t, string(th.AppendJSON(nil)), "secret")
		assert.ErrorContains(t, th.Err(), "the agent failed")
		assert.Contains(t, log.String(), "the model is down: secret")
		assert.Contains(t, log.String(), "thread=a")
	})
}
