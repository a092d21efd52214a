package client_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
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

// kinds are the errors that distinguish how a call ended.
var kinds = map[string]func(error) bool{
	"ErrRejected": is(client.ErrRejected), "Violation": as[*reducer.Violation], "MalformedError": as[*messages.MalformedError],
	"ErrTruncated": is(client.ErrTruncated), "reducer.ErrTruncated": is(reducer.ErrTruncated),
	"TransportError": as[*client.TransportError], "StatusError": as[*client.StatusError],
	"ContentTypeError": as[*client.ContentTypeError], "IdleError": as[*client.IdleError], "PanicError": as[*client.PanicError],
	"event.TooLargeError": as[*event.TooLargeError], "InterruptError": as[*client.InterruptError],
	"PendingCallError": as[*client.PendingCallError], "DuplicateError": as[*client.DuplicateError],
	"Canceled": is(context.Canceled), "DeadlineExceeded": is(context.DeadlineExceeded),
	"ErrStopped": is(client.ErrStopped), "ErrRounds": is(client.ErrRounds), "ErrBusy": is(client.ErrBusy),
	"ErrClosed": is(client.ErrClosed), "errOwn": is(errOwn),
}

func is(target error) func(error) bool { return func(err error) bool { return errors.Is(err, target) } }

func as[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

var errOwn = errors.New("the agent's own error")

const truncation = "ErrTruncated reducer.ErrTruncated"

// TestOutcomes is the table of how a call can end: what it matches, and that it matches nothing else.
func TestOutcomes(t *testing.T) {
	hello := flat(begins, text("m", "hello"))
	greeting := []string{"user id-2: hi", "assistant m: hello"}
	nothing := []string{"user id-2: hi"}
	fn := func(f func(ctx context.Context, yield func(event.Event, error) bool)) client.Agent {
		return rawAgent(func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
			return func(yield func(event.Event, error) bool) { f(ctx, yield) }
		})
	}
	// stopping calls stop when the first text came.
	stopping := func(stop func(*client.Session, context.CancelCauseFunc)) func(*client.Session, context.CancelCauseFunc, reducer.Delivery) bool {
		return func(s *client.Session, cancel context.CancelCauseFunc, step reducer.Delivery) bool {
			if step.Change.Kind == reducer.MessageClosed {
				stop(s, cancel)
			}
			return true
		}
	}
	cancelled := stopping(func(_ *client.Session, cancel context.CancelCauseFunc) { cancel(nil) })
	deaf := fn(func(ctx context.Context, yield func(event.Event, error) bool) {
		for _, ev := range hello {
			if !yield(ev, nil) {
				return
			}
		}
		for yield(&event.Custom{Name: "on", Value: state.Null()}, nil) { // ignores its context
		}
	})
	sse := "text/event-stream"
	for _, row := range []struct {
		rule    string
		agent   client.Agent
		options client.SessionOptions
		timeout time.Duration
		on      func(*client.Session, context.CancelCauseFunc, reducer.Delivery) bool
		status  reducer.Status
		matches string
		failed  bool // a *reducer.AgentError
		other   bool // an error that matches none of the kinds
		thread  []string
	}{
		{rule: "P-RUN-1 a run without outcome succeeded",
			agent: script(says(hello, succeeds)), status: reducer.Succeeded, thread: greeting},
		{rule: "P-RUN-1 an interrupted run is not an error",
			agent: script(says(hello, asks(interrupt))), status: reducer.Interrupted, thread: greeting},
		{rule: "P-RUN-1 a run that the agent cancelled is not an error",
			agent: script(says(hello, cancels)), status: reducer.Cancelled, thread: greeting},
		{rule: "P-RUN-1 RUN_ERROR fails the run",
			agent: script(says(hello, fails)), status: reducer.Failed, failed: true, thread: greeting},
		{rule: "P-RUN-1 RUN_ERROR after RUN_FINISHED fails the run",
			agent: script(says(hello, succeeds, fails)), status: reducer.Failed, failed: true, thread: greeting},
		{rule: "P-VER-1 RUN_ERROR may come first",
			agent: script(says(fails)), status: reducer.Failed, failed: true, thread: nothing},
		{rule: "P-RUN-1 a failed run stays failed when the stream then breaks off",
			agent:  script(then(says(hello, fails), func(context.Context, event.RunInput, func(...event.Event) error) error { return errOwn })),
			status: reducer.Failed, failed: true, thread: greeting},

		{rule: "P-VER-2 a violation rejects the stream",
			agent:  script(says(hello, &event.TextMessageEnd{MessageID: "m"}, succeeds)),
			status: reducer.Rejected, matches: "ErrRejected Violation", thread: greeting},
		{rule: "P-VER-1 an event after the end rejects the stream",
			agent:  script(says(hello, succeeds, text("n", "late"))),
			status: reducer.Rejected, matches: "ErrRejected Violation", thread: greeting},
		{rule: "P-VER-1 a stream that does not begin with RUN_STARTED is rejected",
			agent:  script(says(text("m", "hello"))),
			status: reducer.Rejected, matches: "ErrRejected Violation", thread: nothing},
		{rule: "P-ENF-4 a malformed event rejects the stream",
			agent:  script(says(hello, `{"type":"TEXT_MESSAGE_START","messageId":7}`, succeeds)),
			status: reducer.Rejected, matches: "ErrRejected MalformedError", thread: greeting},
		{rule: "P-ENF-4 a nil pointer for an event rejects the stream",
			agent:  script(says(hello, (*event.TextMessageStart)(nil))),
			status: reducer.Rejected, matches: "ErrRejected MalformedError", thread: greeting},
		{rule: "a nil event ends the stream",
			agent: fn(func(_ context.Context, yield func(event.Event, error) bool) {
				_ = yield(begins, nil) && yield(nil, nil) && yield(succeeds, nil)
			}),
			status: reducer.Truncated, other: true, thread: nothing},
		{rule: "P-ENF-7 strict mode rejects what is unknown",
			agent: script(says(hello, `{"type":"NEWS"}`, succeeds)), options: client.SessionOptions{Strict: true},
			status: reducer.Rejected, matches: "ErrRejected MalformedError", thread: greeting},

		{rule: "P-RUN-1 a stream that ends before the run is truncated",
			agent: script(says(hello)), status: reducer.Truncated, matches: truncation, thread: greeting},
		{rule: "P-RUN-1 a run that never began is truncated",
			agent: script(says()), status: reducer.Truncated, matches: truncation, thread: nothing},
		{rule: "P-RUN-1 the second run of a stream can be truncated",
			agent: script(says(hello, succeeds, begins)), status: reducer.Truncated, matches: truncation, thread: greeting},
		{rule: "P-SSE-1 an empty answer is truncated",
			agent:  replies(200, sse, strings.NewReader("")).agent(client.HTTPOptions{}),
			status: reducer.Truncated, matches: truncation, thread: nothing},
		{rule: "P-SSE-1 an answer that is cut off in an event is truncated",
			agent: replies(200, sse, io.MultiReader(streams(hello), strings.NewReader(`data: {"type":"RUN_F`))).agent(client.HTTPOptions{}), status: reducer.Truncated, matches: truncation, thread: greeting},

		{rule: "a connection that is lost is a transport failure and a truncation",
			agent:  replies(200, sse, io.MultiReader(streams(hello), iotest.ErrReader(io.ErrUnexpectedEOF))).agent(client.HTTPOptions{}),
			status: reducer.Truncated, matches: "TransportError " + truncation, thread: greeting},
		{rule: "no connection is a transport failure",
			agent:  roundTrip(func(*http.Request) (*http.Response, error) { return nil, errOwn }).agent(client.HTTPOptions{}),
			status: reducer.Unstarted, matches: "TransportError errOwn", thread: nothing},
		{rule: "P-SSE-1 an answer that is not 2xx",
			agent:  replies(401, "application/json", strings.NewReader(`{"message":"who are you?"}`)).agent(client.HTTPOptions{}),
			status: reducer.Unstarted, matches: "StatusError", thread: nothing},
		{rule: "P-SSE-1 an answer of another media type",
			agent:  replies(200, "text/html", strings.NewReader("<html>")).agent(client.HTTPOptions{}),
			status: reducer.Unstarted, matches: "ContentTypeError", thread: nothing},
		{rule: "P-SSE-2 an event that is too large",
			agent:  replies(200, sse, io.MultiReader(streams(hello), strings.NewReader("data: "+strings.Repeat("x", 2000)))).agent(client.HTTPOptions{MaxEventBytes: 1000}),
			status: reducer.Truncated, matches: "event.TooLargeError", thread: greeting},
		{rule: "P-PIPE-2 data that is not an event rejects the stream",
			agent:  replies(200, sse, io.MultiReader(streams(hello), strings.NewReader("data: [1]\n\n"))).agent(client.HTTPOptions{}),
			status: reducer.Rejected, matches: "ErrRejected MalformedError", thread: greeting},
		{rule: "P-ENF-6 an input that is malformed is not sent",
			agent:   roundTrip(func(*http.Request) (*http.Response, error) { panic("sent") }).agent(client.HTTPOptions{}),
			options: client.SessionOptions{ForwardedProps: state.Null()},
			status:  reducer.Unstarted, matches: "MalformedError", thread: nothing},
		{rule: "an agent's own error is handed on",
			agent:  script(then(says(hello), func(context.Context, event.RunInput, func(...event.Event) error) error { return errOwn })),
			status: reducer.Truncated, matches: "errOwn", thread: greeting},
		{rule: "what an agent yields after its error is ignored",
			agent: fn(func(_ context.Context, yield func(event.Event, error) bool) {
				_ = yield(begins, nil) && yield(nil, errOwn) && yield(succeeds, nil)
			}),
			status: reducer.Truncated, matches: "errOwn", thread: nothing},
		{rule: "an agent's panic is handed on",
			agent:  script(then(says(hello), func(context.Context, event.RunInput, func(...event.Event) error) error { panic(errOwn) })),
			status: reducer.Truncated, matches: "PanicError errOwn", thread: greeting},

		{rule: "the caller's cancellation matches context.Canceled",
			agent: script(then(says(hello), waits)), on: cancelled,
			status: reducer.Truncated, matches: "Canceled", thread: greeting},
		{rule: "the caller's cause is matched too",
			agent: script(then(says(hello), waits)), on: stopping(func(_ *client.Session, cancel context.CancelCauseFunc) { cancel(errOwn) }),
			status: reducer.Truncated, matches: "Canceled errOwn", thread: greeting},
		{rule: "the caller's deadline matches context.DeadlineExceeded",
			agent: script(then(says(hello), waits)), timeout: time.Minute,
			status: reducer.Truncated, matches: "DeadlineExceeded", thread: greeting},
		{rule: "the caller's deadline before the answer",
			agent: roundTrip(func(r *http.Request) (*http.Response, error) {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}).agent(client.HTTPOptions{}), timeout: time.Second,
			status: reducer.Unstarted, matches: "DeadlineExceeded", thread: nothing},
		{rule: "an agent that ignores its context is abandoned",
			agent: deaf, on: cancelled, status: reducer.Truncated, matches: "Canceled", thread: greeting},
		{rule: "an agent that ends quietly when its context ends was cancelled",
			agent: script(then(says(hello), func(ctx context.Context, _ event.RunInput, _ func(...event.Event) error) error {
				<-ctx.Done()
				return nil
			})), timeout: time.Minute, status: reducer.Truncated, matches: "DeadlineExceeded", thread: greeting},
		{rule: "a cancellation that comes after the end changes nothing",
			agent: script(says(hello, succeeds)),
			on: func(_ *client.Session, cancel context.CancelCauseFunc, step reducer.Delivery) bool {
				if step.Change.Kind == reducer.RunEnded {
					cancel(nil)
				}
				return true
			}, status: reducer.Succeeded, thread: greeting},
		{rule: "nothing that came for too long, before the answer",
			agent: roundTrip(func(r *http.Request) (*http.Response, error) {
				<-r.Context().Done()
				return nil, r.Context().Err()
			}).agent(client.HTTPOptions{HeaderTimeout: time.Second}),
			status: reducer.Unstarted, matches: "IdleError", thread: nothing},

		{rule: "Stop stops the run",
			agent: script(then(says(hello), waits)), on: stopping(func(s *client.Session, _ context.CancelCauseFunc) { halt(s) }),
			status: reducer.Stopped, matches: "ErrStopped", thread: greeting},
		{rule: "Stop abandons an agent that ignores its context",
			agent: deaf, on: stopping(func(s *client.Session, _ context.CancelCauseFunc) { halt(s) }),
			status: reducer.Stopped, matches: "ErrStopped", thread: greeting},
		{rule: "Close stops the run",
			agent: script(then(says(hello), waits)), on: stopping(func(s *client.Session, _ context.CancelCauseFunc) { s.Close() }),
			status: reducer.Stopped, matches: "ErrStopped", thread: greeting},
		{rule: "breaking out stops the run",
			agent: script(then(says(hello), waits)),
			on: func(_ *client.Session, _ context.CancelCauseFunc, step reducer.Delivery) bool {
				return step.Change.Kind != reducer.MessageClosed
			}, status: reducer.Stopped, matches: "ErrStopped", thread: greeting},

		{rule: "MaxRounds: tools that are called without end",
			agent: script(says(begins, calls("c1", "now", ""), succeeds), says(begins, calls("c2", "now", ""), succeeds)),
			options: client.SessionOptions{MaxRounds: 1, Tools: []client.Tool{{
				Tool: event.Tool{Name: "now"},
				Call: func(context.Context, *messages.ToolCall) (any, error) { return "noon", nil },
			}}},
			status: reducer.Succeeded, matches: "ErrRounds",
			thread: []string{"user id-2: hi", "assistant a: ", "tool id-4: noon"}},
	} {
		t.Run(row.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := client.NewSession(row.agent, quiet(row.options))
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if row.timeout > 0 {
					timed, stop := context.WithTimeout(ctx, row.timeout)
					defer stop()
					ctx = timed
				}
				var last error
				broken := false
				for step, err := range s.Run(ctx, &client.RunOptions{Messages: []*messages.Message{messages.UserText("hi")}}) {
					require.NoError(t, last, "the error comes last")
					if last = err; err != nil {
						require.Nil(t, step.Event, "the error comes alone")
					} else if row.on != nil && !row.on(s, cancel, step) {
						broken = true
						break
					}
				}
				res := s.Snapshot().Result
				if !broken {
					assert.Equal(t, last, res.Err)
				}
				var matched []string
				for name, matches := range kinds {
					if matches(res.Err) {
						matched = append(matched, name)
					}
				}
				assert.ElementsMatch(t, strings.Fields(row.matches), matched, "%v", res.Err)
				var failure *reducer.AgentError
				assert.Equal(t, row.failed, errors.As(res.Err, &failure), "%v", res.Err)
				assert.Equal(t, row.status, res.Status)
				assert.Equal(t, row.matches == "" && !row.failed && !row.other, res.Err == nil)
				assert.Equal(t, row.thread, shown(s.Thread()))
				assert.Equal(t, row.status, s.Thread().Status())
				assert.Same(t, s.Thread(), res.Thread)
				assert.False(t, s.Snapshot().Phase.Busy())
			})
		})
	}
}

// rawAgent is an agent whose output is not completed.
type rawAgent func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error]

func (f rawAgent) Run(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
	return f(ctx, in)
}

func TestCallerCancelledByAnotherSession(t *testing.T) {
	// A session that a tool of another session uses sees its caller's context end, whatever ended it.
	synctest.Test(t, func(t *testing.T) {
		inner := client.NewSession(script(then(says(begins), waits)), quiet(client.SessionOptions{}))
		var innerErr error
		agent := client.Emit(func(ctx context.Context, in event.RunInput, emit func(...event.Event) error) error {
			_, innerErr = inner.Send(ctx)
			return innerErr
		})
		outer := client.NewSession(agent, quiet(client.SessionOptions{}))
		go func() {
			synctest.Wait()
			halt(outer)
		}()
		_, err := outer.Send(t.Context())
		assert.ErrorIs(t, err, client.ErrStopped)
		assert.NotErrorIs(t, err, context.Canceled)
		assert.ErrorIs(t, innerErr, context.Canceled)
		assert.NotErrorIs(t, innerErr, client.ErrStopped)
	})
}

func TestNothingIsSent(t *testing.T) {
	ended, cancel := context.WithCancelCause(context.Background())
	cancel(errOwn)
	user := messages.UserText("hi")
	for _, row := range []struct {
		rule  string
		setup func(*client.Session)
		ctx   context.Context
		send  []*messages.Message
		match []error

		malformed bool
	}{
		{rule: "a closed session", setup: (*client.Session).Close, send: []*messages.Message{user}, match: []error{client.ErrClosed}},
		{rule: "a context that has ended", ctx: ended, send: []*messages.Message{user}, match: []error{context.Canceled, errOwn}},
		{rule: "P-ENF-4 a nil message", send: []*messages.Message{user, nil}, malformed: true},
		{rule: "P-ENF-4 a malformed message", send: []*messages.Message{user, {Role: messages.RoleTool}}, malformed: true},
	} {
		t.Run(row.rule, func(t *testing.T) {
			agent := script()
			s := client.NewSession(agent, quiet(client.SessionOptions{}))
			if row.setup != nil {
				row.setup(s)
			}
			ctx := row.ctx
			if ctx == nil {
				ctx = t.Context()
			}
			before := s.Thread()
			res, err := s.Send(ctx, row.send...)
			for _, want := range row.match {
				assert.ErrorIs(t, err, want)
			}
			assert.Equal(t, row.malformed, as[*messages.MalformedError](err))
			assert.Nil(t, res)
			assert.Nil(t, s.Snapshot().Result)
			assert.Empty(t, agent.inputs)
			assert.Same(t, before, s.Thread(), "nothing was added")
			assert.False(t, s.Snapshot().Phase.Busy())
		})
	}
}

func TestRunBreaksAtAnyStep(t *testing.T) {
	turns := func() *scripted {
		return script(
			says(begins, text("m1", "one"), `{"type":"TEXT_MESSAGE_CHUNK","messageId":"k","delta":"chunk"}`, calls("c1", "now", "{}"), succeeds),
			says(begins, text("m2", "two"), succeeds),
		)
	}
	now := client.Tool{Tool: event.Tool{Name: "now"}, Call: func(context.Context, *messages.ToolCall) (any, error) { return "noon", nil }}
	all := 0
	for n := 1; ; n++ {
		agent := turns()
		s := client.NewSession(agent, quiet(client.SessionOptions{Tools: []client.Tool{now}}))
		step, broken := 0, false
		var revision uint64
		for st, err := range s.Run(t.Context(), nil) {
			require.NoError(t, err)
			require.NotNil(t, st.Event)
			require.GreaterOrEqual(t, s.Thread().Revision, revision)
			revision = s.Thread().Revision
			if step++; step == n {
				broken = true
				break
			}
		}
		res := s.Snapshot().Result
		require.NotNil(t, res, "at step %d", n)
		assert.False(t, s.Snapshot().Phase.Busy())
		require.NoError(t, s.AddMessages(messages.UserText("on")), "the session is free at step %d", n)
		if !broken {
			all = step
			assert.NoError(t, res.Err)
			break
		}
		if res.Status == reducer.Stopped {
			assert.ErrorIs(t, res.Err, client.ErrStopped)
		} else {
			assert.Equal(t, reducer.Succeeded, res.Status, "broken off at the end of a run")
			assert.NoError(t, res.Err)
		}
	}
	assert.Equal(t, 16, all)
}

func TestRunSurvivesAPanicInItsLoop(t *testing.T) {
	// "the session is usable after the loop that runs it panicked"
	for _, where := range []string{"the loop's body", "OnWarning"} {
		t.Run(where, func(t *testing.T) {
			s := client.NewSession(script(says(begins, `{"type":"NEWS"}`, succeeds), says(begins, succeeds)), &client.SessionOptions{
				OnWarning: func(event.Warning) {
					if where == "OnWarning" {
						panic("mine")
					}
				},
			})
			run := func() {
				for _, err := range s.Run(t.Context(), nil) {
					if where != "OnWarning" {
						panic("mine")
					}
					_, panicked := errors.AsType[*client.PanicError](err)
					assert.Equal(t, err != nil, panicked)
				}
			}
			ended := reducer.Stopped
			if where == "OnWarning" { // not in the caller's goroutine: it is the run's error
				ended = reducer.Truncated
				run()
				assert.ErrorContains(t, s.Snapshot().Result.Err, "mine")
			} else {
				assert.PanicsWithValue(t, "mine", run)
				assert.ErrorIs(t, s.Snapshot().Result.Err, client.ErrStopped)
			}
			assert.False(t, s.Snapshot().Phase.Busy())
			assert.Equal(t, ended, s.Thread().Status())
			res, err := s.Send(t.Context())
			require.NoError(t, err)
			assert.Equal(t, reducer.Succeeded, res.Status)
		})
	}
}

func TestRunInput(t *testing.T) {
	activity := &messages.Message{ID: "w", Role: messages.RoleActivity, ActivityType: "plan", Activity: state.Object()}
	agent := script(says(begins, calls("c1", "now", "{}"), succeeds), says(begins, succeeds), says(begins, succeeds))
	s := client.NewSession(agent, quiet(client.SessionOptions{
		ThreadID: "t-1", State: parsed(t, `{"n":1}`),
		Messages: []*messages.Message{messages.SystemText("be brief"), activity},
		Tools: []client.Tool{{
			Tool: event.Tool{Name: "now", Description: "the time", Parameters: parsed(t, `{"type":"object"}`)},
			Call: func(context.Context, *messages.ToolCall) (any, error) { return "noon", nil },
		}, {Tool: event.Tool{Name: "later"}}},
		Context:        []event.Context{{Description: "locale", Value: "no"}},
		ForwardedProps: parsed(t, `{"a":1}`),
	}))
	for _, err := range s.Run(t.Context(), &client.RunOptions{
		Messages: []*messages.Message{messages.UserText("hi")}, ParentRunID: messages.Some("r-0"), ForwardedProps: parsed(t, `{"b":2}`),
	}) {
		require.NoError(t, err)
	}
	require.NoError(t, s.SetState(parsed(t, `[2]`)))
	require.NoError(t, s.SetContext())
	require.NoError(t, s.SetTools())
	_, err := s.Send(t.Context())
	require.NoError(t, err)

	require.Len(t, agent.inputs, 3)
	first, second, third := agent.inputs[0], agent.inputs[1], agent.inputs[2]
	for _, row := range []struct {
		rule      string
		want, got any
	}{
		{"P-INP-1 threadId", "t-1", first.ThreadID},
		{"P-INP-1 protocolVersion", messages.Some("1.0"), first.ProtocolVersion},
		{"P-INP-1 parentRunId goes with the first run", messages.Some("r-0"), first.ParentRunID},
		{"P-INP-1 parentRunId does not go with the answers of tools", messages.Opt[string]{}, second.ParentRunID},
		{"P-INP-1 the messages but no activities", []string{"system id-1: be brief", "user id-2: hi"}, said(first)},
		{"P-INP-1 the answers of tools", []string{"system id-1: be brief", "user id-2: hi", "assistant a: ", "tool id-4: noon"}, said(second)},
		{"P-INP-1 the state", `{"n":1}`, first.State.String()},
		{"P-INP-1 the state as it was set", `[2]`, third.State.String()},
		{"P-INP-1 tools, with a function and without", []string{"now", "later"}, []string{first.Tools[0].Name, first.Tools[1].Name}},
		{"P-INP-1 a tool is as it was made", `{"name":"now","description":"the time","parameters":{"type":"object"}}`, marshaled(t, first.Tools[0])},
		{"P-INP-1 context", []event.Context{{Description: "locale", Value: "no"}}, first.Context},
		{"P-INP-1 forwardedProps of the call", `{"b":2}`, second.ForwardedProps.String()},
		{"P-INP-1 forwardedProps of the session", `{"a":1}`, third.ForwardedProps.String()},
		{"P-INP-1 no tools are an empty list, which older peers require", []event.Tool{}, third.Tools},
		{"P-INP-1 no context is an empty list, which older peers require", []event.Context{}, third.Context},
		{"P-INP-1 no resume", []event.ResumeEntry(nil), first.Resume},
	} {
		t.Run(row.rule, func(t *testing.T) { assert.Equal(t, row.want, row.got) })
	}
	t.Run("P-INP-1 a fresh runId", func(t *testing.T) {
		assert.NotEqual(t, first.RunID, second.RunID)
		assert.NotEqual(t, second.RunID, third.RunID)
	})
	t.Run("P-INP-1 absent forwardedProps are sent as {}, which older peers require", func(t *testing.T) {
		agent := script(says(begins, succeeds))
		_, err := client.NewSession(agent, nil).Send(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "{}", agent.inputs[0].ForwardedProps.String())
	})
}

// TestLinger holds that a turn does not wait for the end of a stream, and that what comes on it is still folded.
func TestLinger(t *testing.T) {
	const ms = time.Millisecond
	for _, row := range []struct {
		rule   string
		linger time.Duration
		turn   turn
		takes  time.Duration  // the turn
		status reducer.Status // of its result
		closed time.Duration  // when the stream is closed
		after  reducer.Status
		thread []string // after that
	}{
		{"a stream that ends", 0, says(begins, succeeds), 0, reducer.Succeeded, 0, reducer.Succeeded, nil},
		{"0 means 5 s", 0, then(says(begins, succeeds), waits), 2 * ms, reducer.Succeeded, 5002 * ms, reducer.Succeeded, nil},
		{"a duration", time.Second, then(says(begins, succeeds), waits), 2 * ms, reducer.Succeeded, 1002 * ms, reducer.Succeeded, nil},
		{"a run that continues is not bounded", time.Second, then(says(begins), pauses(time.Hour), says(succeeds)),
			time.Hour, reducer.Succeeded, time.Hour, reducer.Succeeded, nil},
		{"P-RUN-3 another run that follows at once is the turn's", time.Second, then(says(begins, succeeds, begins), pauses(time.Hour), says(text("m", "more"), fails)),
			time.Hour, reducer.Failed, time.Hour, reducer.Failed, []string{"assistant m: more"}},
		{"a RUN_ERROR that follows at once is the turn's", time.Second, then(says(begins, succeeds, fails), waits),
			2 * ms, reducer.Failed, 1002 * ms, reducer.Failed, nil},
		{"P-RUN-3 another run in time keeps the stream open", time.Second,
			then(says(begins, succeeds), pauses(500*ms), says(begins), pauses(time.Hour), says(text("m", "more"), succeeds)),
			2 * ms, reducer.Succeeded, time.Hour + 500*ms, reducer.Succeeded, []string{"assistant m: more"}},
		{"a late RUN_ERROR in time counts", time.Second, then(says(begins, succeeds), pauses(500*ms), says(fails)),
			2 * ms, reducer.Succeeded, 500 * ms, reducer.Failed, nil},
		{"what comes later does not count", time.Second, then(says(begins, succeeds), deafPause(2*time.Second), says(fails)),
			2 * ms, reducer.Succeeded, 2 * time.Second, reducer.Succeeded, nil},
		{"negative waits forever", -1, then(says(begins, succeeds), pauses(time.Hour), says(fails)), 2 * ms, reducer.Succeeded, time.Hour, reducer.Failed, nil},
		{"other events do not prolong it", time.Second, then(says(begins, succeeds), pauses(500*ms), says(`{"type":"NEWS"}`), pauses(750*ms), says(fails)),
			2 * ms, reducer.Succeeded, 1002 * ms, reducer.Succeeded, nil},
		{"other events do not prolong the turn", time.Second, func(ctx context.Context, in event.RunInput, emit func(...event.Event) error) error {
			step := then(says(begins, succeeds), pauses(0))
			for range 10000 {
				if err := step(ctx, in, emit); err != nil {
					return err
				}
				step = then(says(`{"type":"NEWS"}`), pauses(ms/8*5))
			}
			return nil
		}, 2 * ms, reducer.Succeeded, 1002 * ms, reducer.Succeeded, nil},
		{"another run has its own time", time.Second,
			then(says(begins, succeeds), pauses(750*ms), says(begins, succeeds), pauses(750*ms), says(fails)),
			2 * ms, reducer.Succeeded, 1500 * ms, reducer.Failed, nil},
		{"what comes is still judged", time.Second, then(says(begins, succeeds), pauses(500*ms), says(text("m", "more"))),
			2 * ms, reducer.Succeeded, 500 * ms, reducer.Rejected, nil},
	} {
		t.Run(row.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, warnings := warned(client.SessionOptions{Linger: row.linger})
				closed := make(chan struct{})
				s := client.NewSession(script(func(ctx context.Context, in event.RunInput, emit func(...event.Event) error) error {
					defer close(closed)
					return row.turn(ctx, in, emit)
				}), o)
				start := time.Now()
				res, _ := s.Send(t.Context())
				assert.Equal(t, row.takes, time.Since(start).Round(ms))
				assert.Equal(t, row.status, res.Status)
				assert.False(t, s.Snapshot().Phase.Busy())
				<-closed
				assert.Equal(t, row.closed, time.Since(start).Round(ms))
				synctest.Wait()
				assert.Equal(t, row.after, s.Thread().Status())
				assert.Equal(t, row.thread, shown(s.Thread()))
				assert.Same(t, res, s.Snapshot().Result)
				assert.Equal(t, client.PhaseIdle, s.Snapshot().Phase)
				for _, w := range *warnings {
					if row.after == reducer.Rejected {
						assert.Contains(t, w, "the stream was rejected after the run had ended")
					} else {
						assert.Contains(t, w, "NEWS", "lingering is worth no warning")
					}
				}
			})
		})
	}
}

// pauses is a turn that waits.
func pauses(d time.Duration) turn {
	return func(ctx context.Context, _ event.RunInput, _ func(...event.Event) error) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// deafPause is a turn that waits whatever its context does.
func deafPause(d time.Duration) turn {
	return func(context.Context, event.RunInput, func(...event.Event) error) error {
		time.Sleep(d)
		return nil
	}
}

func TestWarnings(t *testing.T) {
	broken := func(context.Context, event.RunInput, func(...event.Event) error) error { return errOwn }
	for _, row := range []struct {
		rule string
		turn turn
		want []string
	}{
		{"P-ENF-1 an event of unknown type", says(begins, `{"type":"NEWS"}`, succeeds), []string{"P-ENF-1 event 2 NEWS"}},
		{"P-ENF-2 an unknown property", says(begins, `{"type":"RUN_FINISHED","threadId":"t","runId":"r","mood":1}`), []string{"P-ENF-2 event 2 RUN_FINISHED /mood"}},
		{"P-VRS-1 a newer version", says(`{"type":"RUN_STARTED","threadId":"t","runId":"r","protocolVersion":"1.10"}`, succeeds), []string{"P-VRS-1 event 1 RUN_STARTED /protocolVersion"}},
		{"P-VRS-1 an invalid version", says(`{"type":"RUN_STARTED","threadId":"t","runId":"r","protocolVersion":"one"}`, succeeds), []string{"P-VRS-1 event 1 RUN_STARTED /protocolVersion"}},
		{"P-VRS-1 our own version is quiet", says(`{"type":"RUN_STARTED","threadId":"t","runId":"r","protocolVersion":"1.0"}`, succeeds), nil},
		{"P-VRS-1 an older version is quiet", says(`{"type":"RUN_STARTED","threadId":"t","runId":"r","protocolVersion":"0.9"}`, succeeds), nil},
		{"P-CMP-1 a retired shape", says(begins, `{"type":"THINKING_START"}`, `{"type":"THINKING_END"}`, succeeds), []string{"P-CMP-1 event 2 THINKING_START", "P-CMP-1 event 3 THINKING_END"}},
		{"a stream that breaks off after the run", then(says(begins, succeeds), broken), []string{"P-RUN-1: the stream broke off after the run had ended: the agent's own error"}},
		{"the warnings of a rejected event", says(begins, `{"type":"TEXT_MESSAGE_END","messageId":"x","mood":1}`), []string{"P-ENF-2 event 2 TEXT_MESSAGE_END /mood"}},
	} {
		t.Run(row.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // the stream ends in no time
				o, warnings := warned(client.SessionOptions{})
				_, _ = client.NewSession(script(row.turn), o).Send(t.Context())
				require.Len(t, *warnings, len(row.want), "%v", *warnings)
				for i, want := range row.want {
					assert.Contains(t, (*warnings)[i], want)
				}
			})
		})
	}
}

func TestStoppingBehindTheEndIsNoWarning(t *testing.T) {
	for name, stop := range map[string]func(*client.Session, context.CancelFunc) bool{
		"the caller's context": func(_ *client.Session, cancel context.CancelFunc) bool { cancel(); return true },
		"Stop":                 func(s *client.Session, _ context.CancelFunc) bool { halt(s); return true },
		"breaking out":         func(*client.Session, context.CancelFunc) bool { return false },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				o, warnings := warned(client.SessionOptions{})
				s := client.NewSession(script(then(says(begins, succeeds), waits)), o)
				for step, err := range s.Run(ctx, nil) {
					require.NoError(t, err)
					if step.Change.Kind == reducer.RunEnded && !stop(s, cancel) {
						break
					}
				}
				assert.NoError(t, s.Snapshot().Result.Err)
				assert.Equal(t, reducer.Succeeded, s.Snapshot().Result.Status)
				assert.Empty(t, *warnings)
			})
		})
	}
}

func TestUpgradeOnEveryPath(t *testing.T) {
	thinking := []any{begins, `{"type":"THINKING_START"}`, `{"type":"THINKING_TEXT_MESSAGE_START"}`,
		`{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"hm"}`, `{"type":"THINKING_TEXT_MESSAGE_END"}`, `{"type":"THINKING_END"}`, succeeds}
	recorded, err := io.ReadAll(streams(thinking...))
	require.NoError(t, err)
	for path, agent := range map[string]client.Agent{
		"a Go agent": script(says(thinking...)),
		"HTTP":       replies(200, "text/event-stream", streams(thinking...)).agent(client.HTTPOptions{}),
		"a recording": recording.NewReplay(func() (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(string(recorded))), nil
		}, nil),
	} {
		t.Run("P-CMP-1 P-PIPE-1 "+path, func(t *testing.T) {
			var seen []string
			o := quiet(client.SessionOptions{Middleware: []client.Middleware{func(next client.Agent) client.Agent {
				return rawAgent(func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
					return func(yield func(event.Event, error) bool) {
						for ev, err := range next.Run(ctx, in) {
							if err == nil {
								seen = append(seen, ev.Type().String())
							}
							if !yield(ev, err) {
								return
							}
						}
					}
				})
			}}})
			res, err := client.NewSession(agent, o).Send(t.Context())
			require.NoError(t, err)
			assert.Equal(t, []string{"reasoning r-thinking-2: hm"}, shown(res.Thread))
			assert.Equal(t, []string{"RUN_STARTED", "REASONING_START", "REASONING_MESSAGE_START", "REASONING_MESSAGE_CONTENT",
				"REASONING_MESSAGE_END", "REASONING_END", "RUN_FINISHED"}, seen, "middleware comes after the upgrade")
		})
	}
}

func TestThinkingOfRunsWithOneID(t *testing.T) {
	thinks := func(s string) turn {
		return says(begins, `{"type":"THINKING_TEXT_MESSAGE_START"}`, `{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"`+s+`"}`,
			`{"type":"THINKING_TEXT_MESSAGE_END"}`, succeeds)
	}
	forgets := func(next client.Agent) client.Agent {
		return rawAgent(func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
			in.Messages = in.Messages[len(in.Messages)-1:]
			return next.Run(ctx, in)
		})
	}
	own := says(begins, &event.ReasoningMessageStart{MessageID: "r-thinking-4"}, &event.ReasoningMessageEnd{MessageID: "r-thinking-4"}, succeeds)
	for name, middleware := range map[string][]client.Middleware{"the input has it": nil, "the session has it": {forgets}} {
		t.Run("D-3 "+name, func(t *testing.T) {
			var file bytes.Buffer
			agent := client.Record(recording.NewWriter(&file))(script(thinks("one"), thinks("two"), own, thinks("three"))) // records what is retired
			s := client.NewSession(agent, quiet(client.SessionOptions{NewID: counting(), Middleware: middleware}))
			for range 4 {
				_, err := s.Send(t.Context(), messages.UserText("?"))
				require.NoError(t, err)
			}
			var reasoning []string
			for _, m := range shown(s.Thread()) {
				if !strings.HasPrefix(m, "user") {
					reasoning = append(reasoning, m)
				}
			}
			assert.Equal(t, []string{"reasoning r-thinking-1: one", "reasoning r-thinking-2: two", "reasoning r-thinking-4: ", "reasoning r-thinking-5: three"}, reasoning)
			th, err := recording.Fold(&file, nil)
			require.NoError(t, err)
			assert.Equal(t, shown(s.Thread()), shown(th), "a replay folds to the same thread")
		})
	}
}

func TestMiddlewareOfASession(t *testing.T) {
	var order []string
	mark := func(name string) client.Middleware {
		return func(next client.Agent) client.Agent {
			return rawAgent(func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
				order = append(order, name+" "+in.ProtocolVersion.Or("none"))
				return next.Run(ctx, in)
			})
		}
	}
	agent := script(says(begins, succeeds))
	s := client.NewSession(agent, quiet(client.SessionOptions{Middleware: []client.Middleware{mark("first"), mark("second")}, PeerVersion: "0.0.57"}))
	_, err := s.Send(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"first 1.0", "second 1.0"}, order, "P-PIPE-3 the first one is outermost, the peer's version innermost")
	assert.Equal(t, messages.Opt[string]{}, agent.inputs[0].ProtocolVersion, "P-VRS-2 P-INP-1")
}

func TestSeveralRunsOnOneStream(t *testing.T) {
	agent := script(says(
		begins, text("m1", "one"), &event.RunFinished{ThreadID: "t", RunID: "r", Usage: []event.TokenUsage{{InputTokens: messages.Some(int64(1))}}},
		&event.RunStarted{ThreadID: "t", RunID: "r2"}, text("m2", "two"),
		&event.RunFinished{ThreadID: "t", RunID: "r2", Result: state.Int(2), Usage: []event.TokenUsage{{InputTokens: messages.Some(int64(2))}}},
	))
	inBubble("P-RUN-3 what the stream brings in no time is part of the turn", t, client.SessionOptions{}, agent, func(t *testing.T, s *client.Session) {
		res, err := s.Send(t.Context())
		require.NoError(t, err)
		assert.Equal(t, []string{"assistant m1: one", "assistant m2: two"}, shown(res.Thread))
		assert.Equal(t, 2, res.Thread.Runs.Len())
		assert.Equal(t, 1, res.Runs)
		assert.Equal(t, "2", res.Result.String())
		assert.Equal(t, []event.TokenUsage{{InputTokens: messages.Some(int64(3))}}, res.Usage)
		assert.Len(t, res.NewMessages, 2)
	})
}

func TestEachDeliveryIsSeenWithItsThread(t *testing.T) {
	for name, chunk := range map[string]string{
		"text":  `{"type":"TEXT_MESSAGE_CHUNK","messageId":"a","delta":"x"}`,
		"calls": `{"type":"TOOL_CALL_CHUNK","toolCallId":"a","toolCallName":"f","delta":"{}"}`,
	} {
		t.Run(name, func(t *testing.T) {
			s := client.NewSession(script(says(begins, chunk, `{"type":"MESSAGES_SNAPSHOT","messages":[]}`, succeeds)), quiet(client.SessionOptions{}))
			var held []int
			for d, err := range s.Run(t.Context(), nil) {
				require.NoError(t, err)
				th := s.Thread()
				held = append(held, th.Messages.Len())
				if i := d.Change.Index; i >= 0 {
					assert.Equal(t, "a", th.Messages.At(i).ID)
				}
			}
			assert.Equal(t, []int{0, 1, 1, 1, 0, 0}, held, "begin, start, content, end, snapshot, finish")
		})
	}
	t.Run("breaking out keeps the rest of the event, and subscribers see it", func(t *testing.T) {
		s := client.NewSession(script(says(begins, `{"type":"TEXT_MESSAGE_CHUNK","messageId":"a","delta":"x"}`, succeeds)), quiet(client.SessionOptions{}))
		snapshots := s.Subscribe(t.Context())
		for d := range s.Run(t.Context(), nil) {
			if d.Change.Kind == reducer.MessageAdded {
				break
			}
		}
		s.Close()
		assert.Equal(t, "x", s.Thread().Messages.At(0).Text())
		assert.Same(t, s.Thread(), last(snapshots).Thread)
	})
}
