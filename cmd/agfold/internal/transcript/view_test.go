package transcript

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/reducer"
)

// folded folds events, given as JSON between a RUN_STARTED and the end of input.
func folded(t testing.TB, events ...string) *reducer.Thread {
	t.Helper()
	r := reducer.New(nil)
	for _, text := range append([]string{`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`}, events...) {
		f, err := event.NewFrame([]byte(text))
		require.NoError(t, err)
		err = r.Apply(f)
		require.NoError(t, err)
	}
	return r.Thread()
}

func drawn(t testing.TB, s Style, events ...string) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, s.View(folded(t, events...)).Thread(&b))
	return b.String()
}

const finish = `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`

func TestSectionsThatHaveNothingAreLeftAway(t *testing.T) {
	v := Style{}.View(&reducer.Thread{})
	assert.Empty(t, v.Subagents()+v.State()+v.Interrupts()+v.Runs())
	assert.Equal(t, "thread (no id) · 0 messages · 0 runs · empty\n", v.Title())
	assert.Contains(t, drawn(t, Style{}, `{"type":"STATE_SNAPSHOT","snapshot":null}`), "── state ")
}

// full is a writer that takes nothing.
type full struct{}

var errFull = errors.New("disk full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestThreadReturnsTheErrorOfTheWriter(t *testing.T) {
	th := folded(t, `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"`+strings.Repeat("word ", 5000)+`"}`)
	assert.ErrorIs(t, Style{}.View(th).Thread(full{}), errFull)
	assert.ErrorIs(t, Style{}.View(&reducer.Thread{}).Thread(full{}), errFull)
}
