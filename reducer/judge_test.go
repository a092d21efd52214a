package reducer_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/reducer"
)

// checkVerifier checks that a Verifier says of each event what a Reducer says.
func checkVerifier(t testing.TB, events []event.Event) {
	r, v := reducer.New(nil), reducer.NewVerifier(nil)
	for _, ev := range events {
		want, got := r.Apply(ev), v.Verify(ev)
		if want == nil {
			require.NoError(t, got)
			continue
		}
		require.EqualError(t, got, want.Error())
		return
	}
}

func TestVerifier(t *testing.T) {
	t.Run("an error is final", func(t *testing.T) {
		v := reducer.NewVerifier(nil)
		for _, ev := range parse(t, "run | text m1") {
			require.NoError(t, v.Verify(ev))
		}
		assert.True(t, v.Running())
		bad := parse(t, "text m1")[0]
		err := v.Verify(bad)
		assert.EqualError(t, err, `P-VER-2 event 3 TEXT_MESSAGE_START: the text message "m1" is already open`)
		assert.Equal(t, err, v.Verify(parse(t, "say m1 a")[0]))
	})
	t.Run("a run that has ended may be followed by another", func(t *testing.T) {
		v := reducer.NewVerifier(nil)
		assert.True(t, v.Running(), "no run has begun")
		for _, ev := range parse(t, "run | done") {
			require.NoError(t, v.Verify(ev))
		}
		assert.False(t, v.Running())
		require.NoError(t, v.Verify(parse(t, "run b")[0]))
		assert.True(t, v.Running())
	})
	t.Run("owners that only a snapshot tells", func(t *testing.T) {
		v := reducer.NewVerifier(nil)
		for _, ev := range parse(t, `run | messages [{"id":"m1","role":"assistant","content":"a","subagentRunId":"s1"}]`) {
			require.NoError(t, v.Verify(ev))
		}
		assert.ErrorContains(t, v.Verify(parse(t, "text @s2 m1")[0]), "P-VER-5")
	})
	t.Run("warnings", func(t *testing.T) {
		var got []string
		v := reducer.NewVerifier(&reducer.Options{OnWarning: func(w event.Warning) { got = append(got, w.Rule) }})
		require.NoError(t, v.Verify(parse(t, `{"type":"NEW"}`)[0]))
		assert.Equal(t, []string{"P-ENF-1"}, got)
		strict := reducer.NewVerifier(&reducer.Options{Strict: true})
		assert.ErrorContains(t, strict.Verify(parse(t, `{"type":"NEW"}`)[0]), "P-ENF-7")
	})
}
