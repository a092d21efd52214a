package serve_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
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

func TestAMessageThatSaysNothingIsRefused(t *testing.T) {
	s := open(t, says("Hello"), serve.ThreadsOptions{})
	for _, content := range []string{`""`, `" \n"`, `[]`, `[{"type":"text","text":""}]`} {
		got := s.post("/a/messages", `{"content":`+content+`}`)
		assert.Equal(t, 422, got.Status, content)
		assert.Equal(t, "/content", got.Path)
	}
	assert.Equal(t, 202, s.post("/a/messages", `{"content":[{"type":"image","source":{"type":"url","value":"https://a.example/b.png"}}]}`).Status)
}

func TestDataAfterTheEndThatIsNoEventIsNotSent(t *testing.T) {
	agent := client.AgentFunc(func(_ context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
		return func(yield func(event.Event, error) bool) {
			garbage := new(event.Framer).Frame([]byte("garbage"))
			_ = yield(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID}, nil) &&
				yield(&event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID}, nil) &&
				yield(garbage, nil)
		}
	})
	server := httptest.NewServer(serve.Agent(agent, &serve.AgentOptions{Logger: slog.New(slog.DiscardHandler)}))
	defer server.Close()
	resp, err := http.Post(server.URL, "application/json", strings.NewReader(`{"threadId":"t","runId":"r","messages":[],"tools":[],"context":[],"state":{}}`))
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Contains(t, string(body), "RUN_FINISHED")
	assert.NotContains(t, string(body), "garbage")
}
