package reducer_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/stretchr/testify/require"
)

// FuzzFold folds streams that a generator makes of the bytes, in order or not: nothing panics, and all that
// checkStream asks for holds.
func FuzzFold(f *testing.F) {
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 3))
		data := make([]byte, 50+r.IntN(400))
		for i := range data {
			data[i] = byte(r.UintN(256))
		}
		f.Add(byte(seed*5), data)
	}
	f.Fuzz(func(t *testing.T, wild byte, data []byte) {
		if len(data) > 1000 {
			data = data[:1000]
		}
		g := newTeller(&source{data: data})
		g.wild = int(wild % 60)
		checkStream(t, frames(g.tell(len(data))))
	})
}

// FuzzFrames folds lines of any bytes: no line panics, errors are final, and what was folded encodes to JSON
// that is valid and stays.
func FuzzFrames(f *testing.F) {
	for seed := range uint64(4) {
		g := newTeller(&source{rand: rand.New(rand.NewPCG(seed, 4))})
		g.wild = 5
		var data []byte
		for _, line := range g.tell(40) {
			data = append(append(data, line...), '\n')
		}
		f.Add(data, seed%2 == 0)
	}
	f.Add([]byte(`{"type":"RUN_STARTED","threadId":"t","runId":"r","input":null}`), true)
	f.Add([]byte("{\"type\":\"RUN_STARTED\",\"threadId\":\"t\",\"runId\":\"r\"}\n{\"type\":\"MESSAGES_SNAPSHOT\",\"messages\":[{\"id\":\"\",\"role\":\"tool\",\"toolCallId\":\"\",\"content\":[]}]}"), false)
	f.Fuzz(func(t *testing.T, data []byte, strict bool) {
		var events []event.Event
		for line := range bytes.SplitSeq(data, []byte("\n")) {
			if frame, err := event.NewFrame(line); err == nil {
				events = append(events, frame)
			}
		}
		r := reducer.New(&reducer.Options{Strict: strict})
		var first error
		var texts []string
		var threads []*reducer.Thread
		for ev := range event.Upgrade(reducer.Events(events...)) {
			err := r.Apply(ev)
			if first != nil {
				require.ErrorIs(t, err, reducer.ErrFinal)
				require.ErrorIs(t, err, first)
			} else if first = err; len(texts) < 50 {
				threads = append(threads, r.Thread())
				texts = append(texts, string(r.Thread().AppendJSON(nil)))
			}
		}
		r.End(nil)
		for i, th := range threads {
			require.Equal(t, texts[i], string(th.AppendJSON(nil)))
		}
		checkThread(t, r.Thread())
	})
}

// FuzzThreadJSON reads any bytes as a thread that was stored: nothing panics, and what was read once is written
// and read again as it was, and can be gone on with.
func FuzzThreadJSON(f *testing.F) {
	files, err := filepath.Glob("../testdata/*.golden.json")
	require.NoError(f, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(text)
	}
	for seed := range uint64(8) {
		g := newTeller(&source{rand: rand.New(rand.NewPCG(seed, 6))})
		g.wild = int(seed)
		f.Add(playEvents(frames(g.tell(60)), nil).th.AppendJSON(nil))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var th reducer.Thread
		if th.UnmarshalJSON(data) != nil {
			require.Equal(t, reducer.Thread{}, th)
			return
		}
		stored(t, stored(t, &th))
		th.Subagents.Find(messages.SubagentOwner(""))
		r := reducer.New(&reducer.Options{Thread: &th})
		apply(t, r, &event.RunStarted{ThreadID: "t", RunID: "next"}, &event.RunFinished{ThreadID: "t", RunID: "next"})
		stored(t, r.Thread())
	})
}
