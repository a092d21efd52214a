package reducer_test

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/agfold/agfold/agenttest"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/reducer"
	"github.com/stretchr/testify/require"
)

// Streams that say the same in other events make the same thread, but for its revision.
func TestChunkingsMakeTheSameThread(t *testing.T) {
	streams := 2000
	if testing.Short() {
		streams = 200
	}
	if os.Getenv("AGFOLD_STREAMS") != "" {
		streams = 10000
	}
	tried, varied := 0, 0
	for seed := uint64(0); tried < streams; seed++ {
		g := newTeller(&source{rand: rand.New(rand.NewPCG(seed, 0xc))})
		var stream []event.Event
		decoder := event.NewDecoder(nil)
		for _, ev := range upgraded(frames(g.tell(40))) {
			if f, ok := ev.(event.Frame); ok {
				decoded, _, err := decoder.Decode(f)
				if err != nil {
					stream = nil
					break
				}
				if decoded == nil {
					continue
				}
				ev = decoded
			}
			stream = append(stream, ev)
		}
		want, err := reducer.Fold(reducer.Events(stream...), nil)
		if err != nil {
			continue // not valid
		}
		tried++
		for name, other := range agenttest.Chunkings(stream) {
			if len(other) != len(stream) {
				varied++
			}
			got, err := reducer.Fold(reducer.Events(other...), nil)
			require.NoError(t, err, "seed %d, %s:\n%s", seed, name, strings.Join(texts(other), "\n"))
			require.Equal(t, withoutRevision(want), withoutRevision(got), "seed %d, %s:\n%s\nfrom\n%s", seed, name,
				strings.Join(texts(other), "\n"), strings.Join(texts(stream), "\n"))
		}
	}
	require.Greater(t, varied, streams, "most forms are others")
}

func withoutRevision(th *reducer.Thread) string {
	same := *th
	same.Revision = 0
	return string(same.AppendJSON(nil))
}

func texts(events []event.Event) []string {
	var out []string
	for _, ev := range events {
		out = append(out, string(event.Append(nil, ev)))
	}
	return out
}
