package feed

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// viewed is a replica that has seen a view with so many messages.
func viewed(t *testing.T, messages int) *Replica {
	t.Helper()
	var list []string
	for i := range messages {
		list = append(list, fmt.Sprintf(`{"id":"m%d","role":"user","content":"%d"}`, i, i))
	}
	view := string(AppendView(nil, Snapshot{Thread: &reducer.Thread{State: state.Object()}, Phase: "idle"}))
	full := strings.Replace(view, `"messages":[]`, `"messages":[`+strings.Join(list, ",")+`]`, 1)
	require.Contains(t, view, `"messages":[]`)
	r := new(Replica)
	require.NoError(t, r.Event("view", token(1), []byte(full)))
	return r
}

// token is a token with a revision.
func token(revision int) string { return fmt.Sprint("n.1.", revision) }

// However many messages come and go in one event, the snapshot is that of the view.
func TestManyMessagesComeAndGoInOneEvent(t *testing.T) {
	for _, edits := range []int{1, maxEdits - 1, maxEdits, maxEdits + 1, 500} {
		r := viewed(t, 10)
		var ops []string
		want := []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}
		for i := range edits {
			if i%5 == 4 {
				ops = append(ops, `{"op":"remove","path":"/messages/3"}`)
				want = append(want[:3], want[4:]...)
				continue
			}
			ops = append(ops, fmt.Sprintf(`{"op":"add","path":"/messages/1","value":{"id":"n%d","role":"user","content":"n%d"}}`, i, i))
			want = append(want[:1], append([]string{fmt.Sprint("n", i)}, want[1:]...)...)
		}
		require.NoError(t, r.Event("changes", token(2), []byte("["+strings.Join(ops, ",")+"]")))
		var got []string
		for _, m := range r.Snapshot().Thread.Messages.All() {
			got = append(got, m.Text())
		}
		assert.Equal(t, want, got, "%d edits", edits)
	}
}

// Appends to one long text, over and over in one event, are work that no feed asks for.
func TestAppendsOfOneEventAreBounded(t *testing.T) {
	r := viewed(t, 0)
	r.MaxBytes = 1 << 20
	long := strings.Repeat("x", 1<<19)
	require.NoError(t, r.Event("changes", token(2), []byte(`[{"op":"add","path":"/state/s","value":"`+long+`"}]`)))
	add := `{"op":"append","path":"/state/s","value":"y"}`
	require.NoError(t, r.Event("changes", token(3), []byte("["+strings.Repeat(add+",", 6)+add+"]")))
	err := r.Event("changes", token(4), []byte("["+strings.Repeat(add+",", 100)+add+"]"))
	require.ErrorIs(t, err, state.ErrLimit)
	assert.Equal(t, token(3), r.Token(), "it is as it was before")
}
