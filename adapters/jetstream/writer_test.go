package jetstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/adapters/jetstream/internal/audit"
	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/serve"
)

// short is the shortest lease, for tests that wait for its end.
const short = 500 * time.Millisecond

// findings checks the log of all threads.
func findings(t testing.TB, l *Log) []string {
	t.Helper()
	var log audit.Log
	for m, err := range l.Messages(t.Context()) {
		require.NoError(t, err)
		log.Add(audit.Message{Subject: m.Subject, Sequence: m.Sequence, Data: m.Data})
	}
	return log.Findings()
}

// held waits until a thread can be taken.
func held(t testing.TB, l *Log, id string) *Hold {
	t.Helper()
	var h *Hold
	eventually(t, func() bool {
		var err error
		h, err = l.Hold(t.Context(), id)
		if err != nil {
			_, busy := errors.AsType[*serve.HeldError](err)
			require.True(t, busy, "%v", err)
		}
		return err == nil
	}, "the thread is free")
	t.Cleanup(func() { _ = h.Close() })
	return h
}

// forever is an agent that speaks until it is stopped.
func forever() client.Agent {
	return says(1<<30, func(ctx context.Context) error {
		select {
		case <-time.After(time.Millisecond):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}

func TestOfTwoReplicasThatWantAThreadOneHasIt(t *testing.T) {
	url := serverOf(t, nil).URL()
	var logs []*Log
	for i := range 4 {
		logs = append(logs, logOf(t, url, Options{Holder: fmt.Sprint("node-", i)}))
	}
	holds, errs := make([]*Hold, len(logs)), make([]error, len(logs))
	var all sync.WaitGroup
	for i, l := range logs {
		all.Go(func() { holds[i], errs[i] = l.Hold(t.Context(), "t") })
	}
	all.Wait()
	winner := -1
	for i, h := range holds {
		if h != nil {
			require.Equal(t, -1, winner, "two have it")
			winner = i
		}
	}
	require.NotEqual(t, -1, winner)
	for i, err := range errs {
		if busy, ok := errors.AsType[*serve.HeldError](err); i != winner && assert.True(t, ok, "%v", err) {
			assert.Equal(t, fmt.Sprint("node-", winner), busy.Holder)
		}
	}
	require.NoError(t, holds[winner].Close())
	holder, err := logs[0].Holder(t.Context(), "t")
	require.NoError(t, err)
	assert.Empty(t, holder)
	require.NoError(t, held(t, logs[(winner+1)%4], "t").Close())
}

// crash makes a log one of a process that is gone: nothing of it reaches the servers any more.
func crash(l *Log) { l.nc.Close() }

func TestTheNextWriterFindsTheRunTruncated(t *testing.T) {
	url := serverOf(t, nil).URL()
	dead := logOf(t, url, Options{LeaseTTL: short})
	h, err := dead.Hold(t.Context(), "t")
	require.NoError(t, err)
	call := client.Emit(func(ctx context.Context, in event.RunInput, emit func(...event.Event) error) error {
		err := emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID},
			&event.ToolCallStart{ToolCallID: "c", ToolCallName: "f"}, &event.ToolCallArgs{ToolCallID: "c", Delta: "{}"}, &event.ToolCallEnd{ToolCallID: "c"})
		<-ctx.Done()
		return errors.Join(err, ctx.Err())
	})
	s := h.Session(call, nil)
	_, err = s.Start(context.Background(), &client.RunOptions{Messages: []*messages.Message{messages.UserText("Hi")}})
	require.NoError(t, err)
	eventually(t, func() bool {
		c, _ := s.Thread().ToolCall("c")
		return c != nil && c.Status == messages.ToolCallComplete
	}, "the agent calls")
	require.NoError(t, h.Flush(t.Context()))
	want := string(s.Thread().AppendJSON(nil))
	crash(dead)

	next := logOf(t, url, Options{LeaseTTL: short})
	f := next.Watch(t.Context(), "t", nil)
	h2 := held(t, next, "t")
	assert.Equal(t, want, string(h2.Thread().AppendJSON(nil)), "nothing that was stored is lost")
	s2 := h2.Session(says(1, nil), &client.SessionOptions{OnWarning: func(event.Warning) {}})
	assert.Equal(t, reducer.Truncated, s2.Thread().Status())
	same(t, s2, f)
	_, err = s2.Send(t.Context(), messages.UserText("Go on"))
	require.NoError(t, err)
	require.NotNil(t, s2.Thread().ToolResult("c"), "the call is settled")
	same(t, s2, f)
	eventually(t, func() bool { return h.Err() != nil }, "the one that was cut off knows that it has lost the thread")
	assert.ErrorIs(t, h.Err(), ErrLost)
	<-h.Lost()
	s.Close()
	assert.Empty(t, findings(t, next))
}

func TestAPausedWriterCannotWriteAfterItsSuccessor(t *testing.T) {
	url := serverOf(t, nil).URL()
	paused, next := logOf(t, url, Options{}), logOf(t, url, Options{Holder: "next"})
	h, err := paused.Hold(t.Context(), "t")
	require.NoError(t, err)
	s := h.Session(says(3, nil), nil)
	_, err = s.Send(t.Context(), messages.UserText("Hi"))
	require.NoError(t, err)
	require.NoError(t, h.Flush(t.Context()))
	require.NoError(t, next.leases.Delete(t.Context(), "t"), "the servers' clock says that the lease is over; the writer's does not")
	h2 := held(t, next, "t")
	s2 := h2.Session(says(3, nil), nil)
	_, err = s2.Send(t.Context(), messages.UserText("I am next"))
	require.NoError(t, err)
	require.NoError(t, h2.Flush(t.Context()))
	_, err = s.Send(t.Context(), messages.UserText("I was paused"))
	if err == nil { // it was told too late to stop that run
		err = h.Flush(t.Context())
	}
	assert.ErrorIs(t, err, ErrLost)
	<-h.Lost()
	_, err = s.Send(t.Context(), messages.UserText("still"))
	assert.ErrorIs(t, err, ErrLost)
	assert.ErrorIs(t, h.Save(t.Context(), s.Thread), ErrLost)
	assert.ErrorIs(t, h.Close(), ErrLost)
	same(t, s2, next.Watch(t.Context(), "t", nil))
	assert.NotContains(t, string(s2.Thread().AppendJSON(nil)), "I was paused")
	assert.Empty(t, findings(t, next))
}

func TestAStopFromAnywhereReachesTheWriter(t *testing.T) {
	url := serverOf(t, nil).URL()
	here, there := logOf(t, url, Options{}), logOf(t, url, Options{Holder: "elsewhere"})
	require.NoError(t, there.Stop(t.Context(), "t"), "nobody holds it")
	for _, attached := range []bool{true, false} {
		id := fmt.Sprint("t", attached)
		h, err := here.Hold(t.Context(), id)
		require.NoError(t, err)
		var s *client.Session
		if attached {
			s = h.Session(forever(), nil)
		} else {
			s = client.NewSession(forever(), &client.SessionOptions{Middleware: []client.Middleware{h.Record()}})
		}
		f := there.Watch(t.Context(), id, nil)
		turn, err := s.Start(t.Context(), &client.RunOptions{Messages: []*messages.Message{messages.UserText("Hi")}})
		require.NoError(t, err)
		eventually(t, func() bool { return f.Snapshot().Status() == reducer.Running }, "it runs")
		require.NoError(t, there.Stop(t.Context(), id))
		_, err = turn.Wait(t.Context())
		assert.ErrorIs(t, err, client.ErrStopped)
		eventually(t, func() bool { return f.Snapshot().Status() == reducer.Stopped }, "the follower sees it")
		require.NoError(t, h.Close())
	}
	stops := 0
	for m, err := range there.Messages(t.Context()) {
		require.NoError(t, err)
		stops += strings.Count(string(m.Data), `{"stop":{"name":"elsewhere"}}`)
	}
	assert.Equal(t, 2, stops, "they are entries")
}

// What the middleware writes without a session folds to the thread too.
func TestTheMiddlewareAlone(t *testing.T) {
	url := serverOf(t, nil).URL()
	l := logOf(t, url, Options{})
	h, err := l.Hold(t.Context(), "t")
	require.NoError(t, err)
	agent := client.Chain(says(3, nil), h.Record())
	f := l.Watch(t.Context(), "t", nil)
	in := event.RunInput{ThreadID: "t", RunID: "r1", Messages: []*messages.Message{{ID: "u1", Role: messages.RoleUser, Content: messages.Text("Hi")}}}
	for range 2 {
		th, err := reducer.Fold(agent.Run(t.Context(), in), &reducer.Options{Input: &in})
		require.NoError(t, err)
		in.Messages, in.RunID = th.Messages.Slice(), "r2"
		in.Messages = append(in.Messages, &messages.Message{ID: "u2", Role: messages.RoleUser, Content: messages.Text("more")})
	}
	require.NoError(t, h.Flush(t.Context()))
	eventually(t, func() bool { return f.Snapshot().Runs.Len() == 2 && f.Snapshot().Status() == reducer.Succeeded }, "both runs are there")
	var roles []string
	for _, m := range f.Snapshot().Messages.All() {
		roles = append(roles, string(m.Role))
	}
	assert.Equal(t, []string{"user", "assistant", "user", "assistant"}, roles)
	require.NoError(t, h.Close())
}

func TestThreadsOfSeveralReplicas(t *testing.T) {
	url := serverOf(t, nil).URL()
	var sites []*httptest.Server
	var all []*serve.Threads
	for i := range 2 {
		l := logOf(t, url, Options{Holder: fmt.Sprint("replica-", i)})
		threads := serve.NewThreads(forever(), &serve.ThreadsOptions{Store: l, Logger: quiet})
		s := httptest.NewServer(threads)
		t.Cleanup(s.Close)
		sites, all = append(sites, s), append(all, threads)
	}
	post := func(i int, verb, body string) *http.Response {
		r, err := http.Post(sites[i].URL+"/t/"+verb, "application/json", strings.NewReader(body))
		require.NoError(t, err)
		t.Cleanup(func() { r.Body.Close() })
		return r
	}
	require.Equal(t, 202, post(0, "messages", `{"content":"Hi"}`).StatusCode)
	r := post(1, "messages", `{"content":"Hi"}`)
	require.Equal(t, 409, r.StatusCode)
	assert.Contains(t, readAll(t, r), "replica-0", "it names the holder")

	near, far := client.Follow(t.Context(), sites[0].URL+"/t", nil), client.Follow(t.Context(), sites[1].URL+"/t", nil)
	eventually(t, func() bool { return near.Snapshot().Messages.Len() > 1 && far.Snapshot().Messages.Len() > 1 }, "both replicas show the run")
	require.Equal(t, 202, post(1, "stop", ``).StatusCode, "a stop reaches the writer")
	eventually(t, func() bool {
		return far.Snapshot().Status() == reducer.Stopped && string(near.Snapshot().AppendJSON(nil)) == string(far.Snapshot().AppendJSON(nil))
	}, "both show the same thread")

	want := string(near.Snapshot().AppendJSON(nil))
	require.NoError(t, all[0].Shutdown(t.Context())) // the other replica takes the thread
	eventually(t, func() bool { return post(1, "retry", ``).StatusCode == 202 }, "the other replica goes on")
	eventually(t, func() bool { return far.Snapshot().Runs.Len() == 2 }, "its tab is still there")
	assert.Contains(t, want, "word0")
	require.Equal(t, 202, post(1, "stop", ``).StatusCode)
	require.NoError(t, all[1].Shutdown(t.Context()))
	assert.Empty(t, findings(t, logOf(t, url, Options{})))
}

func readAll(t testing.TB, r *http.Response) string {
	t.Helper()
	text, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	return string(text)
}
