package emit_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/emit"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// Whatever goroutines do with the handles, the strict verifier accepts the stream, the fold warns of nothing, and the
// document that an agent sees is the one that its client has.
func TestWhateverIsDoneTheStreamIsInOrder(t *testing.T) {
	for seed := range uint64(300) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			in := randomInput(rnd)
			var agents state.Value
			agent := emit.Agent(func(_ context.Context, run *emit.Run) error {
				var wg sync.WaitGroup
				for range 1 + rnd.IntN(4) {
					m := &monkey{rnd: rand.New(rand.NewPCG(seed, rnd.Uint64())), run: run, scopes: []*emit.Scope{&run.Scope}}
					wg.Go(func() {
						for range m.rnd.IntN(60) {
							m.act()
						}
					})
				}
				if rnd.IntN(4) > 0 { // else they continue while the run ends
					wg.Wait()
					agents = run.State().Value()
				}
				switch rnd.IntN(8) {
				case 0:
					return errors.New("broken")
				case 1:
					panic("broken")
				}
				return nil
			}, quiet)
			verifier := reducer.NewVerifier(&reducer.Options{Strict: true})
			var warnings []event.Warning
			fold := reducer.New(&reducer.Options{Strict: true, Input: &in, OnWarning: func(w event.Warning) { warnings = append(warnings, w) }})
			for ev, err := range agent.Run(t.Context(), in) {
				require.NoError(t, err)
				require.NoError(t, verifier.Verify(ev))
				require.NoError(t, fold.Apply(ev))
			}
			assert.False(t, verifier.Running())
			th := fold.End(nil)
			assert.NoError(t, fold.Err())
			assert.Empty(t, warnings)
			assert.True(t, th.Status().Ended())
			if agents.Exists() {
				assert.True(t, agents.Equal(th.State), "%s\n%s", agents, th.State)
			}
		})
	}
}

var quiet = &emit.Options{OnError: func(context.Context, event.RunInput, error) {}}

func init() { slog.SetDefault(slog.New(slog.DiscardHandler)) }

func randomInput(rnd *rand.Rand) event.RunInput {
	in := event.RunInput{ThreadID: "t", RunID: "r", Tools: []event.Tool{{Name: "f"}}}
	if rnd.IntN(2) == 0 {
		in.State, _ = state.Parse([]byte(`{"a":{"b":[1,2]},"c":3}`))
	}
	if rnd.IntN(2) == 0 {
		user := messages.UserText("Hi")
		user.ID = "x"
		asked := &messages.Message{ID: "y", Role: messages.RoleAssistant, ToolCalls: messages.NewList(
			&messages.ToolCall{ID: "z", Name: "f"}, &messages.ToolCall{ID: "w", Name: "f"})}
		answer := messages.ToolResult("z", "1")
		answer.ID = "r-message-1"
		in.Messages = []*messages.Message{user, asked, answer}
	}
	return in
}

// monkey does things with the handles of one run, in any order, also when they are closed.
type monkey struct {
	rnd       *rand.Rand
	run       *emit.Run
	scopes    []*emit.Scope
	texts     []*emit.Text
	calls     []*emit.Call
	steps     []*emit.Step
	subagents []*emit.Subagent
	docs      []*emit.Document
}

func one[T any](m *monkey, from []T) (v T, ok bool) {
	if len(from) == 0 {
		return v, false
	}
	return from[m.rnd.IntN(len(from))], true
}

func pick[T any](m *monkey, from ...T) T { return from[m.rnd.IntN(len(from))] }

func (m *monkey) id() string {
	return pick(m, "", "", "x", "y", "z", "r-message-1", "r-call-2", "mine")
}

func (m *monkey) text() string {
	return pick(m, "", "a", "words and more", `{"a":`, "1}", "é", "\xe2\x82", "\xac", "\xff", "日本", "\u2028\x00")
}

func (m *monkey) value() any {
	return pick[any](m, nil, true, 1, "text", []int{1, 2}, map[string]any{"k": "v"}, map[string]any{}, state.Value{}, make(chan int), func() {})
}

func (m *monkey) path() string {
	return pick(m, "", "/a", "/a/b", "/a/b/-", "/a/b/0", "/a/b/7", "/c", "/c/d", "/new/deep/er", "/k", "bad", "/~", "/~1x/~0y", "/a/b/-/n")
}

func (m *monkey) patch() state.Patch {
	var p state.Patch
	for range m.rnd.IntN(3) {
		v, _ := state.Of(m.value())
		p = append(p, state.Op{
			Kind: pick(m, state.OpAdd, state.OpRemove, state.OpReplace, state.OpMove, state.OpCopy, state.OpTest, "no"), Path: m.path(), From: m.path(), Value: v,
		})
	}
	return p
}

func (m *monkey) act() {
	s, _ := one(m, m.scopes)
	switch m.rnd.IntN(27) {
	case 0, 1:
		m.texts = append(m.texts, s.Text(&emit.TextOptions{
			ID: m.id(), Role: pick(m, "", messages.RoleUser, "narrator"), Name: pick(m, "", "n"), Chunks: m.rnd.IntN(3) == 0,
		}))
	case 2:
		m.texts = append(m.texts, s.Reasoning(&emit.TextOptions{ID: m.id(), Chunks: m.rnd.IntN(3) == 0}))
	case 3:
		m.calls = append(m.calls, s.Call(pick(m, "f", "g", ""), &emit.CallOptions{ID: m.id()}))
	case 4:
		if t, ok := one(m, m.texts); ok {
			m.calls = append(m.calls, t.Call("f", &emit.CallOptions{ID: m.id()}))
		}
	case 5, 6, 7:
		if t, ok := one(m, m.texts); ok {
			t.WriteString(m.text())
		}
	case 8, 9:
		if c, ok := one(m, m.calls); ok {
			c.Write([]byte(m.text()))
		}
	case 10:
		step := s.Step(pick(m, "a", "b", ""))
		m.steps, m.scopes = append(m.steps, step), append(m.scopes, &step.Scope)
	case 11:
		call, _ := one(m, m.calls)
		sub := s.Subagent("n", &emit.SubagentOptions{ID: m.id(), Call: call, Description: pick(m, "", "d")})
		m.subagents, m.scopes = append(m.subagents, sub), append(m.scopes, &sub.Scope)
	case 12:
		a, err := s.Activity("kind", m.value(), &emit.ActivityOptions{ID: m.id()})
		if err == nil {
			m.docs = append(m.docs, &a.Document)
		}
	case 13:
		m.docs = append(m.docs, s.State())
	case 14, 15:
		if d, ok := one(m, m.docs); ok {
			d.Set(m.path(), m.value())
		}
	case 16:
		if d, ok := one(m, m.docs); ok {
			d.Apply(m.patch())
		}
	case 17:
		if d, ok := one(m, m.docs); ok {
			d.Update(func(old state.Value) state.Value {
				if m.rnd.IntN(3) == 0 {
					v, _ := state.Of(m.value())
					return v
				}
				return old.With(pick(m, "a", "u"), state.Int(m.rnd.Int64N(3)))
			})
		}
	case 18:
		if d, ok := one(m, m.docs); ok {
			d.Replace(m.value())
		}
	case 19:
		if t, ok := one(m, m.texts); ok {
			pick(m, func() { t.Close() }, func() { t.Encrypted("e") })()
		}
	case 20:
		if c, ok := one(m, m.calls); ok {
			pick(m, func() { c.Close() }, func() { c.Encrypted("e") }, func() { c.Result(m.value()) }, func() { c.Args(m.value()) })()
		}
	case 21:
		if s, ok := one(m, m.steps); ok {
			s.Close()
		}
	case 22:
		if s, ok := one(m, m.subagents); ok {
			pick(m, func() { s.Close() }, func() { s.Finish(m.value()) }, func() { s.Fail(errors.New("x")) }, func() { s.Suspend("i") })()
		}
	case 23:
		pick(m, func() { s.Say(m.text()) }, func() { s.Think(m.text()) })()
	case 24:
		pick(m, func() { s.Custom("c", m.value()) }, func() { s.Raw(m.value(), pick(m, "", "s")) })()
	case 25:
		pick(m, func() { m.run.SetResult(m.value()) }, func() { m.run.AddUsage(event.TokenUsage{InputTokens: messages.Some(m.rnd.Int64N(5) - 1)}) },
			func() { m.run.Interrupt(event.Interrupt{ID: m.id(), Reason: "r"}) }, func() { m.run.Cancel() })()
	case 26:
		m.run.Result(pick(m, "z", "w", "nope"), m.value())
		if m.rnd.IntN(40) == 0 {
			m.run.End(pick(m, nil, errors.New("x")))
		}
	}
}
