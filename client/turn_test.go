package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// hi is options for a turn with one message.
func hi(id string) *client.RunOptions {
	return &client.RunOptions{Messages: []*messages.Message{withID(id, messages.UserText("hi"))}}
}

// inBubble runs a test in a bubble, with a session that is closed at its end. The bubble fails if a goroutine is left.
func inBubble(name string, t *testing.T, o client.SessionOptions, agent client.Agent, test func(t *testing.T, s *client.Session)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := client.NewSession(agent, quiet(o))
			defer s.Close()
			test(t, s)
		})
	})
}

func TestStart(t *testing.T) {
	slow := then(pauses(time.Second/2), says(begins, text("m", "hello")), pauses(time.Minute-time.Second/2), says(succeeds))
	inBubble("it returns at once, and the turn goes on", t, client.SessionOptions{}, script(slow), func(t *testing.T, s *client.Session) {
		start := time.Now()
		turn, err := s.Start(t.Context(), hi("u"))
		require.NoError(t, err)
		assert.Equal(t, client.PhaseSending, s.Snapshot().Phase, "accepted")
		assert.Equal(t, []string{"user u: hi"}, shown(s.Thread()), "the message is in the thread")
		assert.Zero(t, time.Since(start))
		assert.Nil(t, turn.Result())
		time.Sleep(time.Second)
		assert.Equal(t, client.PhaseStreaming, s.Snapshot().Phase)
		res, err := turn.Wait(t.Context())
		require.NoError(t, err)
		assert.Equal(t, time.Minute, time.Since(start))
		<-turn.Done()
		assert.Same(t, res, turn.Result())
		assert.Same(t, res, s.Snapshot().Result)
		assert.Equal(t, reducer.Succeeded, res.Status)
	})
	inBubble("what cannot be sent is an error at once", t, client.SessionOptions{}, script(says(begins, asks(interrupt)), slow), func(t *testing.T, s *client.Session) {
		_, err := s.Send(t.Context())
		require.NoError(t, err)
		before := s.Snapshot()
		turn, err := s.Start(t.Context(), hi("u"))
		assert.ErrorAs(t, err, new(*client.InterruptError))
		assert.Nil(t, turn)
		_, err = s.Start(t.Context(), &client.RunOptions{Messages: []*messages.Message{nil}, Resume: []client.Answer{client.Decline("i1")}})
		assert.ErrorAs(t, err, new(*messages.MalformedError))
		ended, cancel := context.WithCancelCause(t.Context())
		cancel(errOwn)
		_, err = s.Start(ended, nil)
		assert.ErrorIs(t, err, context.Canceled)
		assert.ErrorIs(t, err, errOwn)
		assert.Equal(t, before, s.Snapshot(), "nothing has changed")
		turn, err = s.Start(t.Context(), &client.RunOptions{Resume: []client.Answer{client.Decline("i1")}})
		require.NoError(t, err)
		_, err = s.Start(t.Context(), hi("u"))
		assert.ErrorIs(t, err, client.ErrBusy)
		assert.ErrorIs(t, s.AddMessages(messages.UserText("x")), client.ErrBusy)
		require.NoError(t, turn.Stop(t.Context()))
		s.Close()
		_, err = s.Start(t.Context(), hi("u"))
		assert.ErrorIs(t, err, client.ErrClosed)
	})
	inBubble("the end of its context ends the turn", t, client.SessionOptions{}, script(slow), func(t *testing.T, s *client.Session) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		turn, err := s.Start(ctx, hi("u"))
		require.NoError(t, err)
		res, err := turn.Wait(t.Context())
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, []string{"user u: hi", "assistant m: hello"}, shown(res.Thread))
	})
	inBubble("the end of its context after the turn does not end what is still read", t, client.SessionOptions{},
		script(then(says(begins, succeeds), pauses(time.Second), says(fails))), func(t *testing.T, s *client.Session) {
			ctx, cancel := context.WithCancel(t.Context())
			_, err := s.Send(ctx)
			cancel()
			require.NoError(t, err)
			time.Sleep(2 * time.Second)
			assert.Equal(t, reducer.Failed, s.Thread().Status())
		})
	inBubble("the end of a wait does not end the turn", t, client.SessionOptions{}, script(slow), func(t *testing.T, s *client.Session) {
		turn, err := s.Start(t.Context(), hi("u"))
		require.NoError(t, err)
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errOwn)
		defer cancel()
		res, err := turn.Wait(ctx)
		assert.Nil(t, res)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorIs(t, err, errOwn)
		assert.ErrorIs(t, s.Wait(ctx), context.DeadlineExceeded)
		require.NoError(t, s.Wait(t.Context()))
		assert.NoError(t, turn.Result().Err)
		res, err = turn.Wait(ctx)
		assert.NoError(t, err, "a turn that has ended is not waited for")
		assert.NotNil(t, res)
	})
	inBubble("the options are the turn's own", t, client.SessionOptions{}, script(says(begins, calls("c", "now", ""), succeeds), says(begins, succeeds)),
		func(t *testing.T, s *client.Session) {
			require.NoError(t, s.SetTools(does("now", func(context.Context) (any, error) { return "noon", nil })))
			o := hi("u")
			o.RunID = "mine"
			turn, err := s.Start(t.Context(), o)
			require.NoError(t, err)
			*o = client.RunOptions{RunID: "yours"}
			res, err := turn.Wait(t.Context())
			require.NoError(t, err)
			assert.Equal(t, 2, res.Runs)
		})
}

func TestStop(t *testing.T) {
	for name, stop := range map[string]func(s *client.Session, turn *client.Turn, ctx context.Context) error{
		"the session": func(s *client.Session, _ *client.Turn, ctx context.Context) error { return s.Stop(ctx) },
		"the turn":    func(_ *client.Session, turn *client.Turn, ctx context.Context) error { return turn.Stop(ctx) },
	} {
		var open atomic.Bool
		slowToEnd := func(ctx context.Context, in event.RunInput, emit func(...event.Event) error) error {
			open.Store(true)
			defer open.Store(false)
			err := then(says(begins, text("m", "hello")), waits)(ctx, in, emit)
			time.Sleep(time.Second)
			return err
		}
		inBubble(name+": it waits until the run has ended and its request is closed", t, client.SessionOptions{}, script(slowToEnd, says(begins, succeeds)),
			func(t *testing.T, s *client.Session) {
				turn, err := s.Start(t.Context(), hi("u"))
				require.NoError(t, err)
				synctest.Wait()
				assert.True(t, open.Load())
				require.NoError(t, stop(s, turn, t.Context()))
				assert.False(t, open.Load())
				assert.ErrorIs(t, turn.Result().Err, client.ErrStopped)
				assert.Equal(t, client.PhaseIdle, s.Snapshot().Phase)
				assert.Equal(t, []string{"user u: hi", "assistant m: hello"}, shown(s.Thread()), "what came stays")
				require.NoError(t, stop(s, turn, t.Context()), "again it does nothing")
				_, err = s.Send(t.Context())
				assert.NoError(t, err)
			})
		inBubble(name+": without patience", t, client.SessionOptions{}, script(slowToEnd), func(t *testing.T, s *client.Session) {
			turn, err := s.Start(t.Context(), hi("u"))
			require.NoError(t, err)
			synctest.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			assert.ErrorIs(t, stop(s, turn, ctx), context.DeadlineExceeded)
			_, err = turn.Wait(t.Context())
			assert.ErrorIs(t, err, client.ErrStopped, "it is stopped all the same")
		})
		inBubble(name+": a stream that lingers is closed", t, client.SessionOptions{Linger: -1},
			script(then(says(begins, succeeds), pauses(time.Second), slowToEnd)), func(t *testing.T, s *client.Session) {
				turn, err := s.Start(t.Context(), hi("u"))
				require.NoError(t, err)
				require.NoError(t, s.Wait(t.Context()))
				time.Sleep(2 * time.Second)
				assert.Equal(t, client.PhaseStreaming, s.Snapshot().Phase, "another run")
				require.NoError(t, stop(s, turn, t.Context()))
				assert.False(t, open.Load())
				assert.Equal(t, client.PhaseIdle, s.Snapshot().Phase)
				assert.True(t, s.Thread().Status().Ended())
				assert.Equal(t, reducer.Succeeded, turn.Result().Status, "the turn had ended before")
			})
	}
	inBubble("a session that does nothing", t, client.SessionOptions{}, script(), func(t *testing.T, s *client.Session) {
		assert.NoError(t, s.Stop(t.Context()))
		assert.NoError(t, s.Wait(t.Context()))
		s.Close()
		assert.NoError(t, s.Stop(t.Context()))
		assert.NoError(t, s.Wait(t.Context()))
	})
	t.Run("who waits for the session finds the result of the turn", func(t *testing.T) {
		s := client.NewSession(client.Emit(func(_ context.Context, in event.RunInput, emit func(...event.Event) error) error {
			return emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID}, &event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID})
		}), quiet(client.SessionOptions{}))
		defer s.Close()
		for range 2000 {
			turn, err := s.Start(t.Context(), nil)
			require.NoError(t, err)
			require.NoError(t, s.Wait(t.Context()))
			require.NotNil(t, turn.Result())
		}
	})
	inBubble("Wait waits for what Close stopped", t, client.SessionOptions{}, script(waits), func(t *testing.T, s *client.Session) {
		turn, err := s.Start(t.Context(), nil)
		require.NoError(t, err)
		s.Close()
		require.NoError(t, s.Wait(t.Context()))
		assert.ErrorIs(t, turn.Result().Err, client.ErrStopped)
		assert.Equal(t, client.PhaseClosed, s.Snapshot().Phase)
	})
}

// TestRunsOfTheAgentItself holds what a run does that the agent begins on a stream which lingers.
func TestRunsOfTheAgentItself(t *testing.T) {
	again := func(ends ...any) turn {
		return then(says(begins, succeeds), pauses(time.Second), says(begins, text("m", "more")), pauses(time.Second), says(ends...))
	}
	inBubble("the session is streaming, and then it is free", t, client.SessionOptions{}, script(again(succeeds)), func(t *testing.T, s *client.Session) {
		res, err := s.Send(t.Context())
		require.NoError(t, err)
		assert.Equal(t, client.PhaseIdle, s.Snapshot().Phase)
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Equal(t, client.PhaseStreaming, s.Snapshot().Phase)
		require.NoError(t, s.Wait(t.Context()), "it is waited for")
		assert.Equal(t, []string{"assistant m: more"}, shown(s.Thread()))
		assert.Equal(t, client.PhaseIdle, s.Snapshot().Phase)
		assert.Same(t, res, s.Snapshot().Result, "it belongs to no turn")
	})
	inBubble("its questions wait for the caller (P-RUN-3)", t, client.SessionOptions{}, script(again(asks(interrupt)), says(begins, succeeds)), func(t *testing.T, s *client.Session) {
		_, err := s.Send(t.Context())
		require.NoError(t, err)
		time.Sleep(time.Minute)
		assert.Equal(t, client.PhaseWaiting, s.Snapshot().Phase)
		_, err = s.Resume(t.Context(), client.Decline("i1"))
		assert.NoError(t, err)
	})
	inBubble("its tools are answered by the next turn", t, client.SessionOptions{Tools: []client.Tool{does("now", func(context.Context) (any, error) { return "noon", nil })}},
		script(again(calls("c", "now", ""), succeeds), says(begins, succeeds)), func(t *testing.T, s *client.Session) {
			_, err := s.Send(t.Context())
			require.NoError(t, err)
			time.Sleep(time.Minute)
			assert.Equal(t, []string{"c"}, s.Thread().PendingToolCallIDs())
			_, err = s.Send(t.Context(), withID("u", messages.UserText("hi")))
			require.NoError(t, err)
			assert.Empty(t, s.Thread().PendingToolCallIDs())
		})
	for name, change := range map[string]func(s *client.Session) error{
		"a turn": func(s *client.Session) error {
			_, err := s.Send(context.Background(), messages.UserText("hi"))
			return err
		},
		"a change":            func(s *client.Session) error { return s.AddMessages(messages.UserText("hi")) },
		"a change of options": func(s *client.Session) error { return s.SetContext() },
	} {
		inBubble(name+" stops it", t, client.SessionOptions{}, script(again(succeeds), says(begins, succeeds)), func(t *testing.T, s *client.Session) {
			_, err := s.Send(t.Context())
			require.NoError(t, err)
			time.Sleep(time.Second + time.Millisecond)
			require.NoError(t, change(s), "it keeps nobody waiting")
			assert.ErrorIs(t, s.Thread().Runs.At(1).Err, client.ErrStopped)
			assert.Equal(t, client.PhaseIdle, s.Snapshot().Phase)
			assert.Equal(t, "more", s.Thread().Messages.At(0).Text(), "what came stays")
			require.NoError(t, s.Wait(t.Context()))
			before := s.Thread()
			time.Sleep(time.Minute)
			assert.Same(t, before, s.Thread(), "what comes later is not folded")
		})
	}
	for name, refused := range map[string]func(s *client.Session) error{
		"a turn that cannot be sent": func(s *client.Session) error {
			_, err := s.Resume(context.Background(), client.Decline("nobody's"))
			return err
		},
		"a message that is there": func(s *client.Session) error {
			_, err := s.Send(context.Background(), withID("m", messages.AssistantText("x")))
			return err
		},
		"a change that cannot be made": func(s *client.Session) error { return s.AddMessages(nil) },
	} {
		inBubble(name+" leaves it alone", t, client.SessionOptions{}, script(again(succeeds)), func(t *testing.T, s *client.Session) {
			_, err := s.Send(t.Context())
			require.NoError(t, err)
			time.Sleep(time.Second + time.Millisecond)
			before := s.Snapshot()
			assert.Error(t, refused(s))
			assert.Equal(t, client.PhaseStreaming, before.Phase)
			assert.Equal(t, before, s.Snapshot(), "nothing has changed")
			require.NoError(t, s.Wait(t.Context()))
			assert.Equal(t, reducer.Succeeded, s.Thread().Status())
		})
	}
	inBubble("tools do not wait for the stream, and the next request closes it", t, client.SessionOptions{
		Tools: []client.Tool{does("now", func(context.Context) (any, error) { return "noon", nil })},
	}, script(then(says(begins, calls("c", "now", ""), succeeds), waits), says(begins, text("m", "it is noon"), succeeds)), func(t *testing.T, s *client.Session) {
		start := time.Now()
		res, err := s.Send(t.Context(), withID("u", messages.UserText("when?")))
		require.NoError(t, err)
		assert.Equal(t, 2*time.Millisecond, time.Since(start))
		assert.Equal(t, 2, res.Runs)
		assert.Equal(t, "it is noon", res.Thread.Messages.At(3).Text())
	})
}

// TestAgentsThatNeverReturn holds that a panic or a runtime.Goexit of an agent that is not an AgentFunc ends its turn.
func TestAgentsThatNeverReturn(t *testing.T) {
	for name, end := range map[string]func(){"panic": func() { panic(errOwn) }, "Goexit": runtime.Goexit} {
		for _, after := range []bool{false, true} {
			agent := rawAgent(func(context.Context, event.RunInput) iter.Seq2[event.Event, error] {
				return func(yield func(event.Event, error) bool) {
					if _ = yield(begins, nil); after {
						yield(succeeds, nil)
						time.Sleep(time.Second)
					}
					end()
				}
			})
			inBubble(fmt.Sprint(name, ", after the run: ", after), t, client.SessionOptions{}, agent, func(t *testing.T, s *client.Session) {
				res, err := s.Send(t.Context())
				require.NotNil(t, res)
				assert.Equal(t, after, err == nil)
				if !after && name == "panic" {
					assert.ErrorIs(t, err, errOwn)
					assert.ErrorAs(t, err, new(*client.PanicError))
				}
				time.Sleep(time.Minute)
				assert.Equal(t, client.PhaseIdle, s.Snapshot().Phase)
				assert.True(t, s.Thread().Status().Ended())
			})
		}
	}
}

// TestConnectionsAreUsedAgain holds that a turn which ends before its stream does not cost the next one a connection.
func TestConnectionsAreUsedAgain(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, err := io.Copy(w, streams(begins, succeeds))
		_ = errors.Join(err, http.NewResponseController(w).Flush())
	}))
	defer server.Close()
	var opened atomic.Int32
	transport := &http.Transport{DialContext: dialCounting(&opened)}
	defer transport.CloseIdleConnections()
	s := client.NewSession(client.NewHTTP(server.URL, &client.HTTPOptions{Client: &http.Client{Transport: transport}}), quiet(client.SessionOptions{}))
	defer s.Close()
	for range 50 {
		_, err := s.Send(t.Context(), messages.UserText("hi"))
		require.NoError(t, err)
	}
	assert.Less(t, opened.Load(), int32(25), "most turns use the connection of the one before")
	t.Logf("%d connections for 50 turns", opened.Load())
}
