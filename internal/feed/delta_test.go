package feed

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// Whatever happens to a thread, deltas lead to it, byte for byte: also from a snapshot that shares nothing with it.
func TestDeltasLeadToTheSnapshot(t *testing.T) {
	seeds, steps := 60, 60
	if testing.Short() {
		seeds = 6
	}
	for seed := range uint64(seeds) {
		s := newStory(seed)
		var held Snapshot
		for step := range steps {
			now := s.next()
			if s.IntN(3) == 0 {
				continue
			}
			if s.IntN(4) == 0 { // as one that was read from JSON
				var stored reducer.Thread
				require.NoError(t, stored.UnmarshalJSON(held.thread().AppendJSON(nil)))
				held.Thread = &stored
			}
			delta, differs := AppendDelta(nil, held, now)
			before := string(AppendView(nil, held))
			got, err := ApplyDelta(held, delta)
			require.NoError(t, err, "seed %d, step %d: %s", seed, step, delta)
			require.Equal(t, canonical(t, now.Thread.AppendJSON(nil)), canonical(t, got.Thread.AppendJSON(nil)), "seed %d, step %d: %s", seed, step, delta)
			require.Equal(t, canonical(t, AppendView(nil, now)), canonical(t, AppendView(nil, got)), "seed %d, step %d: %s", seed, step, delta)
			require.Equal(t, before, string(AppendView(nil, held)), "the one before stays as it was")
			if !differs {
				require.Equal(t, "{}", string(delta))
			}
			held = got
		}
	}
}

// A thread and its copy that shares nothing with it do not differ.
func TestNoDeltaBetweenEqualSnapshots(t *testing.T) {
	s := newStory(3)
	for range 40 {
		s.next()
	}
	var stored reducer.Thread
	require.NoError(t, stored.UnmarshalJSON(s.now.thread().AppendJSON(nil)))
	again := Snapshot{Thread: new(reducer.Thread), Phase: s.now.Phase, Queued: s.now.Queued}
	require.NoError(t, again.Thread.UnmarshalJSON(stored.AppendJSON(nil)))
	delta, differs := AppendDelta(nil, Snapshot{Thread: &stored, Phase: s.now.Phase, Queued: s.now.Queued}, again)
	assert.False(t, differs, "%s", delta)
}

func TestDeltasThatAreNotOfTheSnapshot(t *testing.T) {
	s := Snapshot{Thread: &reducer.Thread{ID: "t", State: state.Object()}, Phase: "idle"}
	for _, delta := range []string{
		``, `[]`, `{"rows":[1,0],"inserted":[]}`, `{"rows":[0,1],"inserted":[]}`, `{"rows":[-1,0],"inserted":[]}`, `{"rows":[0,0]}`,
		`{"rows":[0,9223372036854775807],"inserted":[]}`, `{"rows":[0,0],"inserted":[{"id":"m"}]}`,
		`{"messages":[[0,{"id":"m","role":"user","content":""}]]}`, `{"runs":[[1,{"runId":"r","status":"succeeded"}]]}`, `{"runs":[[0,{}]]}`,
		`{"runsGone":1}`, `{"runsGone":-1}`, `{"patch":[{"op":"remove","path":"/x"}]}`, `{"patch":1}`, `{"subagents":1}`, `{"interrupts":[1]}`, `{"queued":[1]}`,
		`{"patch":[{"op":"copy","from":"","path":"/a"}]}`,
	} {
		_, err := ApplyDelta(s, []byte(delta))
		assert.Error(t, err, delta)
	}
}

func FuzzApplyDelta(f *testing.F) {
	f.Add(uint64(1), []byte(`{"rows":[0,0],"inserted":[{"id":"m","role":"user","content":"x"}],"revision":3}`))
	f.Add(uint64(2), []byte(`{"runs":[[0,{"runId":"r","status":"succeeded","steps":[]}]],"patch":[{"op":"add","path":"/a","value":1}]}`))
	f.Fuzz(func(t *testing.T, seed uint64, delta []byte) {
		s := newStory(seed)
		for range seed % 10 {
			s.next()
		}
		got, err := ApplyDelta(s.now, delta)
		if err != nil {
			return
		}
		back, _ := AppendDelta(nil, s.now, got)
		again, err := ApplyDelta(s.now, back)
		require.NoError(t, err, "%s", back)
		require.Equal(t, string(AppendView(nil, got)), string(AppendView(nil, again)))
	})
}
