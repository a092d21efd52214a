package serve_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/serve"
)

func TestWarningsNameTheThread(t *testing.T) {
	agent := client.Emit(func(_ context.Context, in event.RunInput, emit func(...event.Event) error) error {
		return emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID}, &event.ToolCallResult{MessageID: "m", ToolCallID: "gone", Content: messages.Text("x")},
			&event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID})
	})
	var log bytes.Buffer
	s := open(t, agent, serve.ThreadsOptions{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.Equal(t, 202, s.post("/a/messages", `{"content":"Hi"}`).Status)
	s.settle("a")
	require.NoError(t, s.threads.Shutdown(t.Context()))
	assert.Regexp(t, `level=WARN msg=.* thread=a rule=P-TOL-3`, log.String())
}
