package reducer_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/reducer"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// upgraded returns the events of a stream, upgraded.
func upgraded(events []event.Event) []event.Event {
	var out []event.Event
	for ev := range event.Upgrade(reducer.Events(events...)) {
		out = append(out, ev)
	}
	return out
}

// folded is what a fold comes to, as text that equal folds have in common.
type folded struct {
	thread, shown, warnings, deliveries, err string
	th                                       *reducer.Thread
	r                                        *reducer.Reducer
}

// foldWith folds upgraded events and calls after after each of them.
func foldWith(events []event.Event, o reducer.Options, after func(r *reducer.Reducer, i int)) folded {
	var f folded
	var warnings, deliveries strings.Builder
	o.OnWarning = func(w event.Warning) { fmt.Fprintln(&warnings, w) }
	r := reducer.New(&o)
	for i, ev := range events {
		delivered, err := deliver(r, ev)
		for _, s := range delivered {
			text, _ := s.MarshalJSON()
			deliveries.Write(text)
		}
		if after != nil {
			after(r, i)
		}
		if err != nil {
			f.err = err.Error()
			break
		}
	}
	f.r, f.th = r, r.Thread()
	f.thread, f.shown = string(f.th.AppendJSON(nil)), show(f.th)
	f.warnings, f.deliveries = warnings.String(), deliveries.String()
	return f
}

// checkStream checks what must hold of every stream, in order or not.
func checkStream(t testing.TB, events []event.Event) {
	t.Helper()
	events = upgraded(events)
	plain := foldWith(events, reducer.Options{}, nil)

	again := foldWith(events, reducer.Options{}, nil)
	require.Equal(t, plain.thread, again.thread, "a replay gives the same thread")
	require.Equal(t, plain.warnings, again.warnings, "and the same warnings")
	require.Equal(t, plain.deliveries, again.deliveries, "and the same deliveries")
	require.Equal(t, plain.err, again.err, "and the same error")

	type frozen struct {
		th   *reducer.Thread
		text string
	}
	var taken []frozen
	every := foldWith(events, reducer.Options{}, func(r *reducer.Reducer, i int) {
		th := r.Thread()
		taken = append(taken, frozen{th, string(th.AppendJSON(nil)) + show(th) + showStreaming(th)})
	})
	require.Equal(t, plain.thread, every.thread, "snapshots change nothing")
	require.Equal(t, plain.shown, every.shown)
	require.Equal(t, plain.deliveries, every.deliveries)
	some := foldWith(events, reducer.Options{}, func(r *reducer.Reducer, i int) {
		if i%3 == 1 || i%7 == 0 {
			r.Thread()
		}
	})
	require.Equal(t, plain.thread, some.thread, "wherever they are taken")
	require.Equal(t, plain.shown, some.shown)

	checkThread(t, plain.th)
	stored(t, plain.th)
	checkLookups(t, every)
	checkStreaming(t, events)
	checkDeliveries(t, events)
	checkRejection(t, events)
	checkVerifier(t, events)
	for i, f := range taken {
		require.Equal(t, f.text, string(f.th.AppendJSON(nil))+show(f.th)+showStreaming(f.th), "snapshot %d has changed", i)
		if i%16 == 0 {
			stored(t, f.th)
		}
		if i > 0 && f.th.Revision == taken[i-1].th.Revision {
			require.Same(t, taken[i-1].th, f.th)
		}
	}
	checkResume(t, events, plain)
}

// checkThread checks what must hold of any thread.
func checkThread(t testing.TB, th *reducer.Thread) {
	held := map[messages.Key]bool{}
	answered := map[string]bool{}
	for _, m := range th.Messages.All() {
		require.False(t, held[m.Key()], "two messages %v", m.Key())
		held[m.Key()] = true
		if m.Role == messages.RoleTool {
			answered[m.ToolCallID] = true
		}
		text := m.AppendJSON(nil)
		var back messages.Message
		require.NoError(t, back.UnmarshalJSON(text), "%s", text)
		require.Equal(t, string(text), string(back.AppendJSON(nil)))
	}
	calls := map[string]bool{}
	pending := map[string]bool{}
	for _, id := range th.PendingToolCallIDs() {
		pending[id] = true
	}
	for _, m := range th.Messages.All() {
		for _, c := range m.ToolCalls.All() {
			switch {
			case calls[c.ID]: // of several with one id the first is meant
			case c.Status == messages.ToolCallAnswered:
				require.True(t, answered[c.ID] && !pending[c.ID], "call %q is answered", c.ID)
			case th.Status() != reducer.Running: // where a call may have been started again
				require.True(t, !answered[c.ID] || pending[c.ID], "call %q is %s", c.ID, c.Status)
			}
			calls[c.ID] = true
		}
	}
	for _, n := range th.Subagents.All() {
		require.False(t, th.Status().Ended() && n.Status == reducer.SubagentRunning, "a subagent outlives its run")
	}
	nodes := 0
	for range th.Subagents.Walk() {
		nodes++
	}
	require.Equal(t, th.Subagents.Len(), nodes)
}

// checkLookups folds on, in a run of its own, and finds every message and call that the thread holds.
func checkLookups(t testing.TB, f folded) {
	r, th := f.r, f.th
	if f.err != "" {
		r = reducer.New(&reducer.Options{Thread: th})
	} else if th.Status() == reducer.Running {
		apply(t, r, &event.RunError{Message: "enough"})
		th = r.Thread()
	}
	apply(t, r, &event.RunStarted{ThreadID: "t", RunID: "check"})
	place := func(ev event.Event) reducer.Change {
		delivered, err := deliver(r, ev)
		require.NoError(t, err)
		return delivered[len(delivered)-1].Change
	}
	called := map[string]bool{}
	for i, m := range th.Messages.All() {
		switch m.Kind() {
		case messages.KindText:
			apply(t, r, &event.TextMessageStart{MessageID: m.ID})
			require.Equal(t, i, place(&event.TextMessageContent{MessageID: m.ID, Delta: "!"}).Index)
			apply(t, r, &event.TextMessageEnd{MessageID: m.ID})
			require.Equal(t, m.Content.LastText()+"!", r.Thread().Messages.At(i).Content.LastText(), m.ID)
		case messages.KindReasoning:
			apply(t, r, &event.ReasoningMessageStart{MessageID: m.ID})
			require.Equal(t, i, place(&event.ReasoningMessageContent{MessageID: m.ID, Delta: "!"}).Index)
			apply(t, r, &event.ReasoningMessageEnd{MessageID: m.ID})
		case messages.KindActivity:
			require.Equal(t, i, place(&event.ActivityDelta{MessageID: m.ID, ActivityType: "checked"}).Index)
			require.Equal(t, "checked", r.Thread().Messages.At(i).ActivityType)
		case messages.KindTool:
			require.Equal(t, i, place(&event.ToolCallResult{MessageID: m.ID, ToolCallID: m.ToolCallID, Content: messages.Text("!")}).Index)
			require.Equal(t, "!", r.Thread().Messages.At(i).Text())
		}
		for k, c := range m.ToolCalls.All() {
			if called[c.ID] {
				continue
			}
			called[c.ID] = true
			apply(t, r, &event.ToolCallStart{ToolCallID: c.ID, ToolCallName: c.Name})
			require.Equal(t, i, place(&event.ToolCallArgs{ToolCallID: c.ID, Delta: "!"}).Index)
			apply(t, r, &event.ToolCallEnd{ToolCallID: c.ID})
			require.Equal(t, c.Arguments+"!", r.Thread().Messages.At(i).ToolCalls.At(k).Arguments)
		}
	}
	require.Equal(t, th.Messages.Len(), r.Thread().Messages.Len())
	n := 0
	for id := range called {
		n++
		_, holder := r.Thread().ToolCall(id)
		at := place(&event.ToolCallResult{MessageID: fmt.Sprint("check-", n), ToolCallID: id, Content: messages.Text("")}).Index
		now := r.Thread().Messages
		require.Equal(t, fmt.Sprint("check-", n), now.At(at).ID)
		require.True(t, at+1 == now.Len() || now.At(at+1).Role != messages.RoleTool, "after results already there")
		for at > 0 && now.At(at).Role == messages.RoleTool {
			at--
		}
		require.Equal(t, messages.RoleAssistant, now.At(at).Role)
		require.NotNil(t, holder)
	}
	checkThread(t, r.Thread())
}

// checkResume folds each run on a reducer of its own, made with the thread of the run before.
func checkResume(t testing.TB, events []event.Event, whole folded) {
	var o reducer.Options
	var parts folded
	var rest []event.Event
	for i, ev := range events {
		starts := ev.Type() == event.TypeRunStarted
		if starts && i > 0 && len(rest) > 0 && ended(rest) {
			parts = foldWith(rest, o, nil)
			if parts.err != "" {
				break
			}
			checkStored(t, parts.th, events[i:])
			o.Thread, rest = parts.th, nil
		}
		rest = append(rest, ev)
	}
	if parts.err == "" {
		parts = foldWith(rest, o, nil)
	}
	require.Equal(t, whole.err == "", parts.err == "", "whole %q, in parts %q", whole.err, parts.err)
	if whole.err == "" { // ordinals in errors count from the start of each stream
		require.Equal(t, whole.thread, parts.thread)
	}
	require.Equal(t, whole.shown, parts.shown)
	require.Equal(t, whole.th.State.String(), parts.th.State.String())
	require.Equal(t, showTree(whole.th), showTree(parts.th))
	require.Equal(t, whole.th.Runs.Len(), parts.th.Runs.Len())
}

// ended reports whether the last event that is one ends a run.
func ended(events []event.Event) bool {
	for i := len(events) - 1; i >= 0; i-- {
		switch events[i].Type() {
		case event.TypeRunFinished, event.TypeRunError:
			return true
		case event.TypeUnknown:
		default:
			return false
		}
	}
	return false
}

func TestGeneratedStreams(t *testing.T) {
	outcomes := map[string]int{}
	for seed := range uint64(400) {
		g := newTeller(&source{rand: rand.New(rand.NewPCG(seed, 2))})
		g.wild = []int{0, 0, 1, 10}[seed%4]
		lines := g.tell(10 + g.n(150))
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			defer func() {
				if t.Failed() {
					t.Log(strings.Join(lines, "\n"))
				}
			}()
			checkStream(t, frames(lines))
		})
		outcomes[playEvents(frames(lines), nil).th.Status().String()]++
	}
	t.Log(outcomes)
	assert.Greater(t, outcomes["rejected"], 20)
	assert.Greater(t, outcomes["succeeded"], 40)
}

func TestRecordedStreams(t *testing.T) {
	files, err := filepath.Glob("../testdata/*")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		if strings.Contains(file, ".golden.") {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			f, err := os.Open(file)
			require.NoError(t, err)
			defer f.Close()
			rec, err := recording.Open(f, nil)
			require.NoError(t, err)
			var events []event.Event
			for ev, err := range rec.Events() {
				if err == nil { // a recording may be cut off
					events = append(events, ev)
				}
			}
			require.NotEmpty(t, events)
			checkStream(t, events)
		})
	}
}

func TestReadersNeedNoLock(t *testing.T) {
	var events []event.Event
	for seed := uint64(0); ; seed++ { // one that is not rejected early
		g := newTeller(&source{rand: rand.New(rand.NewPCG(seed, 5))})
		g.only = ""
		events = upgraded(frames(g.tell(300)))
		if foldWith(events, reducer.Options{}, nil).th.Revision > 150 {
			break
		}
	}
	threads := make(chan *reducer.Thread, 16)
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			var last *reducer.Thread
			for th := range threads {
				text := string(th.AppendJSON(nil)) + show(th)
				th.ChangesSince(last)
				if last != nil {
					last.AppendJSON(nil)
				}
				assert.Equal(t, text, string(th.AppendJSON(nil))+show(th))
				last = th
			}
		})
	}
	f := foldWith(events, reducer.Options{}, func(r *reducer.Reducer, i int) { threads <- r.Thread() })
	close(threads)
	readers.Wait()
	assert.Greater(t, f.th.Revision, uint64(150))
}
