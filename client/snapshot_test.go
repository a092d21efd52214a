package client_test

import (
	"context"
	"fmt"
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
	"github.com/agfold/agfold/subscribe"
)

// later is a tool without a function: its calls are the caller's.
var later = client.Tool{Tool: event.Tool{Name: "later", Parameters: state.Object()}}

func TestPhases(t *testing.T) {
	noon := does("now", func(context.Context) (any, error) { return "noon", nil })
	for _, row := range []struct {
		rule  string
		turns []turn
		want  []client.Phase
	}{
		{"a run that succeeds", []turn{says(begins, text("m", "x"), succeeds)},
			[]client.Phase{client.PhaseIdle, client.PhaseSending, client.PhaseStreaming, client.PhaseIdle}},
		{"a run that never begins", []turn{says()},
			[]client.Phase{client.PhaseIdle, client.PhaseSending, client.PhaseIdle}},
		{"a run that is interrupted waits for the caller (P-INT-1)", []turn{says(begins, asks(interrupt))},
			[]client.Phase{client.PhaseIdle, client.PhaseSending, client.PhaseStreaming, client.PhaseWaiting}},
		{"a call of a tool without a function waits for the caller (P-RUN-2)", []turn{says(begins, calls("c", "later", "{}"), succeeds)},
			[]client.Phase{client.PhaseIdle, client.PhaseSending, client.PhaseStreaming, client.PhaseWaiting}},
		{"tools run, and another run follows", []turn{says(begins, calls("c", "now", "{}"), succeeds), says(begins, succeeds)},
			[]client.Phase{client.PhaseIdle, client.PhaseSending, client.PhaseStreaming, client.PhaseCallingTools, client.PhaseSending, client.PhaseStreaming, client.PhaseIdle}},
		{"a tool's answer goes first if the other is the caller's", []turn{says(begins, calls("c", "now", "{}"), calls("d", "later", "{}"), succeeds)},
			[]client.Phase{client.PhaseIdle, client.PhaseSending, client.PhaseStreaming, client.PhaseCallingTools, client.PhaseWaiting}},
		{"a run that fails", []turn{says(begins, fails)},
			[]client.Phase{client.PhaseIdle, client.PhaseSending, client.PhaseStreaming, client.PhaseIdle}},
	} {
		t.Run(row.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := client.NewSession(script(row.turns...), quiet(client.SessionOptions{Tools: []client.Tool{noon, later}}))
				revisions := s.Revisions(t.Context(), &subscribe.EveryOptions{Buffer: 100})
				res, _ := s.Send(t.Context(), messages.UserText("hi"))
				assert.Equal(t, res, s.Snapshot().Result)
				s.Close()
				var got []client.Phase
				var before client.Snapshot
				for sn := range revisions.C {
					if len(got) == 0 || got[len(got)-1] != sn.Phase {
						got = append(got, sn.Phase)
					}
					assert.NotEqual(t, before, sn, "no revision repeats the one before")
					assert.Equal(t, sn.Phase != client.PhaseClosed && sn.Phase.Busy(), sn.Result == nil && len(got) > 1, "a result comes with the free session")
					before = sn
				}
				assert.Equal(t, append(row.want, client.PhaseClosed), got)
				assert.Equal(t, client.PhaseClosed, s.Snapshot().Phase)
			})
		})
	}
}

func TestPhaseOfASessionThatIsFree(t *testing.T) {
	stored := client.NewSession(script(says(begins, asks(interrupt))), quiet(client.SessionOptions{}))
	_, err := stored.Send(t.Context())
	require.NoError(t, err)
	s := client.NewSession(script(says(begins, calls("c", "later", "{}"), succeeds)), quiet(client.SessionOptions{Thread: stored.Thread()}))
	assert.Equal(t, client.PhaseWaiting, s.Snapshot().Phase, "a stored conversation with an interrupt waits")
	_, err = s.Resume(t.Context(), client.Decline("i1"))
	require.NoError(t, err)
	assert.Equal(t, client.PhaseIdle, s.Snapshot().Phase, "a call of a tool that is not offered waits for nobody")
	require.NoError(t, s.SetTools(later))
	assert.Equal(t, client.PhaseWaiting, s.Snapshot().Phase, "offered, it does")
	require.NoError(t, s.AddMessages(messages.ToolResult("c", "done")))
	assert.Equal(t, client.PhaseIdle, s.Snapshot().Phase, "its answer ends the waiting")
}

func TestPhaseNames(t *testing.T) {
	for p := client.PhaseIdle; p <= client.PhaseClosed; p++ {
		text, err := p.MarshalText()
		require.NoError(t, err)
		assert.Equal(t, p.String(), string(text))
	}
	assert.Equal(t, "idle sending streaming calling tools waiting closed unknown", fmt.Sprint(client.PhaseIdle, " ", client.PhaseSending, " ",
		client.PhaseStreaming, " ", client.PhaseCallingTools, " ", client.PhaseWaiting, " ", client.PhaseClosed, " ", client.Phase(99)))
}

// TestSnapshotsAreFreeWhenTheySaySo holds that a Send or Resume made on seeing a free snapshot is never refused, a thousand
// times, whatever becomes of the stream.
func TestSnapshotsAreFreeWhenTheySaySo(t *testing.T) {
	for name, after := range map[string]turn{
		"the stream ends":                  says(),
		"the stream stays open":            waits,
		"the agent begins by itself":       then(pauses(3*time.Millisecond), says(begins), pauses(time.Millisecond), says(asks(interrupt)), waits),
		"the agent withdraws its question": then(pauses(2*time.Millisecond), says(begins, succeeds, begins, succeeds, begins, asks(interrupt))),
	} {
		agent := client.Emit(func(ctx context.Context, in event.RunInput, emit func(...event.Event) error) error {
			if len(in.Resume) > 0 {
				return then(says(begins, succeeds), says())(ctx, in, emit)
			}
			return then(says(begins, asks(interrupt)), after)(ctx, in, emit)
		})
		turns := 1000
		play := func(t *testing.T) {
			withdraws := name == "the agent withdraws its question"
			s := client.NewSession(agent, quiet(client.SessionOptions{}))
			defer func() { s.Close() }()
			for n := range turns {
				if withdraws { // a turn that comes while the agent runs by itself stops that run, and its next question with it
					s.Close()
					s = client.NewSession(agent, quiet(client.SessionOptions{}))
				}
				ctx, cancel := context.WithCancel(t.Context())
				turn, err := s.Start(ctx, hi(fmt.Sprint("u", n)))
				require.NoError(t, err, "turn %d", n)
				for now := range s.Subscribe(ctx) {
					if now.Phase == client.PhaseWaiting {
						res, err := s.Resume(ctx, client.Resolve("i1", nil))
						if withdrawn := as[*client.InterruptError](err); withdrawn && withdraws {
							break // what the test holds is that it is not busy
						}
						require.NoError(t, err, "turn %d", n)
						require.Equal(t, reducer.Succeeded, res.Status)
						break
					}
				}
				require.NotNil(t, turn.Result())
				cancel()
			}
		}
		t.Run(name+", in a bubble", func(t *testing.T) { synctest.Test(t, play) })
		t.Run(name+", with real goroutines", func(t *testing.T) {
			if testing.Short() {
				turns = 50
			}
			play(t)
		})
	}
}
