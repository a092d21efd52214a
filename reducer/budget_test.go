package reducer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// P-STA-1, P-ACT-2: patches may make the state and all activities together only so large.
func TestWhatPatchesMakeIsBounded(t *testing.T) {
	kilobyte := state.String(strings.Repeat("x", 1000))
	content := state.Object(state.Member{Key: "a", Value: state.Array(kilobyte)}) // 1,012 bytes
	double := state.Patch{{Kind: state.OpCopy, From: "/a/0", Path: "/a/-"}}       // 1,003 more
	shrink := state.Patch{{Kind: state.OpReplace, Path: "/a", Value: state.Array()}}
	refused := func(r *reducer.Reducer, ev event.Event) bool {
		t.Helper()
		warned := false
		for d, err := range r.Deliver(ev) {
			require.NoError(t, err)
			for _, w := range d.Warnings {
				warned = true
				assert.Contains(t, w.Text, "limit")
			}
		}
		return warned
	}
	activity := func(i int) event.Event {
		return &event.ActivitySnapshot{MessageID: fmt.Sprint(i), ActivityType: "t", Content: content}
	}
	delta := func(i int, p state.Patch) event.Event {
		return &event.ActivityDelta{MessageID: fmt.Sprint(i), ActivityType: "t", Patch: p}
	}
	started := func(o *reducer.Options) *reducer.Reducer {
		r := reducer.New(o)
		apply(t, r, &event.RunStarted{ThreadID: "t", RunID: "r"})
		return r
	}
	t.Run("over all documents of a thread", func(t *testing.T) {
		r := started(&reducer.Options{MaxPatchedBytes: 9000})
		apply(t, r, activity(1), activity(2), &event.StateSnapshot{Snapshot: content})
		for range 5 {
			assert.False(t, refused(r, delta(1, double)))
		}
		assert.True(t, refused(r, delta(2, double)), "3 + 5 kilobytes are there")
		assert.True(t, refused(r, &event.StateDelta{Delta: double}))
		assert.Equal(t, content, r.Thread().State, "what is refused changes nothing")

		apply(t, r, activity(3), activity(4)) // what arrives is never refused
		assert.False(t, refused(r, delta(1, shrink)), "what makes a document smaller is always taken")
		assert.False(t, refused(r, &event.StateDelta{Delta: double}), "and makes room for others")
		apply(t, r, &event.MessagesSnapshot{Base: event.Base{Metadata: messages.MetadataOf(state.Member{Key: "@ag-ui/client",
			Value: state.Object(state.Member{Key: "authoritativeActivityTypes", Value: state.Null()})})}})
		require.Zero(t, r.Thread().Messages.Len())
		for range 5 {
			assert.False(t, refused(r, &event.StateDelta{Delta: double}), "so does dropping")
		}
	})
	t.Run("the same after the thread was continued", func(t *testing.T) {
		r := started(&reducer.Options{MaxPatchedBytes: 3000})
		apply(t, r, activity(1), &event.StateSnapshot{Snapshot: content}, &event.RunFinished{ThreadID: "t", RunID: "r"})
		r = started(&reducer.Options{Thread: r.Thread(), MaxPatchedBytes: 3000})
		assert.True(t, refused(r, &event.StateDelta{Delta: double}))
	})
	t.Run("by 64 MiB if nothing is said", func(t *testing.T) {
		r := started(nil)
		big := state.Object(state.Member{Key: "a", Value: state.Array(state.String(strings.Repeat("x", 20<<20)))})
		apply(t, r, &event.StateSnapshot{Snapshot: big}, &event.ActivitySnapshot{MessageID: "1", ActivityType: "t", Content: big})
		assert.False(t, refused(r, &event.StateDelta{Delta: double}))
		assert.True(t, refused(r, delta(1, double)))
	})
}
