package client_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

func expiring(id, at string) event.Interrupt {
	return event.Interrupt{ID: id, Reason: "approval", ExpiresAt: messages.Some(at)}
}

// interrupted is a session whose last run ended with interrupts; the agent continues with turns.
func interrupted(t *testing.T, pending []event.Interrupt, turns ...turn) (*client.Session, *scripted) {
	agent := script(append([]turn{says(begins, asks(pending...))}, turns...)...)
	s := client.NewSession(agent, quiet(client.SessionOptions{}))
	res, err := s.Send(t.Context())
	require.NoError(t, err)
	require.Equal(t, reducer.Interrupted, res.Status)
	require.Equal(t, pending, res.Interrupts)
	return s, agent
}

func TestResume(t *testing.T) {
	two := []event.Interrupt{interrupt, {ID: "i2", Reason: "input"}}
	past, future := expiring("i1", "1999-12-31T23:59:59Z"), expiring("i1", "2000-01-01T00:00:01Z") // a bubble's clock begins in 2000
	for _, row := range []struct {
		rule    string
		pending []event.Interrupt
		answers []client.Answer
		bad     string // the interrupt that is in the way, "" if it is sent
		reason  string
		sent    string
	}{
		{"P-INT-1 one entry for each", two, []client.Answer{client.Resolve("i1", map[string]bool{"ok": true}), client.Decline("i2")}, "", "",
			`[{"interruptId":"i1","status":"resolved","payload":{"ok":true}},{"interruptId":"i2","status":"cancelled"}]`},
		{"P-INT-1 in any order", two, []client.Answer{client.Decline("i2"), client.Decline("i1")}, "", "",
			`[{"interruptId":"i2","status":"cancelled"},{"interruptId":"i1","status":"cancelled"}]`},
		{"a payload may be absent", two[:1], []client.Answer{client.Resolve("i1", nil)}, "", "", `[{"interruptId":"i1","status":"resolved"}]`},
		{"a payload may be a state value", two[:1], []client.Answer{client.Resolve("i1", state.Int(7))}, "", "", `[{"interruptId":"i1","status":"resolved","payload":7}]`},
		{"P-INT-1 an interrupt without an answer", two, []client.Answer{client.Decline("i1")}, "i2", "has no answer", ""},
		{"P-INT-1 no answers at all", two, nil, "i1", "has no answer", ""},
		{"P-INT-1 an id that does not pend", two[:1], []client.Answer{client.Decline("i1"), client.Decline("i9")}, "i9", "is not pending", ""},
		{"P-INT-1 two answers to one", two[:1], []client.Answer{client.Decline("i1"), client.Resolve("i1", nil)}, "i1", "has two answers", ""},
		{"P-INT-1 an expired one cannot be resolved", []event.Interrupt{past}, []client.Answer{client.Resolve("i1", nil)}, "i1", "expired", ""},
		{"P-INT-1 an expired one can be cancelled", []event.Interrupt{past}, []client.Answer{client.Decline("i1")}, "", "", `[{"interruptId":"i1","status":"cancelled"}]`},
		{"P-INT-1 one that has not expired can be resolved", []event.Interrupt{future}, []client.Answer{client.Resolve("i1", nil)}, "", "", `[{"interruptId":"i1","status":"resolved"}]`},
		{"an empty answer", two[:1], []client.Answer{{}}, "", "is not pending", ""},
	} {
		t.Run(row.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, agent := interrupted(t, row.pending, says(begins, succeeds))
				before := s.Thread()
				res, err := s.Resume(t.Context(), row.answers...)
				if row.reason != "" {
					var bad *client.InterruptError
					require.ErrorAs(t, err, &bad)
					assert.Equal(t, row.bad, bad.ID)
					assert.Contains(t, bad.Reason, row.reason)
					assert.Contains(t, err.Error(), "P-INT-1")
					assert.Nil(t, res)
					assert.Len(t, agent.inputs, 1, "nothing is sent")
					assert.Same(t, before, s.Thread())
					return
				}
				require.NoError(t, err)
				assert.Equal(t, reducer.Succeeded, res.Status)
				assert.Empty(t, s.Thread().Interrupts, "P-RUN-3")
				assert.Empty(t, res.Interrupts)
				sent, err := json.Marshal(agent.inputs[1].Resume)
				require.NoError(t, err)
				assert.Equal(t, row.sent, string(sent))
			})
		})
	}
	t.Run("P-INT-1 an answer of an unknown status", func(t *testing.T) {
		s, _ := interrupted(t, two[:1])
		for _, err := range s.Run(t.Context(), &client.RunOptions{Resume: []client.Answer{client.AnswerEntry(event.ResumeEntry{InterruptID: "i1", Status: "perhaps"})}}) {
			assert.ErrorContains(t, err, `the unknown status "perhaps"`)
		}
	})
	t.Run("P-INT-1 Send and Run cannot pass an interrupt by", func(t *testing.T) {
		s, agent := interrupted(t, two[:1])
		before := s.Thread()
		_, err := s.Send(t.Context(), messages.UserText("never mind"))
		assert.ErrorAs(t, err, new(*client.InterruptError))
		for _, err := range s.Run(t.Context(), nil) {
			assert.ErrorAs(t, err, new(*client.InterruptError))
		}
		assert.Same(t, before, s.Thread(), "no message was added")
		assert.Len(t, agent.inputs, 1)
	})
	t.Run("a payload that cannot be encoded is Resume's error", func(t *testing.T) {
		s, agent := interrupted(t, two[:1])
		res, err := s.Resume(t.Context(), client.Resolve("i1", func() {}))
		assert.ErrorContains(t, err, "func")
		assert.Nil(t, res)
		assert.Len(t, agent.inputs, 1)
	})
	t.Run("with nothing pending Resume is a run", func(t *testing.T) {
		s := client.NewSession(script(says(begins, succeeds)), quiet(client.SessionOptions{}))
		_, err := s.Resume(t.Context())
		assert.NoError(t, err)
	})
}

func TestInterruptsPend(t *testing.T) {
	for _, row := range []struct {
		rule  string
		turn  turn
		still []string
	}{
		{"P-RUN-3 a run that succeeds clears them", says(begins, succeeds), nil},
		{"P-RUN-3 a run that is cancelled by the agent clears them", says(begins, cancels), nil},
		{"P-RUN-3 a run that is interrupted brings its own", says(begins, asks(event.Interrupt{ID: "i2", Reason: "r"})), []string{"i2"}},
		{"P-RUN-3 a run that fails keeps them", says(begins, fails), []string{"i1"}},
		{"P-RUN-3 a run that is truncated keeps them", says(begins), []string{"i1"}},
		{"P-RUN-3 a stream that is rejected keeps them", says(begins, begins), []string{"i1"}},
		{"P-RUN-3 a run that never began keeps them", says(), []string{"i1"}},
	} {
		t.Run(row.rule, func(t *testing.T) {
			s, agent := interrupted(t, []event.Interrupt{interrupt}, row.turn, says(begins, succeeds))
			res, _ := s.Resume(t.Context(), client.Decline("i1"))
			var still []string
			for _, in := range res.Interrupts {
				still = append(still, in.ID)
			}
			assert.Equal(t, row.still, still)
			_, err := s.Resume(t.Context(), client.AnswerAll(res.Interrupts, decline)...)
			assert.NoError(t, err, "what pends can be answered again")
			assert.Len(t, agent.inputs[2].Resume, len(row.still))
		})
	}
	t.Run("P-INT-1 the answers go with the first run and not with those of tools", func(t *testing.T) {
		agent := script(says(begins, asks(interrupt)), says(begins, calls("c1", "now", ""), succeeds), says(begins, succeeds))
		s := client.NewSession(agent, quiet(client.SessionOptions{Tools: []client.Tool{does("now", func(context.Context) (any, error) { return "noon", nil })}}))
		_, err := s.Send(t.Context())
		require.NoError(t, err)
		_, err = s.Resume(t.Context(), client.Decline("i1"))
		require.NoError(t, err)
		assert.Len(t, agent.inputs[1].Resume, 1)
		assert.Empty(t, agent.inputs[2].Resume)
	})
	t.Run("an interrupt in a later round ends the call", func(t *testing.T) {
		agent := script(says(begins, calls("c1", "now", ""), succeeds), says(begins, asks(interrupt)))
		s := client.NewSession(agent, quiet(client.SessionOptions{Tools: []client.Tool{does("now", func(context.Context) (any, error) { return "noon", nil })}}))
		res, err := s.Send(t.Context())
		require.NoError(t, err)
		assert.Equal(t, reducer.Interrupted, res.Status)
		assert.Equal(t, 2, res.Runs)
		assert.Len(t, res.Interrupts, 1)
	})
	t.Run("a session continues a stored conversation with its interrupts", func(t *testing.T) {
		before, _ := interrupted(t, []event.Interrupt{interrupt})
		s := client.NewSession(script(says(begins, succeeds)), quiet(client.SessionOptions{Thread: before.Thread()}))
		_, err := s.Send(t.Context())
		assert.ErrorAs(t, err, new(*client.InterruptError))
		_, err = s.Resume(t.Context(), client.Decline("i1"))
		assert.NoError(t, err)
	})
}

func TestAnswers(t *testing.T) {
	pending := []event.Interrupt{{ID: "i1", Reason: "a"}, {ID: "i2", Reason: "b"}}
	twice := append(slices.Clone(pending), event.Interrupt{ID: "i1", Reason: "c"})
	reason := func(in event.Interrupt) client.Answer { return client.Resolve(in.ID, in.Reason) }
	resolved := []string{`{"interruptId":"i1","status":"resolved","payload":"a"}`, `{"interruptId":"i2","status":"resolved","payload":"b"}`}
	for _, row := range []struct {
		rule    string
		pending []event.Interrupt
		answers []client.Answer
		sent    []string
	}{
		{"AnswerAll answers each", pending, client.AnswerAll(pending, reason), resolved},
		{"P-INT-1 AnswerAll answers an id once", twice, client.AnswerAll(twice, reason), resolved},
		{"AnswerAll declines each", pending, client.AnswerAll(pending, decline),
			[]string{`{"interruptId":"i1","status":"cancelled"}`, `{"interruptId":"i2","status":"cancelled"}`}},
		{"an entry goes as it is", pending[:1], []client.Answer{client.AnswerEntry(event.ResumeEntry{
			InterruptID: "i1", Status: event.ResumeResolved, Payload: state.Int(1), Metadata: messages.MetadataOf(state.Member{Key: "by", Value: state.String("me")}),
		})}, []string{`{"interruptId":"i1","status":"resolved","payload":1,"metadata":{"by":"me"}}`}},
	} {
		t.Run(row.rule, func(t *testing.T) {
			s, agent := interrupted(t, row.pending, says(begins, succeeds))
			_, err := s.Resume(t.Context(), row.answers...)
			require.NoError(t, err)
			var sent []string
			for _, e := range agent.inputs[1].Resume {
				sent = append(sent, marshaled(t, e))
			}
			assert.Equal(t, row.sent, sent)
		})
	}
	assert.Empty(t, client.AnswerAll(nil, decline))
}

func TestExpired(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for _, row := range []struct {
		rule    string
		in      event.Interrupt
		expired bool
	}{
		{"no date never expires", interrupt, false},
		{"before now", expiring("i", "2026-07-01T11:59:59.999Z"), true},
		{"P-INT-1 at now", expiring("i", "2026-07-01T12:00:00Z"), true},
		{"after now", expiring("i", "2026-07-01T12:00:00.001Z"), false},
		{"an offset counts, before", expiring("i", "2026-07-01T13:59:00+02:00"), true},
		{"an offset counts, after", expiring("i", "2026-07-01T11:00:00-02:00"), false},
		{"without seconds", expiring("i", "2026-07-01T12:00Z"), true},
		{"without an offset it is UTC", expiring("i", "2026-07-01T12:00:00"), true},
		{"a day begins at midnight UTC", expiring("i", "2026-07-01"), true},
		{"a later day", expiring("i", "2026-07-02"), false},
		{"a month begins at midnight UTC", expiring("i", "2026-07"), true},
		{"a later month", expiring("i", "2026-08"), false},
		{"a year begins at midnight UTC", expiring("i", "2026"), true},
		{"a later year", expiring("i", "2027"), false},
		{"a space in place of the T", expiring("i", "2026-07-01 12:00:00"), true},
		{"a space, after", expiring("i", "2026-07-01 12:00:00.001"), false},
		{"a space and an offset", expiring("i", "2026-07-01 14:00:00+02:00"), true},
		{"a space before the offset", expiring("i", "2026-07-01 14:00:00 +0200"), true},
		{"an offset without a colon", expiring("i", "2026-07-01T14:00:00+0200"), true},
		{"an offset without a colon, after", expiring("i", "2026-07-01T11:00:00-0200"), false},
		{"an offset of hours", expiring("i", "2026-07-01T14:00:00.0+02"), true},
		{"small letters", expiring("i", "2026-07-01t12:00:00z"), true},
		{"small letters, after", expiring("i", "2026-07-01t12:00:01z"), false},
		{"without seconds and offset", expiring("i", "2026-07-01T12:00"), true},
		{"white space around", expiring("i", " 2026-07-01\n"), true},
		{"no such month", expiring("i", "2020-13"), false},
		{"milliseconds are not a date", expiring("i", "1577836800000"), false},
		{"a value that is not a date never expires", expiring("i", "soon"), false},
		{"empty never expires", expiring("i", ""), false},
	} {
		t.Run(row.rule, func(t *testing.T) { assert.Equal(t, row.expired, client.Expired(row.in, now)) })
	}
}

func decline(in event.Interrupt) client.Answer { return client.Decline(in.ID) }
