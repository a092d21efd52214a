package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
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

func TestAnswers(t *testing.T) {
	s := client.NewSession(client.Emit(func(_ context.Context, in event.RunInput, emit func(...event.Event) error) error {
		finished := &event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID}
		if len(in.Resume) == 0 {
			finished.Outcome = event.Outcome{Type: event.OutcomeInterrupt, Interrupts: []event.Interrupt{{ID: "i", Reason: "approval"}}}
		}
		return emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID}, finished)
	}), nil)
	defer s.Close()
	post := func(path, body string) (int, string) {
		w := httptest.NewRecorder()
		handler(s).ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, strings.NewReader(body)))
		return w.Code, w.Body.String()
	}
	for _, step := range []struct {
		path, body string
		status     int
		answer     string
	}{
		{"/messages", "Hi", http.StatusOK, "interrupted\n"},
		{"/messages", "Hello?", http.StatusConflict, `interrupt "i" has no answer`},
		{"/answers", `{"other":true}`, http.StatusConflict, `interrupt "other" is not pending`},
		{"/answers", `yes`, http.StatusBadRequest, "invalid character"},
		{"/answers", `{"i":{"approved":true}}`, http.StatusOK, "succeeded\n"},
		{"/messages", "again", http.StatusOK, "interrupted\n"},
		{"/answers", `{"i":null}`, http.StatusOK, "succeeded\n"},
	} {
		status, answer := post(step.path, step.body)
		assert.Equal(t, step.status, status, step.body)
		assert.Contains(t, answer, step.answer)
	}
	assert.Equal(t, []string{"Hi", "again"}, texts(s.Thread().Messages))
}

func texts(list messages.List[*messages.Message]) []string {
	var all []string
	for _, m := range list.All() {
		all = append(all, m.Text())
	}
	return all
}
