package client_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// day is a server with a script: what it answers to one request after the other. It keeps the bodies.
type day struct {
	*httptest.Server
	mu     sync.Mutex
	bodies [][]byte
	script []func(w http.ResponseWriter, r *http.Request)
}

func newDay(t *testing.T, script ...func(w http.ResponseWriter, r *http.Request)) *day {
	d := &day{script: script}
	d.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		d.mu.Lock()
		n := len(d.bodies)
		d.bodies = append(d.bodies, body)
		d.mu.Unlock()
		if err != nil || n >= len(d.script) {
			http.Error(w, "not in the script", http.StatusTeapot)
			return
		}
		d.script[n](w, r)
	}))
	t.Cleanup(d.Close)
	return d
}

// streamed answers with events, and then does what follows.
func streamed(then func(r *http.Request), what ...any) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, ev := range flat(what...) {
			fmt.Fprintf(w, "data: %s\n\n", event.Append(nil, ev))
		}
		http.NewResponseController(w).Flush()
		if then != nil {
			then(r)
		}
	}
}

// callIn is a call in an assistant message of its own.
func callIn(message, id, name, args string) []event.Event {
	events := calls(id, name, args)
	events[0].(*event.ToolCallStart).ParentMessageID = messages.Some(message)
	return events
}

// TestADayOverHTTP is a conversation with all that goes wrong in one: each request can be sent to a model.
func TestADayOverHTTP(t *testing.T) {
	hangs := func(r *http.Request) { <-r.Context().Done() }
	held := make(chan struct{})
	d := newDay(t,
		streamed(hangs, begins, text("m1", "Let me look."), callIn("a1", "c1", "weather", `{"city":"Li`)[:2]), // stopped
		streamed(nil, begins, callIn("a2", "c2", "book", `{"seat":"4C"}`), succeeds),                          // a card for the user
		streamed(hangs, begins, text("m3", "As you"), callIn("a3", "c3", "book", `{"seat":`)[:2]),             // crashes
		func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "token expired", http.StatusUnauthorized) },
		func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer fresh" {
				http.Error(w, "token expired", http.StatusUnauthorized)
				return
			}
			streamed(func(*http.Request) { <-held }, begins, text("m5", "Again."))(w, r)
			streamed(nil, succeeds)(w, r)
		},
		streamed(nil, begins, text("m6", "One."), succeeds),
		streamed(nil, begins, text("m7", "Two."), succeeds),
	)
	var token sync.Map
	token.Store("now", "stale")
	agent := func() client.Agent {
		return client.NewHTTP(d.URL, &client.HTTPOptions{Prepare: func(_ context.Context, r *client.Request) error {
			now, _ := token.Load("now")
			r.Header.Set("Authorization", fmt.Sprint("Bearer ", now))
			return nil
		}})
	}
	ids := counting()
	options := func(th *reducer.Thread) *client.SessionOptions {
		return quiet(client.SessionOptions{
			ThreadID: "t", Thread: th, NewID: ids, Unanswered: client.DeclineUnanswered,
			Tools: []client.Tool{{Tool: event.Tool{Name: "weather"}}, {Tool: event.Tool{Name: "book"}}},
		})
	}
	s := client.NewSession(agent(), options(nil))
	until := func(s *client.Session, seen func(*reducer.Thread) bool) *reducer.Thread {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for now := range s.Subscribe(ctx) {
			if seen(now.Thread) {
				return now.Thread
			}
		}
		t.Fatal("the session ended")
		return nil
	}
	calling := func(id string) func(*reducer.Thread) bool {
		return func(th *reducer.Thread) bool {
			tc, _ := th.ToolCall(id)
			return tc != nil && tc.Arguments != ""
		}
	}

	// Stop in the middle of arguments.
	turn, err := s.Start(t.Context(), &client.RunOptions{Messages: []*messages.Message{messages.UserText("Is it warm in Lisbon?")}})
	require.NoError(t, err)
	until(s, calling("c1"))
	require.NoError(t, turn.Stop(t.Context()))
	assert.Equal(t, reducer.Stopped, s.Thread().Status())

	// The user types on, gets a card, and types over it.
	_, err = s.Send(t.Context(), messages.UserText("Book me a seat then."))
	require.NoError(t, err)
	require.Equal(t, client.PhaseWaiting, s.Snapshot().Phase)
	turn, err = s.Start(t.Context(), &client.RunOptions{Messages: []*messages.Message{messages.UserText("No, by the window.")}})
	require.NoError(t, err)

	// The process dies in the middle of the run; its thread was stored.
	stored := until(s, calling("c3")).AppendJSON(nil)
	require.NoError(t, turn.Stop(t.Context()))
	s.Close()
	var th reducer.Thread
	require.NoError(t, th.UnmarshalJSON(stored))
	s = client.NewSession(agent(), options(&th))
	defer s.Close()
	assert.Equal(t, reducer.Truncated, s.Thread().Status())

	// The token has expired, and Retry does not double the message.
	_, err = s.Send(t.Context(), messages.UserText("Are you there?"))
	var denied *client.StatusError
	require.ErrorAs(t, err, &denied)
	assert.Equal(t, reducer.Unstarted, s.Thread().Status())
	token.Store("now", "fresh")

	// Two messages are typed ahead while the agent speaks.
	turn, err = s.Start(t.Context(), nil)
	require.NoError(t, err)
	until(s, func(th *reducer.Thread) bool { m, _ := th.Message("m5"); return m != nil })
	var turns []*client.Turn
	for _, line := range []string{"one more", "and another"} {
		queued, err := s.Start(t.Context(), &client.RunOptions{WhenBusy: client.Queue, Messages: []*messages.Message{messages.UserText(line)}})
		require.NoError(t, err)
		turns = append(turns, queued)
	}
	assert.Len(t, s.Snapshot().Queued, 2)
	close(held)
	for _, turn := range append([]*client.Turn{turn}, turns...) {
		_, err := turn.Wait(t.Context())
		require.NoError(t, err)
	}

	d.mu.Lock()
	defer d.mu.Unlock()
	require.Len(t, d.bodies, 7)
	for i, body := range d.bodies {
		assert.Empty(t, historyFaults(body, nil), "request %d", i+1)
	}
	in, err := inputOf(d.bodies[6])
	require.NoError(t, err)
	assert.Equal(t, []string{
		"user Is it warm in Lisbon?", "assistant Let me look.", "assistant  [c1 weather{}]",
		`tool c1 the tool was not called, because the arguments broke off: the user stopped the run; of the arguments came "{\"city\":\"Li" !`,
		"user Book me a seat then.", `assistant  [c2 book{"seat":"4C"}]`, "tool c2 declined: the user continued without an answer !",
		"user No, by the window.", "assistant As you", "assistant  [c3 book{}]",
		`tool c3 the tool was not called, because the arguments broke off: the connection to the run was lost; of the arguments came "{\"seat\":" !`,
		"user Are you there?", "assistant Again.", "user one more", "assistant One.", "user and another",
	}, sentAs(in))
}

func inputOf(body []byte) (event.RunInput, error) {
	v, err := state.Parse(body)
	if err != nil {
		return event.RunInput{}, err
	}
	in, _, err := event.DecodeRunInput(v, nil)
	if err != nil {
		return event.RunInput{}, err
	}
	return *in, nil
}
