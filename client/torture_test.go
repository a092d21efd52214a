package client_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
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
	"github.com/agfold/agfold/state"
	"github.com/agfold/agfold/subscribe"
)

// TestTorture lets several callers do what they like with a session whose agent does what it likes, and holds what must be
// true whatever happens. A seed that fails is replayed with -run 'TestTorture/seed_N$': in a bubble the clock decides who
// comes first, and everybody's pauses come from the seed.
func TestTorture(t *testing.T) {
	seeds := uint64(150)
	if testing.Short() {
		seeds = 25
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { torture(t, seed) })
		})
	}
}

// chaos is a source of decisions, one for each goroutine.
type chaos struct{ *rand.Rand }

func (c chaos) yes(percent int) bool { return c.IntN(100) < percent }

// pause waits, for anything from nothing to half a minute.
func (c chaos) pause(ctx context.Context) {
	d := time.Duration(c.Int64N(1 << (5 + c.IntN(31)))) // 32 ns to 34 s
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// moody is an agent that does anything that an agent may do, and some things that it must not.
type moody struct {
	seed    uint64
	runs    atomic.Uint64
	running atomic.Int32
	overlap atomic.Bool
}

func (a *moody) act(ctx context.Context, in event.RunInput, emit func(...event.Event) error) error {
	n := a.runs.Add(1)
	c := chaos{rand.New(rand.NewPCG(a.seed, n))}
	if a.running.Add(1) > 1 {
		a.overlap.Store(true)
	}
	defer a.running.Add(-1)
	if c.yes(5) {
		return errOwn // 401, say
	}
	for run := 0; run == 0 || c.yes(20); run++ {
		c.pause(ctx)
		if err := emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: fmt.Sprint(in.RunID, "-", run)}); err != nil {
			return a.late(c, err)
		}
		for i := range c.IntN(4) {
			id := fmt.Sprint("m", n, "-", run, "-", i)
			if err := emit(&event.TextMessageStart{MessageID: id}); err != nil {
				return a.late(c, err)
			}
			for range c.IntN(4) {
				if c.yes(50) {
					c.pause(ctx)
				}
				if err := emit(&event.TextMessageContent{MessageID: id, Delta: "word "}); err != nil {
					return a.late(c, err)
				}
			}
			switch {
			case c.yes(3):
				return nil // cut
			case c.yes(3):
				return emit(&event.TextMessageEnd{MessageID: "nobody's"}) // a violation
			case c.yes(2):
				panic("mood")
			}
			if err := emit(&event.TextMessageEnd{MessageID: id}); err != nil {
				return a.late(c, err)
			}
		}
		for i := range c.IntN(3) {
			name := []string{"now", "slow", "later", "unknown"}[c.IntN(4)]
			id := fmt.Sprint("c", n, "-", run, "-", i)
			if err := emit(&event.ToolCallStart{ToolCallID: id, ToolCallName: name}, &event.ToolCallArgs{ToolCallID: id, Delta: "{}"},
				&event.ToolCallEnd{ToolCallID: id}); err != nil {
				return a.late(c, err)
			}
		}
		finished := &event.RunFinished{ThreadID: in.ThreadID, RunID: fmt.Sprint(in.RunID, "-", run)}
		var end event.Event = finished
		switch {
		case c.yes(15):
			finished.Outcome = event.Outcome{Type: event.OutcomeInterrupt, Interrupts: []event.Interrupt{{ID: fmt.Sprint("i", n), Reason: "mood"}}}
		case c.yes(5):
			finished.Outcome = event.Outcome{Type: event.OutcomeCancelled}
		case c.yes(10):
			end = &event.RunError{Message: "mood"}
		}
		if err := emit(end); err != nil {
			return a.late(c, err)
		}
		for c.yes(50) {
			c.pause(ctx) // keeps the stream open
		}
	}
	if c.yes(5) {
		return errOwn // after the end
	}
	return nil
}

// late returns an error, sometimes not at once.
func (a *moody) late(c chaos, err error) error {
	if c.yes(30) {
		c.pause(context.Background())
	}
	return err
}

// legal are the phases that may follow each phase.
var legal = map[client.Phase][]client.Phase{
	client.PhaseIdle:         {client.PhaseSending, client.PhaseStreaming, client.PhaseWaiting, client.PhaseClosed},
	client.PhaseWaiting:      {client.PhaseSending, client.PhaseStreaming, client.PhaseIdle, client.PhaseClosed},
	client.PhaseSending:      {client.PhaseStreaming, client.PhaseCallingTools, client.PhaseIdle, client.PhaseWaiting, client.PhaseClosed},
	client.PhaseStreaming:    {client.PhaseSending, client.PhaseCallingTools, client.PhaseIdle, client.PhaseWaiting, client.PhaseClosed},
	client.PhaseCallingTools: {client.PhaseSending, client.PhaseIdle, client.PhaseWaiting, client.PhaseClosed},
}

// history is what a subscriber has seen.
type history struct {
	t      *testing.T
	seen   bool
	before client.Snapshot
	said   map[string]bool // by the callers, and in the thread
}

func (h *history) look(now client.Snapshot) {
	if h.seen {
		was := h.before
		if now.Phase != was.Phase {
			require.Contains(h.t, legal[was.Phase], now.Phase, "after %s", was.Phase)
		}
		require.GreaterOrEqual(h.t, now.Revision, was.Revision)
		if now.Revision == was.Revision {
			require.Equal(h.t, string(was.AppendJSON(nil)), string(now.AppendJSON(nil)), "a thread is its revision")
		}
	}
	switch now.Phase {
	case client.PhaseIdle:
		require.Empty(h.t, now.Interrupts)
	case client.PhaseWaiting:
		require.True(h.t, len(now.Interrupts) > 0 || len(now.PendingToolCallIDs()) > 0)
	}
	if !now.Phase.Busy() {
		require.NotEqual(h.t, reducer.Running, now.Status(), "a session that is free has no run")
	}
	held := map[string]bool{}
	for _, m := range now.Messages.All() {
		require.False(h.t, held[m.ID] && m.Role == messages.RoleUser, "%s is there twice", m.ID)
		held[m.ID] = true
	}
	for id := range h.said {
		require.True(h.t, held[id], "%s is gone", id)
	}
	for _, m := range now.Messages.All() {
		if m.Role == messages.RoleUser {
			h.said[m.ID] = true
		}
	}
	for _, m := range now.Queued {
		require.False(h.t, held[m.ID], "%s is queued and in the thread", m.ID)
		held[m.ID] = true
	}
	h.before, h.seen = now, true
}

func torture(t *testing.T, seed uint64) {
	agent := &moody{seed: seed}
	tool := func(name string, slow bool) client.Tool {
		return client.Tool{Tool: event.Tool{Name: name, Parameters: state.Object()}, Call: func(ctx context.Context, call *messages.ToolCall) (any, error) {
			if slow {
				chaos{rand.New(rand.NewPCG(seed, uint64(len(call.ID))))}.pause(ctx)
			}
			return "done", nil
		}}
	}
	dice := chaos{rand.New(rand.NewPCG(seed, 0))}
	s := client.NewSession(client.Emit(agent.act), quiet(client.SessionOptions{
		Tools: []client.Tool{tool("now", false), tool("slow", true), later}, MaxRounds: 3,
		WhenBusy: client.WhenBusy(dice.IntN(4)), Linger: []time.Duration{0, time.Millisecond, -1}[dice.IntN(3)],
	}))
	defer func() {
		if t.Failed() {
			s.Close()
		}
	}()
	var watching sync.WaitGroup
	every := s.Revisions(t.Context(), &subscribe.EveryOptions{Buffer: 1 << 16})
	for _, snapshots := range []<-chan client.Snapshot{every.C, s.Subscribe(t.Context())} {
		watching.Go(func() {
			h := history{t: t, said: map[string]bool{}}
			exact := snapshots == every.C
			for now := range snapshots {
				if !exact {
					h.seen = false // it misses some
				}
				h.look(now)
			}
			assert.Equal(t, client.PhaseClosed, h.before.Phase)
			assert.Equal(t, s.Snapshot(), h.before)
		})
	}

	var mu sync.Mutex
	type begun struct {
		id   string // of its message, "" without
		turn *client.Turn
	}
	var turns []begun
	taken := map[string]bool{} // back, by Unqueue
	added := map[string]bool{} // by AddMessages
	some := func(c chaos) *client.Turn {
		mu.Lock()
		defer mu.Unlock()
		for _, b := range turns {
			if b.turn.Result() == nil && c.yes(30) {
				return b.turn
			}
		}
		return nil
	}
	expected := func(err error) {
		if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, client.ErrBusy) || errors.Is(err, client.ErrClosed) {
			return
		}
		if as[*client.InterruptError](err) || as[*client.PendingCallError](err) || as[*client.DuplicateError](err) {
			return
		}
		assert.NoError(t, err)
	}
	start := func(c chaos, ctx context.Context, id string, o *client.RunOptions) {
		if id != "" {
			o.Messages = []*messages.Message{withID(id, messages.UserText(id))}
		}
		o.WhenBusy = client.WhenBusy(c.IntN(4))
		turn, err := s.Start(ctx, o)
		expected(err)
		if err != nil {
			return
		}
		mu.Lock()
		turns = append(turns, begun{id, turn})
		mu.Unlock()
		if c.yes(20) { // but not forever: a queue may be held
			patient, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			_, _ = turn.Wait(patient)
		}
	}
	act := func(c chaos, ctx context.Context, id string) {
		now := s.Snapshot()
		switch n := c.IntN(100); {
		case n < 34:
			start(c, ctx, id, new(client.RunOptions))
		case n < 39:
			start(c, ctx, "", new(client.RunOptions))
		case n < 54 && len(now.Interrupts) > 0:
			start(c, ctx, "", &client.RunOptions{Resume: client.AnswerAll(now.Interrupts, func(in event.Interrupt) client.Answer { return client.Decline(in.ID) })})
		case n < 59:
			short, cancel := context.WithTimeout(ctx, time.Duration(c.Int64N(int64(time.Minute))))
			defer cancel()
			start(c, short, id, new(client.RunOptions))
			c.pause(short)
		case n < 65:
			o := &client.RunOptions{Messages: []*messages.Message{withID(id, messages.UserText(id))}, WhenBusy: client.WhenBusy(c.IntN(4))}
			pulls := c.IntN(20)
			patient, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			for _, err := range s.Run(patient, o) {
				if pulls--; pulls == 0 || err != nil {
					break
				}
				if c.yes(20) {
					c.pause(ctx)
				}
			}
		case n < 70:
			expected(s.Stop(ctx))
		case n < 74:
			if turn := some(c); turn != nil {
				expected(turn.Stop(ctx))
			}
		case n < 78:
			back := s.Unqueue()
			mu.Lock()
			for _, m := range back {
				taken[m.ID] = true
			}
			mu.Unlock()
		case n < 88:
			err := s.AddMessages(withID(id, messages.UserText(id)))
			expected(err)
			mu.Lock()
			added[id] = err == nil
			mu.Unlock()
		case n < 94:
			for call := range now.PendingToolCalls() {
				expected(s.AddMessages(withID(id+call.ID, messages.ToolResult(call.ID, "done by hand"))))
			}
		case n < 97:
			expected(s.SetState(state.Int(int64(n))))
		default:
			short, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			expected(s.Wait(short))
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var callers sync.WaitGroup
	for g := range 4 {
		callers.Go(func() {
			c := chaos{rand.New(rand.NewPCG(seed, 1<<32+uint64(g)))}
			for n := range 15 {
				c.pause(ctx)
				act(c, ctx, fmt.Sprint("u", g, "-", n))
			}
		})
	}
	if dice.yes(30) { // early
		dice.pause(ctx)
		s.Close()
	}
	callers.Wait()

	// In the end everything comes to rest.
	deadline, stop := context.WithTimeout(t.Context(), time.Hour)
	defer stop()
	s.Close()
	require.NoError(t, s.Wait(deadline))
	require.NoError(t, s.Stop(deadline))
	watching.Wait()
	assert.False(t, agent.overlap.Load(), "runs overlap")
	final := s.Snapshot()
	held := map[string]bool{}
	for _, m := range slices.Concat(final.Messages.Slice(), final.Queued) {
		held[m.ID] = true
	}
	for _, b := range turns {
		res, err := b.turn.Wait(deadline)
		require.NotNil(t, res, "a turn never ended")
		if b.id == "" {
			continue
		}
		back := errors.Is(err, client.ErrStopped) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
			as[*client.InterruptError](err) || as[*client.PendingCallError](err)
		assert.True(t, held[b.id] || taken[b.id] || res.Runs == 0 && back, "%s is lost: %v", b.id, err)
		assert.False(t, held[b.id] && taken[b.id], "%s was taken back and sent", b.id)
	}
	for id, ok := range added {
		assert.Equal(t, ok, held[id], "%s, added", id)
	}
}
