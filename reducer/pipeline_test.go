package reducer_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/reducer"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPipelineOrder(t *testing.T) {
	runRows(t, []row{
		{name: "P-PIPE-1 enforcement comes before expansion: a dropped event closes no chunks", script: `run | chunk m1 a | {"type":"SOMETHING_NEW"} | {"type":"TEXT_MESSAGE_CHUNK","delta":"b"} | done`,
			messages: `assistant m1 "ab"`, warnings: "P-ENF-1"},
		{name: "P-PIPE-1 enforcement comes before verification: a dropped event is not verified", script: `run | done | {"type":"SOMETHING_NEW"} | run b`, warnings: "P-ENF-1"},
		{name: "P-PIPE-1 enforcement comes before verification: a removed tag cannot contradict", script: `run | text m1 | say m1 x + {"subagent":"s2"}`, messages: `assistant m1 "x"`, warnings: "P-ENF-2 /subagent"},
		{name: "P-PIPE-1 expansion comes before verification: the chunk's end comes first", script: "run | chunk m1 a | done", messages: `assistant m1 "a"`},
		{name: "P-PIPE-1 expansion comes before verification: also of an event that is then rejected", script: "run | chunk m1 a | say m1 b", messages: `assistant m1 "a"`, rule: "P-VER-2"},
		{name: "P-PIPE-1 verification comes before the fold: what it rejects changes nothing", script: `run | text m1 | say @s1 m1 x + {"metadata":{"a":1}}`, messages: `assistant m1 ""`, rule: "P-VER-5"},
	})
	t.Run("P-PIPE-1 a malformed event is found before it is expanded", func(t *testing.T) {
		p := play(t, `run | chunk m1 a | {"type":"CUSTOM","name":"n"}`, nil)
		assert.Equal(t, "P-ENF-4", rule(p.err))
		assert.Equal(t, "RUN_STARTED TEXT_MESSAGE_START TEXT_MESSAGE_CONTENT", p.types())
	})
}

// TestOneVerdict shows that events made in Go are taken like those that come as text.
func TestOneVerdict(t *testing.T) {
	for seed := range uint64(60) {
		g := newTeller(&source{rand: rand.New(rand.NewPCG(seed, 6))})
		g.wild = []int{0, 5, 20}[seed%3]
		events := upgraded(frames(g.tell(80)))
		typed := make([]event.Event, len(events))
		d := event.NewDecoder(nil)
		for i, ev := range events {
			decoded, _, err := d.Decode(ev.(event.Frame))
			require.NoError(t, err)
			if typed[i] = decoded; decoded == nil {
				typed[i] = event.Notice() // so that the ordinals stay
			}
		}
		asText, inGo := foldWith(events, reducer.Options{}, nil), foldWith(typed, reducer.Options{}, nil)
		require.Equal(t, asText.thread, inGo.thread, fmt.Sprint("seed ", seed))
		require.Equal(t, asText.err, inGo.err)
		require.Equal(t, asText.shown, inGo.shown)
	}
}
