package recording_test

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/reducer"
)

// endless makes a recording while it is read: turns of a conversation that leave nothing behind but the
// latest state.
type endless struct {
	left int // turns
	turn strings.Reader
}

func (e *endless) Read(p []byte) (int, error) {
	if e.turn.Len() == 0 {
		if e.left == 0 {
			return 0, io.EOF
		}
		e.left--
		pad := strings.Repeat("x", 900)
		e.turn.Reset(fmt.Sprintf(`{"type":"STATE_SNAPSHOT","snapshot":{"turn":%d,"pad":%q}}
{"type":"STATE_DELTA","delta":[{"op":"replace","path":"/turn","value":"%d"}]}
{"type":"RAW","event":{"pad":%q}}
{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"progress","content":{"turn":%d,"pad":%q}}
{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"user","content":%q}]}
{"type":"FUTURE_EVENT","pad":%q}
`, e.left, pad, e.left, pad, e.left, pad, pad, pad))
	}
	return e.turn.Read(p)
}

// A recording of any length is folded in the memory that its thread takes, plus a constant: what lives after
// 100 MB is what lived after 10 MB.
func TestFoldingTakesTheMemoryOfTheThread(t *testing.T) {
	const size = 100 << 20
	if testing.Short() {
		t.Skip("reads 100 MB")
	}
	source := &endless{left: size / 5_000}
	head := strings.NewReader(`{"type":"RUN_STARTED","threadId":"t","runId":"r"}` + "\n")
	rec, err := recording.Open(io.MultiReader(head, source), nil)
	require.NoError(t, err)
	r := reducer.New(nil)
	tenth, live := source.left*9/10, uint64(0)
	for ev, err := range event.Upgrade(rec.Events()) {
		require.NoError(t, err)
		err := r.Apply(ev)
		require.NoError(t, err)
		if live == 0 && source.left <= tenth {
			live = liveBytes()
		}
	}
	require.NotZero(t, live)
	assert.Less(t, liveBytes(), live+1<<20)
	assert.Equal(t, 2, r.End(nil).Messages.Len())
}

// liveBytes returns how many bytes of the heap are in use.
func liveBytes() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
