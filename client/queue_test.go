package client_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/subscribe"
)

// minute is a turn that answers after a minute.
func minute(id string) turn {
	return then(says(begins), pauses(time.Minute), says(text("m-"+id, id), succeeds))
}

// typed starts a turn with a message, in this way.
func typed(t *testing.T, s *client.Session, id string, when client.WhenBusy) *client.Turn {
	t.Helper()
	o := hi(id)
	o.WhenBusy = when
	turn, err := s.Start(t.Context(), o)
	require.NoError(t, err)
	return turn
}

func queued(s *client.Session) (ids []string) {
	for _, m := range s.Snapshot().Queued {
		ids = append(ids, m.ID)
	}
	return ids
}

// ids are those of a thread's messages.
func ids(th *reducer.Thread) (ids []string) {
	for _, m := range th.Messages.All() {
		ids = append(ids, m.ID)
	}
	return ids
}

// endsSlowly is a turn that takes a second to end once it is stopped: what comes meanwhile is queued.
func endsSlowly(ctx context.Context, _ event.RunInput, _ func(...event.Event) error) error {
	<-ctx.Done()
	time.Sleep(time.Second)
	return ctx.Err()
}

func TestQueue(t *testing.T) {
	o := client.SessionOptions{WhenBusy: client.Queue}
	inBubble("what is typed ahead is seen, and sent in order when the session is free", t, o, script(minute("1"), minute("2"), minute("3")), func(t *testing.T, s *client.Session) {
		revisions := s.Revisions(t.Context(), &subscribe.EveryOptions{Buffer: 1000})
		start := time.Now()
		var turns []*client.Turn
		for _, id := range []string{"a", "b", "c"} {
			turns = append(turns, typed(t, s, id, 0))
		}
		assert.Zero(t, time.Since(start))
		assert.Equal(t, []string{"b", "c"}, queued(s))
		assert.Equal(t, []string{"a"}, ids(s.Thread()), "they are not in the thread")
		assert.Nil(t, turns[1].Result())
		require.NoError(t, s.Wait(t.Context()), "what is queued is waited for")
		assert.Equal(t, 3*time.Minute, time.Since(start).Round(time.Second))
		assert.Equal(t, []string{"a", "m-1", "b", "m-2", "c", "m-3"}, ids(s.Thread()))
		for _, turn := range turns {
			assert.NoError(t, turn.Result().Err)
			assert.Len(t, turn.Result().NewMessages, 1)
		}
		s.Close()
		held := map[string]bool{}
		began := false
		for sn := range revisions.C {
			began = began || sn.Phase.Busy()
			assert.Equal(t, !began || sn.Result == turns[2].Result(), !sn.Phase.Busy(), "it is not free before the last one has ended")
			for _, m := range sn.Queued {
				held[m.ID] = true
			}
			for _, m := range sn.Messages.All() {
				held[m.ID] = true
			}
			for id := range held { // each message is in one place at any time
				_, at := sn.Message(id)
				waits := 0
				for _, m := range sn.Queued {
					if m.ID == id {
						waits++
					}
				}
				if at >= 0 {
					waits++
				}
				require.Equal(t, 1, waits, id)
			}
		}
	})
	inBubble("Send waits for its turn", t, o, script(minute("1"), minute("2")), func(t *testing.T, s *client.Session) {
		typed(t, s, "a", 0)
		res, err := s.Send(t.Context(), withID("b", messages.UserText("hi")))
		require.NoError(t, err)
		assert.Equal(t, "m-2", res.NewMessages[0].ID)
	})
	inBubble("Run is pulled when its turn comes", t, o, script(minute("1"), minute("2")), func(t *testing.T, s *client.Session) {
		typed(t, s, "a", 0)
		n := 0
		for d, err := range s.Run(t.Context(), hi("b")) {
			require.NoError(t, err)
			require.NotNil(t, d.Event)
			n++
		}
		assert.Equal(t, 5, n)
	})
	inBubble("it is for turns, not for changes", t, o, script(minute("1")), func(t *testing.T, s *client.Session) {
		typed(t, s, "a", 0)
		assert.ErrorIs(t, s.AddMessages(messages.UserText("x")), client.ErrBusy)
	})
	inBubble("answers are not queued", t, o, script(minute("1")), func(t *testing.T, s *client.Session) {
		typed(t, s, "a", 0)
		_, err := s.Resume(t.Context(), client.Decline("i1"))
		assert.ErrorIs(t, err, client.ErrBusy)
	})
	inBubble("the options of a turn win", t, o, script(minute("1")), func(t *testing.T, s *client.Session) {
		typed(t, s, "a", 0)
		refused := hi("b")
		refused.WhenBusy = client.Refuse
		_, err := s.Start(t.Context(), refused)
		assert.ErrorIs(t, err, client.ErrBusy)
		assert.Empty(t, queued(s))
	})
	inBubble("a turn without messages is queued, too", t, o, script(minute("1"), minute("2")), func(t *testing.T, s *client.Session) {
		typed(t, s, "a", 0)
		turn, err := s.Start(t.Context(), nil)
		require.NoError(t, err)
		res, err := turn.Wait(t.Context())
		require.NoError(t, err)
		assert.Equal(t, []string{"a", "m-1", "m-2"}, ids(res.Thread))
	})
	inBubble("what is malformed or double is an error at once", t, o, script(minute("1"), minute("2")), func(t *testing.T, s *client.Session) {
		typed(t, s, "a", 0)
		typed(t, s, "b", 0)
		for id, message := range map[string]*messages.Message{"nil": nil, "twice": withID("b", messages.UserText("again")), "in the thread": withID("a", messages.UserText("again"))} {
			_, err := s.Start(t.Context(), &client.RunOptions{Messages: []*messages.Message{message}})
			assert.Error(t, err, id)
		}
		assert.Equal(t, []string{"b"}, queued(s))
	})
	inBubble("what the agent has said meanwhile can make a message double", t, o, script(minute("1"), minute("2")), func(t *testing.T, s *client.Session) {
		typed(t, s, "a", 0)
		b, c := typed(t, s, "m-1", 0), typed(t, s, "c", 0)
		res, err := b.Wait(t.Context())
		assert.ErrorAs(t, err, new(*client.DuplicateError))
		assert.Zero(t, res.Runs)
		require.NoError(t, s.Wait(t.Context()))
		assert.Equal(t, []string{"c"}, queued(s), "it is an end that holds the queue")
		assert.Same(t, res, s.Snapshot().Result)
		assert.Nil(t, c.Result())
	})
}

func TestQueueIsHeld(t *testing.T) {
	slowly := func(ends ...any) turn { return then(says(begins), pauses(time.Minute), says(ends...)) }
	for _, row := range []struct {
		rule  string
		turn  turn
		stop  func(*client.Session) error
		phase client.Phase
		goes  bool
	}{
		{rule: "a run that succeeds lets it go", turn: slowly(succeeds), goes: true},
		{rule: "a run that fails holds it", turn: slowly(fails), phase: client.PhaseIdle},
		{rule: "a stream that is cut holds it", turn: slowly(), phase: client.PhaseIdle},
		{rule: "a run that the agent cancelled holds it", turn: slowly(cancels), phase: client.PhaseIdle},
		{rule: "an interrupt holds it", turn: slowly(asks(interrupt)), phase: client.PhaseWaiting},
		{rule: "a call for the caller holds it", turn: slowly(calls("c1", "later", "{}"), succeeds), phase: client.PhaseWaiting},
		{rule: "Stop holds it", turn: slowly(succeeds), stop: func(s *client.Session) error { return s.Stop(context.Background()) }, phase: client.PhaseIdle},
	} {
		agent := script(row.turn, says(begins, text("m2", "x"), succeeds), says(begins, text("m3", "x"), succeeds), says(begins, text("m4", "x"), succeeds))
		inBubble(row.rule, t, client.SessionOptions{WhenBusy: client.Queue, Tools: []client.Tool{later}}, agent, func(t *testing.T, s *client.Session) {
			first, b, c := typed(t, s, "a", 0), typed(t, s, "b", 0), typed(t, s, "c", 0)
			if row.stop != nil {
				synctest.Wait()
				require.NoError(t, row.stop(s))
			}
			<-first.Done()
			require.NoError(t, s.Wait(t.Context()))
			if row.goes {
				assert.Empty(t, queued(s))
				assert.NoError(t, c.Result().Err)
				return
			}
			assert.Equal(t, row.phase, s.Snapshot().Phase)
			assert.Equal(t, []string{"b", "c"}, queued(s), "it stays visible")
			assert.Nil(t, b.Result())

			switch { // the next turn that succeeds lets it go
			case len(s.Thread().Interrupts) > 0:
				_, err := s.Resume(t.Context(), client.Decline("i1"))
				require.NoError(t, err)
			case row.phase == client.PhaseWaiting:
				_, err := s.Start(t.Context(), &client.RunOptions{WhenBusy: client.Refuse, Messages: []*messages.Message{messages.ToolResult("c1", "done")}})
				require.NoError(t, err)
			default:
				_, err := s.Send(t.Context())
				require.NoError(t, err)
			}
			require.NoError(t, s.Wait(t.Context()))
			assert.Empty(t, queued(s))
			assert.NoError(t, b.Result().Err)
			assert.NoError(t, c.Result().Err)
			got := ids(s.Thread())
			assert.Equal(t, []string{"b", "m3", "c", "m4"}, got[len(got)-4:])
		})
	}
	inBubble("another message goes to its end, and lets it go", t, client.SessionOptions{WhenBusy: client.Queue},
		script(slowly(fails), says(begins, text("m2", "x"), succeeds), says(begins, text("m3", "x"), succeeds)), func(t *testing.T, s *client.Session) {
			typed(t, s, "a", 0)
			typed(t, s, "b", 0)
			require.NoError(t, s.Wait(t.Context()))
			assert.Equal(t, []string{"b"}, queued(s))
			c := typed(t, s, "c", 0)
			assert.True(t, s.Snapshot().Phase.Busy())
			_, err := c.Wait(t.Context())
			require.NoError(t, err)
			assert.Equal(t, []string{"a", "b", "m2", "c", "m3"}, ids(s.Thread()))
		})
}

func TestUnqueue(t *testing.T) {
	o := client.SessionOptions{WhenBusy: client.Queue}
	full := func(t *testing.T, s *client.Session) (b, c, d *client.Turn) {
		typed(t, s, "a", 0)
		return typed(t, s, "b", 0), typed(t, s, "c", 0), typed(t, s, "d", 0)
	}
	inBubble("by the id of a message", t, o, script(minute("1"), minute("2"), minute("3")), func(t *testing.T, s *client.Session) {
		b, c, d := full(t, s)
		back := s.Unqueue("c", "a", "nobody's")
		assert.Equal(t, []string{"c"}, ids(&reducer.Thread{Messages: messages.NewList(back...)}), "what has begun is not queued")
		assert.Equal(t, []string{"b", "d"}, queued(s))
		assert.ErrorIs(t, c.Result().Err, client.ErrStopped)
		assert.Equal(t, reducer.Empty, c.Result().Status)
		assert.Zero(t, c.Result().Runs)
		require.NoError(t, s.Wait(t.Context()))
		assert.NoError(t, errors.Join(b.Result().Err, d.Result().Err))
		assert.Equal(t, []string{"a", "m-1", "b", "m-2", "d", "m-3"}, ids(s.Thread()))
	})
	inBubble("all of them", t, o, script(minute("1")), func(t *testing.T, s *client.Session) {
		full(t, s)
		assert.Len(t, s.Unqueue(), 3)
		assert.Empty(t, s.Unqueue())
		require.NoError(t, s.Wait(t.Context()))
		assert.Equal(t, []string{"a", "m-1"}, ids(s.Thread()))
	})
	inBubble("by its turn", t, o, script(minute("1"), minute("2"), minute("3")), func(t *testing.T, s *client.Session) {
		_, c, _ := full(t, s)
		require.NoError(t, c.Stop(t.Context()))
		assert.Equal(t, []string{"b", "d"}, queued(s))
		assert.True(t, s.Snapshot().Phase.Busy(), "the turn in progress goes on")
	})
	inBubble("by its context", t, o, script(minute("1"), minute("2")), func(t *testing.T, s *client.Session) {
		typed(t, s, "a", 0)
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errOwn)
		defer cancel()
		res, err := s.Send(ctx, withID("b", messages.UserText("hi")))
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorIs(t, err, errOwn)
		assert.Equal(t, reducer.Empty, res.Status)
		assert.Empty(t, queued(s))
		assert.Equal(t, client.PhaseStreaming, s.Snapshot().Phase)
	})
	inBubble("by Close, and the last snapshot still has them", t, o, script(minute("1")), func(t *testing.T, s *client.Session) {
		b, c, _ := full(t, s)
		snapshots := s.Subscribe(t.Context())
		s.Close()
		for _, turn := range []*client.Turn{b, c} {
			_, err := turn.Wait(t.Context())
			assert.ErrorIs(t, err, client.ErrClosed)
		}
		now := last(snapshots)
		assert.Equal(t, client.PhaseClosed, now.Phase)
		assert.Len(t, now.Queued, 3)
		assert.Equal(t, []string{"a"}, ids(now.Thread))
	})
}

func TestSupersede(t *testing.T) {
	inBubble("it stops the turn in progress and then sends", t, client.SessionOptions{WhenBusy: client.Supersede},
		script(then(says(begins, text("m-1", "well")), waits), minute("2")), func(t *testing.T, s *client.Session) {
			start := time.Now()
			a := typed(t, s, "a", 0)
			synctest.Wait()
			res, err := s.Send(t.Context(), withID("b", messages.UserText("no, that")))
			require.NoError(t, err)
			assert.Equal(t, time.Minute, time.Since(start))
			assert.ErrorIs(t, a.Result().Err, client.ErrStopped)
			assert.Equal(t, []string{"a", "m-1", "b", "m-2"}, ids(res.Thread), "what was said stays")
			assert.Equal(t, reducer.Succeeded, res.Status)
		})
	inBubble("a session that is free just sends", t, client.SessionOptions{WhenBusy: client.Supersede}, script(minute("1")), func(t *testing.T, s *client.Session) {
		_, err := s.Send(t.Context(), messages.UserText("hi"))
		assert.NoError(t, err)
	})
	inBubble("it goes before what is queued, which is held until it has succeeded", t, client.SessionOptions{WhenBusy: client.Queue},
		script(endsSlowly, minute("2"), minute("3")), func(t *testing.T, s *client.Session) {
			typed(t, s, "a", 0)
			b := typed(t, s, "b", 0)
			synctest.Wait()
			typed(t, s, "now", client.Supersede)
			assert.Equal(t, []string{"now", "b"}, queued(s), "until the one before has ended")
			_, err := b.Wait(t.Context())
			require.NoError(t, err)
			assert.Equal(t, []string{"a", "now", "m-2", "b", "m-3"}, ids(s.Thread()))
		})
	inBubble("each supersedes the one before, and no message is lost", t, client.SessionOptions{WhenBusy: client.Supersede},
		script(endsSlowly, minute("last")), func(t *testing.T, s *client.Session) {
			var turns []*client.Turn
			for n := range 5 {
				turns = append(turns, typed(t, s, fmt.Sprint("u", n), 0))
				synctest.Wait()
			}
			require.NoError(t, s.Wait(t.Context()))
			for _, turn := range turns[:4] {
				assert.ErrorIs(t, turn.Result().Err, client.ErrStopped)
			}
			assert.Equal(t, 1, turns[0].Result().Runs)
			assert.Equal(t, 0, turns[1].Result().Runs, "nothing was sent for it")
			assert.NoError(t, turns[4].Result().Err)
			assert.Equal(t, []string{"u0", "u1", "u2", "u3", "u4", "m-last"}, ids(s.Thread()))
		})
	inBubble("other answers supersede the first ones", t, client.SessionOptions{}, script(says(begins, asks(interrupt)), waits, says(begins, succeeds)), func(t *testing.T, s *client.Session) {
		_, err := s.Send(t.Context())
		require.NoError(t, err)
		first, err := s.Start(t.Context(), &client.RunOptions{Resume: []client.Answer{client.Decline("i1")}})
		require.NoError(t, err)
		synctest.Wait()
		second, err := s.Start(t.Context(), &client.RunOptions{Resume: []client.Answer{client.Resolve("i1", nil)}, WhenBusy: client.Supersede})
		require.NoError(t, err)
		res, err := second.Wait(t.Context())
		require.NoError(t, err)
		assert.Equal(t, reducer.Succeeded, res.Status)
		assert.ErrorIs(t, first.Result().Err, client.ErrStopped)
	})
	inBubble("what cannot be sent is the error of the turn, and the other one is stopped all the same", t, client.SessionOptions{WhenBusy: client.Supersede},
		script(says(begins, asks(interrupt)), waits), func(t *testing.T, s *client.Session) {
			_, err := s.Send(t.Context())
			require.NoError(t, err)
			_, err = s.Start(t.Context(), &client.RunOptions{Resume: []client.Answer{client.Decline("i1")}})
			require.NoError(t, err)
			turn := typed(t, s, "b", 0)
			_, err = turn.Wait(t.Context())
			assert.ErrorAs(t, err, new(*client.InterruptError))
			assert.Equal(t, client.PhaseWaiting, s.Snapshot().Phase)
		})
}

func TestWhenBusyNames(t *testing.T) {
	assert.Equal(t, "default refuse queue supersede unknown", fmt.Sprint(client.WhenBusy(0), " ", client.Refuse, " ", client.Queue, " ", client.Supersede, " ", client.WhenBusy(9)))
}
