package transcript

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/cmd/agfold/internal/term"
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
	out := term.NewWriter(&b)
	NewWriter(out, s, false).Thread(folded(t, events...))
	require.NoError(t, out.Flush())
	return b.String()
}

const finish = `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`

func TestSectionsThatHaveNothingAreLeftAway(t *testing.T) {
	v := Style{}.View(&reducer.Thread{})
	assert.Empty(t, v.Sections())
	assert.Equal(t, "thread (no id) · 0 messages · 0 runs · empty\n", v.Title().String())
	assert.Contains(t, drawn(t, Style{}, `{"type":"STATE_SNAPSHOT","snapshot":null}`), "── state ")
}
