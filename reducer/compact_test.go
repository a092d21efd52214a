package reducer_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/reducer"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// atRunEnds folds a stream and returns the thread at the end of each run and of the stream, without what may differ: the
// revision and the order of members.
func atRunEnds(t testing.TB, events []event.Event) (ends []string, status reducer.Status) {
	note := func(th *reducer.Thread) {
		c := *th
		c.Revision = 0
		ends = append(ends, sorted(t, c.AppendJSON(nil))+show(&c))
	}
	r := reducer.New(nil)
	for _, ev := range events {
		if r.Apply(ev) != nil {
			break
		}
		if ev.Type() == event.TypeRunFinished || ev.Type() == event.TypeRunError {
			note(r.Thread())
		}
	}
	th := r.End(nil)
	note(th)
	return ends, th.Status()
}

// sorted returns JSON with the members of objects in order of their names.
func sorted(t testing.TB, text []byte) string {
	var v any
	require.NoError(t, json.Unmarshal(text, &v))
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

func compacted(t testing.TB, events []event.Event) []event.Event {
	var out []event.Event
	for ev, err := range recording.CompactEvents(reducer.Events(events...), nil) {
		require.NoError(t, err)
		out = append(out, ev)
	}
	return out
}

func TestCompactFoldsToTheSame(t *testing.T) {
	n := uint64(10_000)
	if testing.Short() {
		n = 600
	}
	statuses, before, after := map[string]int{}, 0, 0
	for seed := range n {
		g := newTeller(&source{rand: rand.New(rand.NewPCG(seed, 7))})
		g.only = []string{"all", "", sharedIDs, reusedAgents}[seed%4]
		lines := g.tell(10 + g.n(150))
		events := upgraded(frames(lines))
		want, status := atRunEnds(t, events)
		statuses[status.String()]++
		if status == reducer.Rejected {
			continue
		}
		short := compacted(t, frames(lines))
		got, _ := atRunEnds(t, short)
		if !assert.ObjectsAreEqual(want, got) {
			for _, ev := range short {
				lines = append(lines, "  "+string(event.Append(nil, ev)))
			}
			require.Equal(t, want, got, "seed %d:\n%s", seed, strings.Join(lines, "\n"))
		}
		require.LessOrEqual(t, len(short), len(expandedOf(t, events)))
		before, after = before+len(lines), after+len(short)
		again := compacted(t, short)
		require.LessOrEqual(t, len(again), len(short))
	}
	t.Log(statuses, fmt.Sprintf("%d events became %d", before, after))
	assert.Greater(t, statuses["succeeded"], int(n)/4)
	assert.Less(t, after, before)
}

// expandedOf returns the ordinary events that a stream comes to.
func expandedOf(t testing.TB, events []event.Event) (out []event.Event) {
	r := reducer.New(nil)
	for _, ev := range events {
		for d, err := range r.Deliver(ev) {
			if err != nil {
				return out
			}
			if d.Event != nil {
				out = append(out, d.Event)
			}
		}
	}
	return out
}
