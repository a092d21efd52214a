package emit

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agfold/agfold/event"
)

// A scope forgets what is closed, in whatever order: a run of many messages does not grow.
func TestAScopeForgetsWhatIsClosed(t *testing.T) {
	var ends []string
	run := New(t.Context(), event.RunInput{}, func(ev event.Event) error {
		if end, ok := ev.(*event.TextMessageEnd); ok {
			ends = append(ends, end.MessageID)
		}
		return nil
	}, nil)
	first := run.Text(nil)
	last := run.Text(nil)
	for range 1000 { // each is opened before the one before it is closed
		next := run.Text(nil)
		assert.NoError(t, last.Close())
		last = next
		assert.LessOrEqual(t, len(run.inside), 40)
	}
	var open []*Text
	for i := range 50 {
		open = append(open, run.Text(&TextOptions{ID: fmt.Sprint("m", i)}))
	}
	for i := range 49 { // the first opened first
		assert.NoError(t, open[i].Close())
	}
	assert.NoError(t, last.Close())
	assert.NoError(t, run.End(nil))
	assert.Equal(t, []string{last.ID(), "m49", first.ID()}, ends[len(ends)-3:])
}
