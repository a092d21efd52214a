package reducer_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// restated folds the events of a thread, and leaves the last run running if it does.
func restated(t testing.TB, th *reducer.Thread) *reducer.Thread {
	r := reducer.New(nil)
	for ev := range th.Events() {
		require.NoError(t, r.Apply(ev), "%s", event.Append(nil, ev))
	}
	return r.Thread()
}

// essence is what a thread's events keep of it: everything but the revision and what earlier runs left pending.
func essence(t testing.TB, th *reducer.Thread) string {
	c := *th
	c.Revision, c.Runs = 0, messages.List[*reducer.Run]{}
	for i, run := range th.Runs.All() { // what earlier runs left pending is not told
		if i < th.Runs.Len()-1 {
			earlier := *run
			earlier.PendingToolCallIDs = nil
			run = &earlier
		}
		c.Runs = c.Runs.Append(run)
	}
	for i, m := range th.Messages.All() { // nor is what broke off
		whole := *m
		whole.Cut = false
		for j, tc := range m.ToolCalls.All() {
			if tc.Status == messages.ToolCallBroken {
				call := *tc
				call.Status = messages.ToolCallComplete
				whole.ToolCalls = whole.ToolCalls.Set(j, &call)
			}
		}
		c.Messages = c.Messages.Set(i, &whole)
	}
	var nodes []string
	for depth, n := range th.Subagents.Walk() {
		text, err := n.MarshalJSON()
		require.NoError(t, err)
		nodes = append(nodes, fmt.Sprint(depth, string(text)))
	}
	slices.Sort(nodes)
	c.Subagents = reducer.Subagents{}
	return sorted(t, c.AppendJSON(nil)) + show(&c) + showStreaming(&c) + "\n" + strings.Join(nodes, "\n")
}

func TestEventsOfAThreadMakeIt(t *testing.T) {
	n := uint64(3000)
	if testing.Short() {
		n = 300
	}
	compared := map[string]int{}
	for seed := range n {
		g := newTeller(&source{rand: rand.New(rand.NewPCG(seed, 11))})
		g.only = []string{"all", "", reusedAgents}[seed%3]
		lines := g.tell(10 + g.n(120))
		r := reducer.New(nil)
		for i, ev := range upgraded(frames(lines)) {
			if r.Apply(ev) != nil {
				break
			}
			th := r.Thread()
			if i%7 != 0 && !th.Status().Ended() {
				continue
			}
			compared[th.Status().String()]++
			got := restated(t, th)
			if want := essence(t, th); want != essence(t, got) {
				for ev := range th.Events() {
					lines = append(lines, "  "+string(event.Append(nil, ev)))
				}
				require.Equal(t, want, essence(t, got), "seed %d event %d:\n%s", seed, i+1, strings.Join(lines, "\n"))
			}
		}
	}
	t.Log(compared)
	for _, status := range []string{"running", "succeeded", "interrupted", "cancelled", "failed"} {
		assert.Greater(t, compared[status], 20, status)
	}
}
