package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// recorded is a session that is recorded.
type recorded struct {
	*client.Session
	text bytes.Buffer
}

func record(o client.SessionOptions, turns ...turn) *recorded {
	r := new(recorded)
	o.Middleware = []client.Middleware{client.Record(recording.NewWriter(&r.text))}
	r.Session = client.NewSession(script(turns...), quiet(o))
	return r
}

// essence is all of a thread but its revision, with what its wire shapes leave out.
func essence(th *reducer.Thread) (string, []string) {
	c := *th
	c.Revision = 0
	var calls []string
	for _, m := range th.Messages.All() {
		for _, call := range m.ToolCalls.All() {
			calls = append(calls, call.ID+" "+call.Status.String())
		}
	}
	return string(c.AppendJSON(nil)), calls
}

// same requires that the recording so far folds to the session's thread.
func (r *recorded) same(t *testing.T, when string) {
	t.Helper()
	th, err := recording.Fold(bytes.NewReader(r.text.Bytes()), nil)
	want, wantCalls := essence(r.Thread())
	got, gotCalls := essence(th)
	require.JSONEq(t, want, got, when)
	require.Equal(t, want, got, when)
	require.Equal(t, wantCalls, gotCalls, when)
	if th.Status() == reducer.Rejected {
		require.ErrorAs(t, err, new(*reducer.Violation))
	} else {
		require.NoError(t, err, when)
	}
}

func TestARecordingFoldsToTheThreadOfTheSession(t *testing.T) {
	weather := client.NewTool("weather", "", func(context.Context, struct {
		City string `json:"city"`
	}) (any, error) {
		return "cold", nil
	})
	s := record(client.SessionOptions{
		Tools:    []client.Tool{weather},
		State:    parsed(t, `{"n":0}`),
		Messages: []*messages.Message{messages.SystemText("be brief")},
	},
		says(begins, text("a1", "let me see"), calls("c1", "weather", `{"city":"Oslo"}`), calls("c2", "weather", `{"city":"Rome"}`),
			`{"type":"STATE_DELTA","delta":[{"op":"replace","path":"/n","value":1.50}]}`, succeeds),
		says(begins, `{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"helper"}`,
			`{"type":"TEXT_MESSAGE_CHUNK","messageId":"a2","delta":"may I?","subagentRunId":"s"}`,
			`{"type":"ACTIVITY_SNAPSHOT","messageId":"p","activityType":"plan","content":{"a":1}}`,
			`{"type":"SUBAGENT_FINISHED","subagentRunId":"s","outcome":{"type":"suspended","interruptIds":["i1"]}}`, asks(interrupt)),
		says(begins, text("a3", "thank you"), `{"type":"NEW"}`, succeeds),
		says(begins, calls("c3", "form", `{}`), succeeds),
		says(begins, text("a4", "well"), fails),
		says(begins, text("a5", "x"), `{"type":"TEXT_MESSAGE_END","messageId":"nobody"}`),
	)
	_, err := s.Send(t.Context(), messages.UserText("how warm?"))
	require.NoError(t, err)
	require.Len(t, s.Thread().Interrupts, 1)
	s.same(t, "tools answered, then an interrupt")

	_, err = s.Resume(t.Context(), client.Resolve("i1", true))
	require.NoError(t, err)
	s.same(t, "the interrupt answered")

	require.NoError(t, s.PatchState(state.Patch{{Kind: state.OpAdd, Path: "/mine", Value: state.Bool(true)}}))
	require.NoError(t, s.AddMessages(messages.UserText("by the way")))
	res, err := s.Send(t.Context(), messages.UserText("and now?"))
	require.NoError(t, err)
	require.Len(t, res.PendingToolCalls, 1)
	s.same(t, "a call that is the user's to answer")

	_, err = s.Send(t.Context(), messages.ToolResult("c3", "filled in"), messages.UserText("there"))
	require.ErrorAs(t, err, new(*reducer.AgentError))
	s.same(t, "a run that failed")

	var live *reducer.Violation
	_, err = s.Send(t.Context(), messages.UserText("again"))
	require.ErrorAs(t, err, &live)
	th, err := recording.Fold(bytes.NewReader(s.text.Bytes()), nil)
	var violation *reducer.Violation
	require.ErrorAs(t, err, &violation)
	assert.Greater(t, violation.Ordinal, live.Ordinal, "it counts through the recording")
	assert.Equal(t, live.Reason, violation.Reason)
	assert.Equal(t, shown(s.Thread()), shown(th))
	assert.NotEqual(t, s.Thread().Revision, th.Revision)
}

func TestARecordingFoldsToTheThreadOfASessionWithoutState(t *testing.T) {
	s := record(client.SessionOptions{}, says(
		`{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[],"tools":[],"context":[],"state":{"kept":1}}}`, succeeds))
	_, err := s.Send(t.Context(), messages.UserText("hi"))
	require.NoError(t, err)
	require.Equal(t, `{"kept":1}`, s.Thread().State.String())
	s.same(t, "D-7 the agent's input brings the state")
}

func TestARecordingOfBrokenRuns(t *testing.T) {
	refused := errors.New("no route")
	s := record(client.SessionOptions{},
		func(context.Context, event.RunInput, func(...event.Event) error) error { return refused },
		then(says(begins, text("a1", "hal")), func(context.Context, event.RunInput, func(...event.Event) error) error { return refused }),
	)
	for _, text := range []string{"one", "two"} {
		_, err := s.Send(t.Context(), messages.UserText(text))
		require.ErrorIs(t, err, refused)
	}
	th, err := recording.Fold(&s.text, nil)
	require.ErrorIs(t, err, client.ErrTruncated)
	require.EqualError(t, err, s.Snapshot().Result.Thread.Err().Error(), "the text was recorded")
	require.NotErrorIs(t, err, refused, "but not the kind")
	assert.Equal(t, shown(s.Thread()), shown(th))
	require.Equal(t, 2, th.Runs.Len())
	for i, run := range th.Runs.All() {
		assert.Equal(t, []reducer.Status{reducer.Unstarted, reducer.Truncated}[i], run.Status)
		assert.Equal(t, s.Thread().Runs.At(i).ID, run.ID)
		assert.EqualError(t, run.Err, s.Thread().Runs.At(i).Err.Error())
	}
}

func ExampleRecord_fold() {
	var file bytes.Buffer
	s := client.NewSession(client.Emit(func(_ context.Context, in event.RunInput, emit func(...event.Event) error) error {
		emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID})
		emit(&event.TextMessageChunk{MessageID: messages.Some("a-" + in.RunID), Delta: messages.Some("Hello.")})
		return emit(&event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID})
	}), &client.SessionOptions{Middleware: []client.Middleware{client.Record(recording.NewWriter(&file))}})
	s.Send(context.Background(), messages.UserText("Hi"))
	s.Send(context.Background(), messages.UserText("Hi again"))

	th, err := recording.Fold(&file, nil)
	if err != nil {
		fmt.Println(err)
	}
	for _, m := range th.Messages.All() {
		fmt.Println(m.Role+":", m.Text())
	}
	// Output:
	// user: Hi
	// assistant: Hello.
	// user: Hi again
	// assistant: Hello.
}

// TestRunsDoNotOverlap holds that a stream which lingers is closed before the next request is sent, so that what middleware
// keeps stays in order: here a recording.
func TestRunsDoNotOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open, most atomic.Int32
		lingers := func(id string) turn {
			return func(ctx context.Context, in event.RunInput, emit func(...event.Event) error) error {
				most.Store(max(most.Load(), open.Add(1)))
				defer open.Add(-1)
				if err := emit(flat(begins, text(id, "hello"), succeeds)...); err != nil {
					return err
				}
				<-ctx.Done()
				time.Sleep(time.Second) // an agent that is slow to end
				return ctx.Err()
			}
		}
		s := record(client.SessionOptions{}, lingers("m1"), lingers("m2"), lingers("m3"))
		for range 3 {
			_, err := s.Send(t.Context(), messages.UserText("hi"))
			require.NoError(t, err)
		}
		require.NoError(t, s.Stop(t.Context()))
		assert.EqualValues(t, 1, most.Load())
		assert.EqualValues(t, 0, open.Load())
		s.same(t, "after three runs whose streams were cut")
	})
}
