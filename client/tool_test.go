package client_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
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

type weatherArgs struct {
	City string `json:"city" jsonschema:"where to look"`
	Days int    `json:"days,omitempty"`
}

func weather(fn func(context.Context, weatherArgs) (any, error)) client.Tool {
	return client.NewTool("weather", "The weather in a city", fn)
}

// does is a tool with a function of no arguments.
func does(name string, fn func(ctx context.Context) (any, error)) client.Tool {
	return client.Tool{Tool: event.Tool{Name: name}, Call: func(ctx context.Context, _ *messages.ToolCall) (any, error) { return fn(ctx) }}
}

func TestNewToolSchema(t *testing.T) {
	tool := weather(nil)
	assert.Equal(t, "weather", tool.Name)
	assert.Equal(t, "The weather in a city", tool.Description)
	want := `{"type":"object","required":["city"],"additionalProperties":false,"properties":{
		"city":{"type":"string","description":"where to look"},"days":{"type":"integer"}}}`
	assert.True(t, parsed(t, want).Equal(tool.Parameters), "%s", tool.Parameters)

	none := client.NewTool("now", "", func(context.Context, struct{}) (any, error) { return nil, nil })
	assert.True(t, parsed(t, `{"type":"object","additionalProperties":false}`).Equal(none.Parameters), "%s", none.Parameters)
}

type cyclic struct{ Next *cyclic }

// ask lets an agent call tools in its first run, and returns how the conversation continued.
func ask(t *testing.T, o client.SessionOptions, called ...[]event.Event) (*client.Result, *scripted, error) {
	first := []any{begins}
	for _, c := range called {
		first = append(first, c)
	}
	agent := script(says(append(first, succeeds)...), says(begins, text("m", "thanks"), succeeds))
	res, err := client.NewSession(agent, quiet(o)).Send(t.Context())
	return res, agent, err
}

// onlyAnswer returns the one tool message that the second run's input carries.
func onlyAnswer(t *testing.T, agent *scripted) *messages.Message {
	t.Helper()
	require.Len(t, agent.inputs, 2)
	var found []*messages.Message
	for _, m := range agent.inputs[1].Messages {
		if m.Role == messages.RoleTool {
			found = append(found, m)
		}
	}
	require.Len(t, found, 1)
	return found[0]
}

func TestToolArguments(t *testing.T) {
	for _, row := range []struct {
		rule, args string
		want       string // what the function is called with, or what is wrong
		bad        bool
	}{
		{"arguments that fit reach the function", `{"city":"Oslo","days":2}`, "{Oslo 2}", false},
		{"what is optional may be absent", `{"city":"Oslo"}`, "{Oslo 0}", false},
		{"what is required is missing", `{"days":2}`, "city", true},
		{"empty arguments are an empty object", ``, "city", true},
		{"a value of the wrong type", `{"city":7}`, "city", true},
		{"a property that is not described", `{"city":"Oslo","mood":1}`, "mood", true},
		{"not an object", `["Oslo"]`, "object", true},
		{"null", `null`, "object", true},
		{"not JSON", `{"city":`, "JSON", true},
		{"a number that the field cannot hold", `{"city":"Oslo","days":1e300}`, "days", true},
	} {
		t.Run(row.rule, func(t *testing.T) {
			called := false
			_, agent, err := ask(t, client.SessionOptions{Tools: []client.Tool{weather(func(_ context.Context, a weatherArgs) (any, error) {
				called = true
				return fmt.Sprint(a), nil
			})}}, calls("c1", "weather", row.args))
			require.NoError(t, err, "bad arguments are an answer")
			m := onlyAnswer(t, agent)
			assert.Equal(t, !row.bad, called)
			failure, failed := m.Error.Get()
			assert.Equal(t, row.bad, failed)
			if row.bad {
				assert.Equal(t, m.Text(), failure)
				assert.Contains(t, failure, "invalid arguments for weather: ")
			}
			assert.Contains(t, m.Text(), row.want)
		})
	}
	t.Run("the error is an *ArgumentsError with the cause", func(t *testing.T) {
		tool := weather(nil)
		_, err := tool.Call(t.Context(), &messages.ToolCall{Name: "weather", Arguments: "{"})
		var bad *client.ArgumentsError
		require.ErrorAs(t, err, &bad)
		assert.Equal(t, "weather", bad.Tool)
		var syntax *state.SyntaxError
		assert.ErrorAs(t, err, &syntax)
	})
}

// sayable is an error whose text panics.
type sayable struct{ text *string }

func (e *sayable) Error() string { return *e.text }

type unencodable struct{}

func (unencodable) MarshalJSON() ([]byte, error) { panic("no JSON of me") }

func TestToolAnswers(t *testing.T) {
	part := messages.TextPart("a part")
	for _, row := range []struct {
		rule    string
		result  any
		err     error
		content messages.Content
		failure string // part of it; "" for none
	}{
		{rule: "a string is the content as it is", result: `say "hi"`, content: messages.Text(`say "hi"`)},
		{rule: "an empty string is an empty content", result: "", content: messages.Text("")},
		{rule: "a Content is the content as it is", result: messages.Parts(part), content: messages.Parts(part)},
		{rule: "an absent Content is an empty one", result: messages.Content{}, content: messages.Text("")},
		{rule: "parts are the content as they are", result: []messages.Part{part}, content: messages.Parts(part)},
		{rule: "no parts are an empty list", result: []messages.Part(nil), content: messages.Parts()},
		{rule: "nil is JSON", result: nil, content: messages.Text("null")},
		{rule: "a number is JSON", result: 7, content: messages.Text("7")},
		{rule: "a struct is JSON", result: weatherArgs{City: "Oslo"}, content: messages.Text(`{"city":"Oslo"}`)},
		{rule: "a state value is JSON", result: state.Array(state.Int(1)), content: messages.Text(`[1]`)},
		{rule: "an error is an answer", err: errors.New("no such city"), content: messages.Text("no such city"), failure: "no such city"},
		{rule: "an error wins over a result", result: "x", err: errors.New("no such city"), content: messages.Text("no such city"), failure: "no such city"},
		{rule: "an error whose text panics is an answer", err: (*sayable)(nil), failure: "the tool panicked: runtime error"},
		{rule: "what cannot be encoded is an answer", result: math.NaN(), failure: "the tool's result cannot be encoded"},
		{rule: "a function is not a result", result: func() {}, failure: "the tool's result cannot be encoded"},
		{rule: "an encoding that panics is an answer", result: unencodable{}, failure: "the tool panicked: no JSON of me"},
		{rule: "P-ENF-4 malformed parts are an answer and not the end of the conversation",
			result: []messages.Part{messages.MediaPart(messages.PartImage, messages.Source{Type: messages.SourceData, Value: "AA=="})}, failure: "the tool's result cannot be sent"},
		{rule: "P-ENF-3 parts of an unknown kind are an answer", result: []messages.Part{{Type: "smell"}}, failure: "the tool's result cannot be sent"},
	} {
		t.Run(row.rule, func(t *testing.T) {
			res, agent, err := ask(t, client.SessionOptions{Tools: []client.Tool{does("go", func(context.Context) (any, error) {
				return row.result, row.err
			})}}, calls("c1", "go", ""))
			require.NoError(t, err)
			assert.Equal(t, 2, res.Runs)
			assert.Empty(t, res.PendingToolCalls)
			m := onlyAnswer(t, agent)
			assert.Equal(t, "c1", m.ToolCallID)
			assert.NotEmpty(t, m.ID)
			failure, failed := m.Error.Get()
			assert.Equal(t, row.failure != "", failed)
			assert.Contains(t, failure, row.failure)
			if failed {
				assert.Equal(t, messages.Text(failure), m.Content)
			}
			if row.content.Exists() {
				assert.Equal(t, row.content, m.Content)
			}
			require.NoError(t, event.Check(&event.MessagesSnapshot{Messages: res.Thread.Messages.Slice()}))
		})
	}
	for rule, row := range map[string]struct {
		fn   func()
		want string
	}{
		"a panic is an answer":                   {func() { panic("ouch") }, "the tool panicked: ouch"},
		"the end of the goroutine is an answer":  {func() { runtime.Goexit() }, "the tool ended without a result"},
		"a panic with a nil value is an answer":  {func() { panic(nil) }, "the tool panicked: "},
		"a panic with an error is an answer too": {func() { panic(errOwn) }, "the tool panicked: the agent's own error"},
	} {
		t.Run(rule, func(t *testing.T) {
			_, agent, err := ask(t, client.SessionOptions{Tools: []client.Tool{does("go", func(context.Context) (any, error) {
				row.fn()
				return "fine", nil
			})}}, calls("c1", "go", ""))
			require.NoError(t, err)
			assert.Contains(t, onlyAnswer(t, agent).Error.Or("none"), row.want)
		})
	}
}

func TestToolRounds(t *testing.T) {
	noon := does("now", func(context.Context) (any, error) { return "noon", nil })
	asksFor := func(id string) turn { return says(begins, calls(id, "now", ""), succeeds) }
	endless := func(n int) *scripted {
		a := script()
		for i := range n {
			a.turns = append(a.turns, asksFor(fmt.Sprint("c", i)))
		}
		return a
	}
	t.Run("until nothing is pending", func(t *testing.T) {
		agent := script(asksFor("c1"), asksFor("c2"), says(begins, text("m", "late"), succeeds))
		res, err := client.NewSession(agent, quiet(client.SessionOptions{Tools: []client.Tool{noon}})).Send(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 3, res.Runs)
		assert.Equal(t, []string{"assistant a: ", "tool id-3: noon", "tool id-5: noon", "assistant m: late"}, shown(res.Thread))
	})
	for _, row := range []struct {
		rule      string
		maxRounds int
		runs      int
		err       error
	}{
		{"MaxRounds 0 means 16", 0, 17, client.ErrRounds},
		{"MaxRounds 2", 2, 3, client.ErrRounds},
		{"a negative MaxRounds never answers", -1, 1, nil},
	} {
		t.Run(row.rule, func(t *testing.T) {
			res, err := client.NewSession(endless(20), quiet(client.SessionOptions{MaxRounds: row.maxRounds, Tools: []client.Tool{noon}})).Send(t.Context())
			assert.Equal(t, row.err, err)
			assert.Equal(t, row.runs, res.Runs)
			require.Len(t, res.PendingToolCalls, 1, "the caller may still answer")
			assert.Equal(t, fmt.Sprint("c", row.runs-1), res.PendingToolCalls[0].ID)
		})
	}
	t.Run("calls without a function stay pending, the others are answered", func(t *testing.T) {
		agent := script(says(begins, calls("c1", "mine", ""), calls("c2", "now", ""), calls("c3", "schemaOnly", ""), succeeds), says(begins, text("m", "ok"), succeeds))
		s := client.NewSession(agent, quiet(client.SessionOptions{Tools: []client.Tool{noon, {Tool: event.Tool{Name: "schemaOnly"}}}}))
		res, err := s.Send(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 1, res.Runs)
		require.Len(t, res.PendingToolCalls, 2)
		assert.Equal(t, "c1", res.PendingToolCalls[0].ID)
		assert.Equal(t, "c3", res.PendingToolCalls[1].ID)
		assert.Equal(t, messages.ToolCallAnswered, res.Thread.Messages.At(0).ToolCalls.At(1).Status)

		res, err = s.Send(t.Context(), messages.ToolResult("c1", "one"), messages.ToolResult("c3", "three"))
		require.NoError(t, err)
		assert.Empty(t, res.PendingToolCalls)
		assert.Equal(t, []string{"assistant a: ", "tool id-3: noon", "tool id-4: one", "tool id-5: three", "assistant m: ok"}, shown(res.Thread), "P-TOL-3")
	})
	for _, row := range []struct {
		rule string
		end  event.Event
	}{
		{"P-INT-1 a call that an interrupt is about waits for its answer", asks(event.Interrupt{ID: "i1", Reason: "approval", ToolCallID: messages.Some("c1")})},
		{"a cancelled run's calls are not run", cancels},
		{"a failed run's calls are not run", fails},
	} {
		t.Run(row.rule, func(t *testing.T) {
			called := false
			agent := script(says(begins, calls("c1", "now", ""), row.end))
			res, _ := client.NewSession(agent, quiet(client.SessionOptions{Tools: []client.Tool{does("now", func(context.Context) (any, error) {
				called = true
				return nil, nil
			})}})).Send(t.Context())
			assert.Equal(t, 1, res.Runs)
			assert.False(t, called)
		})
	}
	t.Run("P-RUN-2 the calls that the agent names, each once, known and unanswered", func(t *testing.T) {
		n := 0
		agent := script(
			says(begins, calls("c1", "count", ""), calls("c2", "count", ""), calls("c3", "count", ""),
				&event.ToolCallResult{MessageID: "x", ToolCallID: "c2", Content: messages.Text("done")},
				finishes(event.Outcome{Type: event.OutcomeSuccess, PendingToolCallIDs: []string{"c1", "c1", "c2", "nobody's"}})),
			says(begins, succeeds))
		res, err := client.NewSession(agent, quiet(client.SessionOptions{Tools: []client.Tool{does("count", func(context.Context) (any, error) {
			n++
			return n, nil
		})}})).Send(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 1, n)
		assert.Empty(t, res.PendingToolCalls)
	})
	t.Run("the answer belongs to who called", func(t *testing.T) {
		sub := messages.SubagentOwner("s1")
		agent := script(says(begins, &event.SubagentStarted{Attribution: event.By(sub), Name: "s"},
			&event.ToolCallStart{ToolCallID: "c1", ToolCallName: "now", Attribution: event.By(sub)}, &event.ToolCallEnd{ToolCallID: "c1", Attribution: event.By(sub)},
			&event.SubagentFinished{Attribution: event.By(sub)}, succeeds), says(begins, succeeds))
		_, err := client.NewSession(agent, quiet(client.SessionOptions{Tools: []client.Tool{noon}})).Send(t.Context())
		require.NoError(t, err)
		assert.Equal(t, sub, onlyAnswer(t, agent).Owner)
	})
	t.Run("the first tool of a name with a function counts", func(t *testing.T) {
		_, agent, err := ask(t, client.SessionOptions{Tools: []client.Tool{{Tool: event.Tool{Name: "now"}}, noon,
			does("now", func(context.Context) (any, error) { return "midnight", nil })}}, calls("c1", "now", ""))
		require.NoError(t, err)
		assert.Equal(t, "noon", onlyAnswer(t, agent).Text())
	})
	t.Run("raw arguments come as they are", func(t *testing.T) {
		_, agent, err := ask(t, client.SessionOptions{Tools: []client.Tool{{
			Tool: event.Tool{Name: "raw", Parameters: parsed(t, `{"type":"object"}`)},
			Call: func(_ context.Context, call *messages.ToolCall) (any, error) { return call.ID + call.Arguments, nil },
		}}}, calls("c1", "raw", `no JSON {`))
		require.NoError(t, err)
		assert.Equal(t, "c1no JSON {", onlyAnswer(t, agent).Text())
	})
}

func TestToolConsent(t *testing.T) {
	for _, row := range []struct {
		rule    string
		approve func(context.Context, *messages.ToolCall) error
		called  bool
		want    string
	}{
		{"nil approves", func(context.Context, *messages.ToolCall) error { return nil }, true, "noon"},
		{"an error declines, and the agent gets its text", func(context.Context, *messages.ToolCall) error { return errors.New("not now") }, false, "not now"},
		{"a panic declines", func(context.Context, *messages.ToolCall) error { panic("ouch") }, false, "asking for consent panicked: ouch"},
		{"it sees the call", func(_ context.Context, c *messages.ToolCall) error { return errors.New(c.ID + c.Name) }, false, "c1now"},
	} {
		t.Run(row.rule, func(t *testing.T) {
			called := false
			_, agent, err := ask(t, client.SessionOptions{Approve: row.approve, Tools: []client.Tool{does("now", func(context.Context) (any, error) {
				called = true
				return "noon", nil
			})}}, calls("c1", "now", ""))
			require.NoError(t, err)
			assert.Equal(t, row.called, called)
			m := onlyAnswer(t, agent)
			assert.Equal(t, row.want, m.Text())
			assert.Equal(t, !row.called, m.Error != messages.Opt[string]{})
		})
	}
	t.Run("a time-out bounds the tool and not the consent", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			tool := does("now", func(context.Context) (any, error) { return "noon", nil })
			tool.Timeout = time.Second
			_, agent, err := ask(t, client.SessionOptions{Tools: []client.Tool{tool}, Approve: func(context.Context, *messages.ToolCall) error {
				time.Sleep(time.Hour)
				return nil
			}}, calls("c1", "now", ""))
			require.NoError(t, err)
			assert.Equal(t, "noon", onlyAnswer(t, agent).Text())
		})
	})
}

func TestToolTimeout(t *testing.T) {
	for _, row := range []struct {
		rule string
		fn   func(ctx context.Context) (any, error)
		want string
	}{
		{"a function that obeys its context", func(ctx context.Context) (any, error) { <-ctx.Done(); return nil, ctx.Err() }, "now did not answer within 1s"},
		{"a function that does not", func(context.Context) (any, error) { time.Sleep(time.Hour); return "late", nil }, "now did not answer within 1s"},
		{"a function in time", func(context.Context) (any, error) { time.Sleep(time.Second / 2); return "noon", nil }, "noon"},
		{"a function that makes something of it", func(ctx context.Context) (any, error) { <-ctx.Done(); return nil, errors.New("gave up") }, "now did not answer within 1s"},
	} {
		t.Run(row.rule, func(t *testing.T) {
			for range 20 { // whichever of the two is looked at first
				synctest.Test(t, func(t *testing.T) {
					tool := does("now", row.fn)
					tool.Timeout = time.Second
					start := time.Now()
					_, agent, err := ask(t, client.SessionOptions{Tools: []client.Tool{tool}}, calls("c1", "now", ""))
					require.NoError(t, err)
					assert.LessOrEqual(t, time.Since(start), time.Second)
					assert.Equal(t, row.want, onlyAnswer(t, agent).Text())
					time.Sleep(2 * time.Hour) // a function that ignores its context keeps its goroutine
				})
			}
		})
	}
}

func TestToolsSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var called [][]event.Event
		for i := range 40 {
			called = append(called, calls(fmt.Sprint("c", i), "slow", fmt.Sprint(40-i)))
		}
		var running, most atomic.Int64
		start := time.Now()
		res, agent, err := ask(t, client.SessionOptions{Tools: []client.Tool{{
			Tool: event.Tool{Name: "slow"},
			Call: func(_ context.Context, call *messages.ToolCall) (any, error) {
				most.Store(max(most.Load(), running.Add(1)))
				defer running.Add(-1)
				d, err := time.ParseDuration(call.Arguments + "ms")
				time.Sleep(time.Second + d)
				return call.ID, err
			},
		}}}, called...)
		require.NoError(t, err)
		assert.EqualValues(t, 16, most.Load())
		assert.Less(t, time.Since(start), 4*time.Second)
		assert.Equal(t, 2, res.Runs)
		var order []string
		for _, m := range agent.inputs[1].Messages {
			if m.Role == messages.RoleTool {
				order = append(order, m.ToolCallID+m.Text())
			}
		}
		require.Len(t, order, 40)
		for i, got := range order {
			assert.Equal(t, strings.Repeat(fmt.Sprint("c", i), 2), got, "answers come in the order of the calls")
		}
	})
}

func TestCancelWhileToolsRun(t *testing.T) {
	for _, row := range []struct {
		rule string
		stop func(*client.Session, context.CancelFunc)
		want error
	}{
		{"by the caller", func(_ *client.Session, cancel context.CancelFunc) { cancel() }, context.Canceled},
		{"by Stop", func(s *client.Session, _ context.CancelFunc) { halt(s) }, client.ErrStopped},
		{"by Close", func(s *client.Session, _ context.CancelFunc) { s.Close() }, client.ErrStopped},
	} {
		t.Run(row.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				agent := script(says(begins, calls("c1", "fast", ""), calls("c2", "obeys", ""), calls("c3", "deaf", ""), succeeds))
				s := client.NewSession(agent, quiet(client.SessionOptions{Tools: []client.Tool{
					does("fast", func(context.Context) (any, error) { return "quick", nil }),
					does("obeys", func(ctx context.Context) (any, error) { <-ctx.Done(); return nil, ctx.Err() }),
					does("deaf", func(context.Context) (any, error) { time.Sleep(time.Hour); return "late", nil }),
				}}))
				go func() {
					synctest.Wait()
					row.stop(s, cancel)
				}()
				start := time.Now()
				res, err := s.Send(ctx)
				assert.Zero(t, time.Since(start), "a function that ignores its context is not waited for")
				assert.ErrorIs(t, err, row.want)
				assert.Equal(t, err, res.Err)
				assert.Equal(t, reducer.Succeeded, res.Status)
				assert.Equal(t, []string{"assistant a: ", "tool id-3: quick"}, shown(res.Thread), "what is there stays")
				require.Len(t, res.PendingToolCalls, 2, "the rest pends")
				assert.Equal(t, []string{"c2", "c3"}, s.Thread().PendingToolCallIDs())
				assert.Len(t, agent.inputs, 1)
				time.Sleep(2 * time.Hour)
				assert.Equal(t, []string{"assistant a: ", "tool id-3: quick"}, shown(s.Thread()), "what comes too late is not used")
			})
		})
	}
}

func TestCancelWhileCallsWaitForTheirTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := []any{begins}
		for i := range 40 {
			events = append(events, calls(fmt.Sprint("c", i), "slow", ""))
		}
		var called atomic.Int64
		s := client.NewSession(script(says(append(events, succeeds)...)), quiet(client.SessionOptions{Tools: []client.Tool{
			does("slow", func(ctx context.Context) (any, error) {
				called.Add(1)
				<-ctx.Done()
				return nil, ctx.Err()
			}),
		}}))
		go func() {
			synctest.Wait()
			halt(s)
		}()
		res, err := s.Send(t.Context())
		assert.ErrorIs(t, err, client.ErrStopped)
		assert.EqualValues(t, 16, called.Load(), "those that had no turn are not called")
		assert.Len(t, res.PendingToolCalls, 40)
	})
}

func TestToolsUseTheSession(t *testing.T) {
	var s *client.Session
	var busy error
	s = client.NewSession(script(says(begins, calls("c1", "look", ""), succeeds), says(begins, succeeds)), quiet(client.SessionOptions{
		Approve: func(context.Context, *messages.ToolCall) error {
			s.Thread()
			return nil
		},
		Tools: []client.Tool{does("look", func(ctx context.Context) (any, error) {
			_, busy = s.Send(ctx, messages.UserText("again"))
			return s.Thread().Messages.Len(), nil
		})},
	}))
	res, err := s.Send(t.Context())
	require.NoError(t, err)
	assert.ErrorIs(t, busy, client.ErrBusy)
	assert.Equal(t, []string{"assistant a: ", "tool id-4: 1"}, shown(res.Thread))
}

func TestNewToolWantsAnObject(t *testing.T) {
	for name, row := range map[string]struct {
		tool client.Tool
		bad  string
	}{
		"a channel":        {client.NewTool("t", "", func(context.Context, struct{ C chan int }) (any, error) { return nil, nil }), "chan"},
		"a function":       {client.NewTool("t", "", func(context.Context, func()) (any, error) { return nil, nil }), "func"},
		"a recursive type": {client.NewTool("t", "", func(context.Context, cyclic) (any, error) { return nil, nil }), "cycle"},
		"a string":         {client.NewTool("t", "", func(context.Context, string) (any, error) { return nil, nil }), "want a struct or map"},
		"any":              {client.NewTool("t", "", func(context.Context, any) (any, error) { return nil, nil }), "want a struct or map"},
		"a struct":         {client.NewTool("t", "", func(context.Context, struct{}) (any, error) { return nil, nil }), ""},
		"a map":            {client.NewTool("t", "", func(context.Context, map[string]int) (any, error) { return nil, nil }), ""},
	} {
		t.Run(name, func(t *testing.T) {
			agent := script(says(begins, succeeds), says(begins, succeeds))
			s := client.NewSession(agent, quiet(client.SessionOptions{Tools: []client.Tool{row.tool}}))
			_, err := s.Send(t.Context())
			if row.bad == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, `tool "t": `)
			assert.ErrorContains(t, err, row.bad)
			assert.Empty(t, agent.inputs)
			require.NoError(t, s.SetTools())
			_, err = s.Send(t.Context())
			assert.NoError(t, err)
		})
	}
}
