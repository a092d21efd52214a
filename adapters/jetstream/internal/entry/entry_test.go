package entry

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/reducer"
)

func TestAHeaderIsReadAsItWasWritten(t *testing.T) {
	at := time.Date(2026, 3, 1, 10, 0, 0, 123, time.UTC)
	for _, h := range []Header{
		{Token: 7, First: 3, Count: 2, At: at},
		{Form: checkpointForm, Token: 1 << 60, First: 1 << 61, Count: 1, At: at, Sequence: 9, Start: 4, Previous: 2},
	} {
		for _, most := range []int{1000, 3, 1} {
			var all []byte
			for _, p := range Split(h, []byte("0123456789"), most) {
				got, rest, err := ParseHeader(p.Encode())
				require.NoError(t, err)
				assert.Equal(t, p.Entries, rest)
				if got.Form == logForm {
					got.Form = ""
				}
				assert.Equal(t, p.Header, got)
				all = append(all, rest...)
			}
			assert.Equal(t, "0123456789", string(all))
		}
	}
	for _, bad := range []string{``, `{}`, `{"agfold":"log/2","token":1,"first":0,"count":0,"at":"2026-03-01T10:00:00Z"}`, `{"agfold":"log/1","part":2,"parts":2}`,
		`{"agfold":"log/1","count":-1}`, `{"agfold":"log/1","token":"x"}`, `{"agfold":"log/1","x":"` + strings.Repeat("x", maxHeader) + `"}`} {
		_, _, err := ParseHeader([]byte(bad))
		assert.Error(t, err, bad)
	}
}

func frame(t testing.TB, text string) event.Frame {
	f, err := event.NewFrame([]byte(text))
	require.NoError(t, err)
	return f
}

// log returns the entries of a log.
func logOf(t testing.TB) []byte {
	text := AppendOpen(nil, "node-7")
	text = AppendHead(text, Head{Input: &event.RunInput{ThreadID: "t", RunID: "r"}})
	for _, line := range []string{
		`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`, "{\"type\":\"TEXT_MESSAGE_START\",\n\"messageId\":\"m\",\"role\":\"assistant\"}",
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"Hel"}`,
	} {
		text = AppendEvent(text, frame(t, line))
	}
	text = AppendEvent(text, event.Notice())
	return text
}

func applied(t testing.TB, r *Replica, lines []byte) {
	for line := range bytes.Lines(lines) {
		require.NoError(t, r.Apply(bytes.TrimSuffix(line, []byte("\n"))), "%s", line)
		r.Next++
	}
}

// A replica that was stored anywhere, also in the middle of a run, goes on as the one that it was made of.
func TestACheckpointGoesOnAsTheReplica(t *testing.T) {
	rest := AppendEvent(nil, frame(t, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"lo"}`))
	rest = AppendEvent(rest, frame(t, `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`))
	rest = AppendEnd(rest, End{Kind: "done", Final: true})
	all := append(logOf(t), rest...)
	var whole Replica
	applied(t, &whole, all)
	want := string(whole.Snapshot().Thread.AppendJSON(nil))
	assert.Contains(t, want, `"Hello"`)
	for at := 0; at <= len(all); at++ {
		if at > 0 && all[at-1] != '\n' {
			continue
		}
		r := &Replica{KeepOpen: true, Token: 4}
		applied(t, r, all[:at])
		c, ok := r.Checkpoint()
		require.True(t, ok)
		again, err := Restore(c.Header, c.Append(nil))
		require.NoError(t, err)
		assert.Equal(t, r.Next, again.Next)
		assert.Equal(t, string(r.Snapshot().Thread.AppendJSON(nil)), string(again.Snapshot().Thread.AppendJSON(nil)))
		applied(t, again, all[at:])
		assert.Equal(t, want, string(again.Snapshot().Thread.AppendJSON(nil)))
	}
}

func TestTheEndOfAStreamSaysWhatBecameOfItsRun(t *testing.T) {
	for _, tt := range []struct {
		err                error
		stopped, truncated bool
		want               reducer.Status
	}{
		{reducer.ErrStopped, true, false, reducer.Stopped},
		{reducer.ErrTruncated, false, true, reducer.Truncated},
		{nil, false, false, reducer.Truncated},
		{bytes.ErrTooLarge, false, false, reducer.Truncated},
	} {
		r := new(Replica)
		end := EndOf(tt.err, tt.stopped, tt.truncated)
		end.Final = true
		applied(t, r, AppendEnd(logOf(t), end))
		th := r.Snapshot().Thread
		assert.Equal(t, tt.want, th.Status())
		if tt.err != nil {
			assert.Contains(t, th.Err().Error(), tt.err.Error())
		}
	}
}

func TestADamagedThreadSaysWhere(t *testing.T) {
	r := new(Replica)
	applied(t, r, logOf(t))
	r.Damage(assert.AnError)
	assert.Equal(t, reducer.Truncated, r.Snapshot().Thread.Status())
	assert.ErrorIs(t, r.Snapshot().Thread.Err(), assert.AnError)
	before := string(r.Snapshot().Thread.AppendJSON(nil))
	applied(t, r, logOf(t)[len(AppendOpen(nil, "node-7")):])
	assert.Equal(t, before, string(r.Snapshot().Thread.AppendJSON(nil)), "what follows changes nothing")
	s := r.Snapshot()
	s.Thread = &reducer.Thread{ID: "anew"}
	applied(t, r, AppendThread(nil, s))
	assert.Equal(t, "anew", r.Snapshot().Thread.ID)
	assert.Empty(t, r.Gap)
}

func FuzzReplica(f *testing.F) {
	f.Add(logOf(f))
	f.Add([]byte("{\"delta\":{\"revision\":1}}\n{\"phase\":\"idle\",\"thread\":{}}\n{\"data\":\"[DONE]\"}\n{\"close\":true}"))
	f.Add([]byte("{\"stop\":{}}\n{\"gap\":{\"name\":\"x\"}}\n{\"end\":{\"kind\":\"error\"}}\n{\"head\":{}}\n{\"event\":{}}\n{\"event\":"))
	f.Fuzz(func(t *testing.T, text []byte) {
		a, b := &Replica{KeepOpen: true}, new(Replica)
		for line := range bytes.Lines(text) {
			line = bytes.TrimSuffix(line, []byte("\n"))
			before := string(a.Snapshot().Thread.AppendJSON(nil))
			failed := a.Apply(line) != nil
			require.Equal(t, failed, b.Apply(line) != nil)
			if failed {
				require.Equal(t, before, string(a.Snapshot().Thread.AppendJSON(nil)), "an entry that cannot be read changes nothing")
			}
			require.Equal(t, string(a.Snapshot().Thread.AppendJSON(nil)), string(b.Snapshot().Thread.AppendJSON(nil)))
		}
		if c, ok := a.Checkpoint(); ok {
			_, err := Restore(c.Header, c.Append(nil))
			require.NoError(t, err)
		}
	})
}
