package agenttest_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/agenttest"
	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// ignoring are options for agents that warn.
func ignoring() *client.SessionOptions {
	return &client.SessionOptions{OnWarning: func(event.Warning) {}}
}

func usage(total int64) agenttest.Line {
	return agenttest.Usage(event.TokenUsage{TotalTokens: messages.Some(total)})
}

// Each assertion passes if it is so, and otherwise ends the test with what differs and the conversation.
func TestAssertions(t *testing.T) {
	agent := agenttest.Script(
		agenttest.Think("Look it up."),
		agenttest.Call("weather", `{"city":"Oslo","days":[1,2]}`), agenttest.Result(`{"celsius":4}`),
		agenttest.Call("book", `{"flight":"SK1"}`),
		agenttest.SetState(map[string]any{"city": "Oslo", "n": 1}),
		agenttest.Subagent("critic", agenttest.Say("Short.")),
		usage(120),
		agenttest.Say("It is 4 °C."),
	)
	type check func(c *agenttest.Conversation)
	for _, test := range []struct {
		name      string
		good, bad check
		want      string // of the failure
	}{
		{"what was said",
			func(c *agenttest.Conversation) { c.Said("Short.", "It is 4 °C.") },
			func(c *agenttest.Conversation) { c.Said("It is 5 °C.") },
			`  + got  "Short."`},
		{"what was thought",
			func(c *agenttest.Conversation) { c.Thought("Look it up.") },
			func(c *agenttest.Conversation) { c.Thought() },
			`  + got  "Look it up."`},
		{"the tools",
			func(c *agenttest.Conversation) { c.Calls("weather", "book") },
			func(c *agenttest.Conversation) { c.Calls("weather") },
			`  + got  "book"`},
		{"a tool never called",
			func(c *agenttest.Conversation) { c.Call("book") },
			func(c *agenttest.Conversation) { c.Call("cook") },
			`the tool "cook" was never called`},
		{"an argument",
			func(c *agenttest.Conversation) { c.Call("weather").Arg("/days/1", 2.0) },
			func(c *agenttest.Conversation) { c.Call("weather").Arg("/city", "Rome") },
			`(the whole value): want "Rome", got "Oslo"`},
		{"an argument that is not there",
			func(c *agenttest.Conversation) { c.Call("weather").Arg("/days", []int{1, 2}) },
			func(c *agenttest.Conversation) { c.Call("weather").Arg("/town", "Oslo") },
			`no argument at /town`},
		{"all arguments",
			func(c *agenttest.Conversation) {
				c.Call("book").Args(struct {
					Flight string `json:"flight"`
				}{"SK1"})
			},
			func(c *agenttest.Conversation) { c.Call("book").Args(map[string]any{"flight": "SK2"}) },
			`/flight: want "SK2", got "SK1"`},
		{"arguments into a struct",
			func(c *agenttest.Conversation) {
				var args struct{ City string }
				c.Call("weather").Into(&args)
				assert.Equal(t, "Oslo", args.City)
			},
			func(c *agenttest.Conversation) { c.Call("weather").Into(new(struct{ City int })) },
			`the arguments do not fit`},
		{"a result",
			func(c *agenttest.Conversation) { c.Call("weather").Result(`{"celsius":4}`).ResultAt("/celsius", 4) },
			func(c *agenttest.Conversation) { c.Call("weather").ResultAt("/celsius", 5) },
			`(the whole value): want 5, got 4`},
		{"a result that is not there",
			func(c *agenttest.Conversation) { c.Call("book").Pending() },
			func(c *agenttest.Conversation) { c.Call("book").Result("ok") },
			`book({"flight":"SK1"}): the call has no result`},
		{"a pending call",
			func(c *agenttest.Conversation) { c.Call("book").Pending() },
			func(c *agenttest.Conversation) { c.Call("weather").Pending() },
			`the call does not pend: it is answered`},
		{"the status of a call",
			func(c *agenttest.Conversation) { c.Call("weather").Status(messages.ToolCallAnswered) },
			func(c *agenttest.Conversation) { c.Call("weather").Status(messages.ToolCallComplete) },
			`the call is answered, not complete`},
		{"the state",
			func(c *agenttest.Conversation) {
				c.State("/city", "Oslo").State("", map[string]any{"n": 1.0, "city": "Oslo"})
			},
			func(c *agenttest.Conversation) { c.State("", map[string]any{"city": "Oslo", "n": 2, "m": 3}) },
			"/m: want 3, got nothing\n  /n: want 2, got 1"},
		{"a place of the state that is not there",
			func(c *agenttest.Conversation) { c.NoState("/town") },
			func(c *agenttest.Conversation) { c.NoState("/city") },
			`the state has "Oslo" at /city`},
		{"the tree of subagents",
			func(c *agenttest.Conversation) { c.Subagents("critic succeeded") },
			func(c *agenttest.Conversation) { c.Subagents() },
			`+ got  "critic succeeded"`},
		{"usage",
			func(c *agenttest.Conversation) { c.UsageAtMost(120) },
			func(c *agenttest.Conversation) { c.UsageAtMost(119) },
			`120 tokens used, more than 119`},
		{"how it ended",
			func(c *agenttest.Conversation) { c.Ended(reducer.Succeeded) },
			func(c *agenttest.Conversation) { c.Ended(reducer.Failed) },
			`the run was succeeded, not failed`},
		{"the order of events",
			func(c *agenttest.Conversation) {
				c.InOrder(event.TypeToolCallEnd, event.TypeStateSnapshot, event.TypeRunFinished)
			},
			func(c *agenttest.Conversation) { c.InOrder(event.TypeStateSnapshot, event.TypeToolCallEnd) },
			`no TOOL_CALL_END in its place`},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.good(agenttest.Run(t, agent, "How warm?"))
			said := failure(t, func(r *recorder) { test.bad(agenttest.Run(r, agent, "How warm?")) })
			assert.Contains(t, said, test.want)
			assert.Contains(t, said, `user: "How warm?"`, "the failure shows the conversation")
		})
	}
}

func TestARunThatDoesNotEndWellFailsTheTest(t *testing.T) {
	for _, test := range []struct {
		name  string
		agent client.Agent
		want  string
	}{
		{"a violation", agenttest.Script(agenttest.Events(&event.TextMessageEnd{MessageID: "x"})), "P-VER"},
		{"a failure", agenttest.Script(agenttest.Fail("no tokens left")), "no tokens left"},
		{"a cut", agenttest.Script(agenttest.Say("Hel"), agenttest.Break(nil)), "the stream ended before the run did"},
		{"a cancellation", agenttest.Script(agenttest.Cancel()), "the run was cancelled"},
		{"a warning", agenttest.Script(agenttest.SetState(map[string]any{}), agenttest.Patch(`[{"op":"remove","path":"/a"}]`)), "P-STA-1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			assert.Contains(t, failure(t, func(r *recorder) { agenttest.Run(r, test.agent, "Hi") }), test.want)
		})
	}
}

func TestTryReturnsHowItEnded(t *testing.T) {
	c := agenttest.Start(t, agenttest.Script(agenttest.Fail("no tokens left")), nil)
	res, err := c.Try(&client.RunOptions{Messages: []*messages.Message{messages.UserText("Hi")}})
	require.Error(t, err)
	assert.Equal(t, reducer.Failed, res.Status)
	c.Ended(reducer.Failed)
}

func TestWarningsMayBeTheCallers(t *testing.T) {
	var got []event.Warning
	agent := agenttest.Script(agenttest.Patch(`[{"op":"remove","path":"/a"}]`), agenttest.Say("So what."))
	c := agenttest.Start(t, agent, &client.SessionOptions{OnWarning: func(w event.Warning) { got = append(got, w) }})
	c.Say("Hi").Said("So what.")
	assert.Len(t, got, 1)
	assert.Contains(t, failure(t, func(r *recorder) {
		agenttest.Start(r, agent, &client.SessionOptions{OnWarning: func(event.Warning) {}}).Say("Hi").NoWarnings()
	}), "1 warnings:\n  P-STA-1")
}

func TestAConversationAnswersItsTools(t *testing.T) {
	agent := agenttest.Script(agenttest.Branch(func(in event.RunInput) []agenttest.Line {
		if last := in.Messages[len(in.Messages)-1]; last.Role == messages.RoleTool {
			return []agenttest.Line{agenttest.Say("It is " + last.Text())}
		}
		return []agenttest.Line{agenttest.Call("weather", `{"city":"Oslo"}`)}
	}))
	type args struct {
		City string `json:"city"`
	}
	tool := client.NewTool("weather", "", func(context.Context, args) (any, error) { return "4 °C", nil })
	agenttest.Start(t, agent, &client.SessionOptions{Tools: []client.Tool{tool}}).Say("How warm?").Said("It is 4 °C")

	human := client.Tool{Tool: event.Tool{Name: "weather"}}
	c := agenttest.Start(t, agent, &client.SessionOptions{Tools: []client.Tool{human}}).Say("How warm?")
	c.Call("weather").Pending()
	c.Return("weather", "5 °C").Said("It is 5 °C")
}

// What an agent says must not reach the terminal that shows a failed test.
func TestFailuresAreSafeForATerminal(t *testing.T) {
	agent := agenttest.Script(agenttest.Call("\x1b[2Jname", "{\"\x1b\":1}"), agenttest.Say("\x1b]0;title\x07"),
		agenttest.SetState(map[string]any{"\u202e": "\u009b"}))
	for _, bad := range []func(*agenttest.Conversation){
		func(c *agenttest.Conversation) { c.Said("x") },
		func(c *agenttest.Conversation) { c.State("", 1) },
		func(c *agenttest.Conversation) { c.Call("\x1b[2Jname").Args(1) },
		func(c *agenttest.Conversation) { c.Calls() },
	} {
		said := failure(t, func(r *recorder) { bad(agenttest.Run(r, agent, "Hi")) })
		assert.NotContains(t, said, "\x1b")
		assert.NotContains(t, said, "\x07")
		assert.NotContains(t, said, "\u009b")
		assert.NotContains(t, said, "\u202e")
	}
}
