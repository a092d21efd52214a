package client_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
	"github.com/agfold/agfold/subscribe"
)

func TestSessionStart(t *testing.T) {
	stored := &reducer.Thread{ID: "stored", Revision: 7, Messages: messages.NewList(withID("s", messages.UserText("stored"))), State: state.Int(7)}
	for _, row := range []struct {
		rule    string
		options client.SessionOptions
		id      string
		thread  []string
		state   string
	}{
		{"an empty conversation has an id from NewID and the state {}", client.SessionOptions{}, "id-1", nil, `{}`},
		{"ThreadID names it", client.SessionOptions{ThreadID: "t-1"}, "t-1", nil, `{}`},
		{"Thread continues with a conversation", client.SessionOptions{Thread: stored}, "stored", []string{"user s: stored"}, `7`},
		{"ThreadID wins over that of Thread", client.SessionOptions{Thread: stored, ThreadID: "t-1"}, "t-1", []string{"user s: stored"}, `7`},
		{"with Thread, Messages and State play no part", client.SessionOptions{Thread: stored, State: state.Int(1), Messages: []*messages.Message{messages.UserText("x")}},
			"stored", []string{"user s: stored"}, `7`},
		{"Messages without an id get one", client.SessionOptions{ThreadID: "t-1", Messages: []*messages.Message{messages.UserText("x"), withID("y", messages.UserText("y"))}},
			"t-1", []string{"user id-1: x", "user y: y"}, `{}`},
		{"State is where it starts", client.SessionOptions{ThreadID: "t-1", State: state.Int(1)}, "t-1", nil, `1`},
		{"P-STA-2 null is {}", client.SessionOptions{ThreadID: "t-1", State: state.Null()}, "t-1", nil, `{}`},
		{"P-STA-2 a thread without a state has {}", client.SessionOptions{Thread: &reducer.Thread{ID: "z"}}, "z", nil, `{}`},
	} {
		t.Run(row.rule, func(t *testing.T) {
			s := client.NewSession(script(), quiet(row.options))
			th := s.Thread()
			assert.Equal(t, row.id, s.ID())
			assert.Equal(t, row.id, th.ID)
			assert.Equal(t, row.thread, shown(th))
			assert.Equal(t, row.state, th.State.String())
			assert.False(t, s.Snapshot().Phase.Busy())
			assert.Nil(t, s.Snapshot().Result)
			assert.Same(t, th, s.Thread(), "a snapshot of what did not change is the same one")
		})
	}
	t.Run("nil options are the defaults", func(t *testing.T) {
		a, b := client.NewSession(script(says(begins, succeeds)), nil), client.NewSession(script(), nil)
		assert.NotEmpty(t, a.ID())
		assert.NotEqual(t, a.ID(), b.ID())
		_, err := a.Send(t.Context())
		assert.NoError(t, err)
	})
	t.Run("the options are copied", func(t *testing.T) {
		o := quiet(client.SessionOptions{ThreadID: "t-1", Tools: []client.Tool{{Tool: event.Tool{Name: "one"}}}})
		agent := script(says(begins, succeeds))
		s := client.NewSession(agent, o)
		o.Tools[0].Name, o.ThreadID, o.NewID = "two", "t-2", nil
		_, err := s.Send(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "one", agent.inputs[0].Tools[0].Name)
		assert.Equal(t, "t-1", agent.inputs[0].ThreadID)
		assert.Equal(t, "t-2", o.ThreadID, "and not filled in")
		assert.Nil(t, o.NewID)
		assert.Zero(t, o.MaxRounds)
	})
	t.Run("P-TOL-3 answered calls of the first messages are marked", func(t *testing.T) {
		m := withID("a", messages.AssistantText(""))
		m.ToolCalls = messages.NewList(&messages.ToolCall{ID: "c1", Name: "now"})
		s := client.NewSession(script(), quiet(client.SessionOptions{Messages: []*messages.Message{m, messages.ToolResult("c1", "noon")}}))
		assert.Equal(t, messages.ToolCallAnswered, s.Thread().Messages.At(0).ToolCalls.At(0).Status)
	})
	t.Run("no agent is the error of every run", func(t *testing.T) {
		res, err := client.NewSession(nil, nil).Send(t.Context(), messages.UserText("hi"))
		assert.ErrorContains(t, err, "no agent")
		assert.Nil(t, res)
	})
	for rule, bad := range map[string]*messages.Message{"a nil message": nil, "a malformed one": {Role: messages.RoleTool}, "a second one of an id": withID("u", messages.UserText("x"))} {
		t.Run("first messages that are not acceptable are the error of every run: "+rule, func(t *testing.T) {
			agent := script(says(begins, succeeds))
			s := client.NewSession(agent, quiet(client.SessionOptions{Messages: []*messages.Message{withID("u", messages.UserText("hi")), bad}}))
			assert.Zero(t, s.Thread().Messages.Len())
			for range 2 {
				_, err := s.Send(t.Context())
				var clash *client.DuplicateError
				assert.True(t, errors.As(err, new(*messages.MalformedError)) || errors.As(err, &clash), "%v", err)
			}
			assert.Empty(t, agent.inputs)
			require.NoError(t, s.SetMessages(messages.UserText("hi")))
			_, err := s.Send(t.Context())
			assert.NoError(t, err)
		})
	}
}

func TestSessionOverManyRuns(t *testing.T) {
	agent := script(
		says(begins, text("m1", "one"), `{"type":"STATE_SNAPSHOT","snapshot":{"n":1}}`, succeeds),
		says(begins, text("m2", "two"), `{"type":"STATE_DELTA","delta":[{"op":"add","path":"/m","value":2}]}`, fails),
		says(begins, text("m1", "!"), succeeds),
	)
	s := client.NewSession(agent, quiet(client.SessionOptions{ThreadID: "t-1"}))
	var revision uint64
	for _, want := range []error{nil, errors.New("failed"), nil} {
		_, err := s.Send(t.Context(), messages.UserText("go"))
		assert.Equal(t, want == nil, err == nil)
		assert.Greater(t, s.Thread().Revision, revision)
		revision = s.Thread().Revision
		require.NoError(t, s.AddMessages(messages.UserText("by the way")))
		assert.Greater(t, s.Thread().Revision, revision, "revisions grow over runs and edits")
		revision = s.Thread().Revision
	}
	th := s.Thread()
	assert.Equal(t, []string{"user id-1: go", "assistant m1: one!", "user id-3: by the way", "user id-4: go", "assistant m2: two", "user id-6: by the way", "user id-7: go", "user id-9: by the way"}, shown(th))
	assert.Equal(t, `{"n":1,"m":2}`, th.State.String())
	assert.Equal(t, 3, th.Runs.Len())
	assert.Equal(t, "t-1", th.ID, "whatever id the agent says")
	assert.Equal(t, `{"n":1}`, agent.inputs[1].State.String())
}

func TestWarningsGoToTheLogByDefault(t *testing.T) {
	var log strings.Builder
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	defer slog.SetDefault(before)
	s := client.NewSession(script(says(begins, `{"type":"NEWS"}`, succeeds)), nil)
	_, err := s.Send(t.Context())
	require.NoError(t, err)
	assert.Contains(t, log.String(), "level=WARN")
	assert.Contains(t, log.String(), "rule=P-ENF-1 event=2 type=NEWS")
}

// TestCallbacksUseTheSession checks that the session never calls a function with its lock held.
func TestCallbacksUseTheSession(t *testing.T) {
	var s *client.Session
	n := 0
	use := func() {
		if s != nil {
			n++
			s.Thread()
			s.Snapshot()
			s.ID()
			halt(s)
			_ = s.SetTools()
		}
	}
	ids := counting()
	s = client.NewSession(script(says(begins, `{"type":"NEWS"}`, calls("c1", "now", ""), succeeds)), &client.SessionOptions{
		NewID:     func() string { use(); return ids() },
		OnWarning: func(event.Warning) { use() },
	})
	require.NoError(t, s.AddMessages(messages.UserText("hi")))
	require.NoError(t, s.SetMessages(messages.UserText("hi")))
	_, err := s.Send(t.Context(), messages.UserText("hi"))
	assert.ErrorIs(t, err, client.ErrStopped)
	assert.GreaterOrEqual(t, n, 4)
}

func TestNewIDIsCalledOneAtATime(t *testing.T) {
	n := 0 // races if it is not
	s := client.NewSession(script(), &client.SessionOptions{NewID: func() string { n++; return fmt.Sprint(n) }})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				assert.NoError(t, s.AddMessages(messages.UserText("x")))
			}
		})
	}
	wg.Wait()
	assert.Equal(t, 401, n)
	assert.Equal(t, 400, s.Thread().Messages.Len())
}

func TestInsideTheLoop(t *testing.T) {
	for _, row := range []struct {
		rule   string
		do     func(t *testing.T, s *client.Session)
		status reducer.Status
	}{
		{"Thread shows the step", func(t *testing.T, s *client.Session) {
			assert.Equal(t, []string{"assistant m: hello"}, shown(s.Thread()))
			assert.Equal(t, reducer.Running, s.Thread().Status())
		}, reducer.Succeeded},
		{"Running is true", func(t *testing.T, s *client.Session) { assert.True(t, s.Snapshot().Phase.Busy()) }, reducer.Succeeded},
		{"Stop stops", func(t *testing.T, s *client.Session) { halt(s) }, reducer.Stopped},
		{"Close stops", func(t *testing.T, s *client.Session) { s.Close(); s.Close() }, reducer.Stopped},
		{"Subscribe sees the thread", func(t *testing.T, s *client.Session) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			assert.Equal(t, s.Snapshot(), <-s.Subscribe(ctx))
		}, reducer.Succeeded},
		{"Revisions sees the thread", func(t *testing.T, s *client.Session) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			assert.Equal(t, s.Snapshot(), <-s.Revisions(ctx, nil).C)
		}, reducer.Succeeded},
	} {
		t.Run(row.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := client.NewSession(script(says(begins, text("m", "hello"), succeeds)), quiet(client.SessionOptions{}))
				var last error
				for step, err := range s.Run(t.Context(), nil) {
					if last = err; err != nil {
						assert.False(t, s.Snapshot().Phase.Busy(), "the session is free when the error comes")
						assert.Equal(t, err, s.Snapshot().Result.Err)
					} else if step.Change.Kind == reducer.MessageClosed {
						row.do(t, s)
					}
				}
				assert.Equal(t, row.status, s.Thread().Status())
				assert.Equal(t, row.status == reducer.Stopped, errors.Is(last, client.ErrStopped))
			})
		})
	}
}

func TestCancelWithoutARun(t *testing.T) {
	s := client.NewSession(script(says(begins, succeeds)), quiet(client.SessionOptions{}))
	halt(s)
	_, err := s.Send(t.Context())
	assert.NoError(t, err, "it does nothing, and nothing to the next run")
}

func TestStopFromAnotherGoroutine(t *testing.T) {
	for name, stop := range map[string]func(*client.Session){"Stop": halt, "Close": (*client.Session).Close} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := client.NewSession(script(then(says(begins, text("m", "hello")), waits)), quiet(client.SessionOptions{}))
				go func() {
					synctest.Wait()
					stop(s)
				}()
				res, err := s.Send(t.Context())
				assert.ErrorIs(t, err, client.ErrStopped)
				assert.Equal(t, reducer.Stopped, res.Status)
				assert.ErrorIs(t, s.Thread().Err(), client.ErrStopped)
				assert.Equal(t, []string{"assistant m: hello"}, shown(s.Thread()), "what came stays")
			})
		})
	}
}

func TestSubscribe(t *testing.T) {
	t.Run("the first value at once, the newest wins, and an edit is one", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			s := client.NewSession(script(says(begins, text("m", "hello"), succeeds)), quiet(client.SessionOptions{}))
			snapshots := s.Subscribe(ctx)
			assert.Equal(t, s.Snapshot(), <-snapshots)
			synctest.Wait()
			require.NoError(t, s.AddMessages(messages.UserText("hi")))
			assert.Equal(t, []string{"user id-2: hi"}, shown((<-snapshots).Thread))
			_, err := s.Send(ctx)
			require.NoError(t, err)
			var sn client.Snapshot
			for sn = range snapshots {
				if sn.Result != nil {
					break
				}
			}
			assert.Equal(t, s.Snapshot(), sn)
			cancel()
			_, open := <-snapshots
			assert.False(t, open)
		})
	})
	t.Run("Close gives the final snapshot, then closes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := client.NewSession(script(), quiet(client.SessionOptions{}))
			snapshots, revisions := s.Subscribe(t.Context()), s.Revisions(t.Context(), nil)
			require.NoError(t, s.SetState(state.Int(1)))
			s.Close()
			s.Close()
			assert.Equal(t, s.Snapshot(), last(snapshots))
			assert.Equal(t, s.Snapshot(), last(revisions.C))
			assert.NoError(t, revisions.Err())
			assert.Equal(t, s.Snapshot(), last(s.Subscribe(t.Context())), "also for those who come later")
			assert.Equal(t, client.PhaseClosed, s.Snapshot().Phase)
		})
	})
	t.Run("Close waits for the run before it gives the final snapshot", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := client.NewSession(script(then(says(begins), waits)), quiet(client.SessionOptions{}))
			snapshots, revisions := s.Subscribe(t.Context()), s.Revisions(t.Context(), nil)
			go func() {
				synctest.Wait()
				s.Close()
			}()
			_, err := s.Send(t.Context())
			assert.ErrorIs(t, err, client.ErrStopped)
			for _, sn := range []client.Snapshot{last(snapshots), last(revisions.C)} {
				assert.Equal(t, reducer.Stopped, sn.Status())
				assert.Equal(t, client.PhaseClosed, sn.Phase)
				assert.ErrorIs(t, sn.Result.Err, client.ErrStopped)
			}
		})
	})
	t.Run("a thousand subscribers", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			turns := []any{begins}
			for i := range 100 {
				turns = append(turns, text(fmt.Sprint("m", i), "hello"))
			}
			s := client.NewSession(script(says(append(turns, succeeds)...)), quiet(client.SessionOptions{}))
			var wg sync.WaitGroup
			finals := make([]*reducer.Thread, 1000)
			for i := range finals {
				snapshots := s.Subscribe(t.Context())
				wg.Go(func() {
					var revision uint64
					for th := range snapshots {
						assert.GreaterOrEqual(t, th.Revision, revision)
						revision, finals[i] = th.Revision, th.Thread
					}
				})
			}
			_, err := s.Send(t.Context())
			require.NoError(t, err)
			s.Close()
			wg.Wait()
			for _, th := range finals {
				require.Same(t, s.Thread(), th)
			}
		})
	})
}

// last returns the last value of a channel that closes.
func last[T any](ch <-chan T) (v T) {
	for v = range ch {
	}
	return v
}

func TestRevisions(t *testing.T) {
	t.Run("each event and each edit, in order, with no repetition", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := client.NewSession(script(says(begins, `{"type":"NEWS"}`, text("m", "hello"), succeeds)), quiet(client.SessionOptions{}))
			revisions := s.Revisions(t.Context(), &subscribe.EveryOptions{Buffer: 100})
			_, err := s.Send(t.Context(), messages.UserText("hi"))
			require.NoError(t, err)
			require.NoError(t, s.SetState(state.Int(1)))
			s.Close()
			var got []string
			for sn := range revisions.C {
				got = append(got, fmt.Sprint(sn.Revision, " ", sn.Phase))
			}
			assert.Equal(t, []string{
				"0 idle", "1 sending", "2 streaming", "3 streaming", "4 streaming", "5 streaming", "6 streaming", "6 idle", "7 idle", "7 closed",
			}, got, "start, message, five events, the end of the call, state, Close; a dropped event changes nothing")
		})
	})
	t.Run("an edit does not wait for the next run to be seen", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := client.NewSession(script(), quiet(client.SessionOptions{}))
			defer s.Close()
			revisions := s.Revisions(t.Context(), nil)
			<-revisions.C
			require.NoError(t, s.AddMessages(messages.UserText("hi")))
			assert.Equal(t, []string{"user id-2: hi"}, shown((<-revisions.C).Thread))
		})
	})
	t.Run("the caller's messages are seen before the agent says anything", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			s := client.NewSession(script(waits), quiet(client.SessionOptions{}))
			revisions := s.Revisions(ctx, nil)
			<-revisions.C
			go func() { _, _ = s.Send(ctx, messages.UserText("hi")) }()
			synctest.Wait()
			require.Len(t, revisions.C, 1)
			assert.Equal(t, []string{"user id-2: hi"}, shown((<-revisions.C).Thread))
			cancel()
		})
	})
	t.Run("edits are not held back by one that is full, and all arrive", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := client.NewSession(script(), quiet(client.SessionOptions{}))
			revisions := s.Revisions(t.Context(), &subscribe.EveryOptions{Buffer: 1})
			for range 50 {
				require.NoError(t, s.AddMessages(messages.UserText("hi")))
			}
			for want := range 51 {
				require.EqualValues(t, want, (<-revisions.C).Revision)
			}
			synctest.Wait()
			for range 50 { // and again, after all was taken
				require.NoError(t, s.AddMessages(messages.UserText("hi")))
			}
			for want := range 50 {
				require.EqualValues(t, want+51, (<-revisions.C).Revision)
			}
			s.Close()
		})
	})
	t.Run("none is forgotten when the reader catches up at the same time", func(t *testing.T) {
		s := client.NewSession(script(), quiet(client.SessionOptions{}))
		revisions := s.Revisions(t.Context(), &subscribe.EveryOptions{Buffer: 1})
		seen := make(chan uint64, 1)
		go func() {
			defer close(seen)
			for th := range revisions.C {
				if th.Revision%3 == 0 {
					seen <- th.Revision
				}
			}
		}()
		for round := range 20000 {
			require.EqualValues(t, round*3, <-seen)
			for range 3 {
				require.NoError(t, s.SetState(state.Int(int64(round))))
			}
		}
		s.Close()
		for range seen {
		}
	})
	t.Run("one that is full holds the run back until it is read", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := client.NewSession(script(says(begins, text("m", "hello"), succeeds)), quiet(client.SessionOptions{}))
			revisions := s.Revisions(t.Context(), &subscribe.EveryOptions{Buffer: 1})
			go func() { _, _ = s.Send(t.Context()) }()
			synctest.Wait()
			assert.EqualValues(t, 0, s.Thread().Revision, "idle is in the channel, sending waits for room")
			for _, want := range []uint64{0, 0, 1, 2, 3, 4, 5, 5} {
				require.EqualValues(t, want, (<-revisions.C).Revision)
			}
			synctest.Wait()
			assert.Equal(t, reducer.Succeeded, s.Snapshot().Result.Status)
			s.Close()
		})
	})
	t.Run("a run held back ends when its context does, and the end is seen", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			s := client.NewSession(script(says(begins, text("m", "hello"), succeeds)), quiet(client.SessionOptions{}))
			revisions := s.Revisions(t.Context(), &subscribe.EveryOptions{Buffer: 2})
			res, err := s.Send(ctx)
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			assert.Equal(t, reducer.Truncated, res.Status)
			var sn client.Snapshot
			for sn = range revisions.C {
				if sn.Result != nil {
					break
				}
			}
			assert.Equal(t, s.Snapshot(), sn, "without another run, and without Close")
			synctest.Wait()
			s.Close()
		})
	})
	t.Run("one that is never read leaves no goroutine once its context ends", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			s := client.NewSession(script(), quiet(client.SessionOptions{}))
			s.Revisions(ctx, &subscribe.EveryOptions{Buffer: 1})
			for range 10 {
				require.NoError(t, s.AddMessages(messages.UserText("hi")))
			}
			cancel()
		})
	})
}

// TestReadersWhileARunGoesOn is for the race detector: everything that may be called at any time is.
func TestReadersWhileARunGoesOn(t *testing.T) {
	var turns []turn
	for r := range 20 {
		events := []any{begins, calls(fmt.Sprint("c", r), "now", "{}")}
		for i := range 50 {
			events = append(events, text(fmt.Sprint("m", i%7), "hello "))
		}
		turns = append(turns, says(append(events, succeeds)...))
	}
	agent := script(append(turns, says(begins, succeeds))...)
	s := client.NewSession(agent, quiet(client.SessionOptions{MaxRounds: 50, Tools: []client.Tool{does("now", func(context.Context) (any, error) { return "noon", nil })}}))
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() { // a UI
			var revision uint64
			for {
				th := s.Thread()
				assert.GreaterOrEqual(t, th.Revision, revision)
				revision = th.Revision
				th.AppendJSON(nil)
				s.Snapshot()
				s.ID()
				_ = s.SetState(state.Int(1))
				select {
				case <-done:
					return
				default:
					runtime.Gosched()
				}
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	snapshots, revisions := s.Subscribe(ctx), s.Revisions(ctx, &subscribe.EveryOptions{Full: subscribe.DropOldest})
	wg.Go(func() {
		for th := range snapshots {
			th.AppendJSON(nil)
		}
	})
	wg.Go(func() {
		for th := range revisions.C {
			th.AppendJSON(nil)
		}
	})
	res, err := s.Send(ctx, messages.UserText("hi"))
	close(done)
	s.Close()
	wg.Wait()
	require.NoError(t, err)
	assert.Equal(t, 21, res.Runs)
	assert.Equal(t, 21, res.Thread.Runs.Len())
}

func TestOneRunAtATime(t *testing.T) {
	var running, most int
	var mu sync.Mutex
	agent := client.Emit(func(_ context.Context, _ event.RunInput, emit func(...event.Event) error) error {
		mu.Lock()
		running++
		most = max(most, running)
		mu.Unlock()
		defer func() {
			mu.Lock()
			running--
			mu.Unlock()
		}()
		return errors.Join(emit(begins), emit(succeeds))
	})
	s := client.NewSession(agent, quiet(client.SessionOptions{}))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				res, err := s.Send(t.Context(), messages.UserText("x"))
				assert.True(t, (res != nil) == (err == nil))
				if err != nil {
					assert.ErrorIs(t, err, client.ErrBusy)
				}
			}
		})
	}
	wg.Wait()
	assert.Equal(t, 1, most)
	assert.Equal(t, s.Thread().Runs.Len(), s.Thread().Messages.Len(), "calls that returned ErrBusy added nothing")
}
