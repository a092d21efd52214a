package agenttest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// A Conversation is a test's conversation with an agent, and what can be asserted about it. It is for the test's own
// goroutine. Methods that assert end the test if what they say is not so, and return nothing or what is asserted next.
type Conversation struct {
	t       testerT
	ctx     context.Context
	session *client.Session
	last    *client.Result
	runs    [][]reducer.Delivery // of the last turn only, all its runs
	warned  bool                 // a warning is the caller's to judge

	mu       sync.Mutex // warnings and events come from the goroutine that runs
	warnings []event.Warning
	heard    []*heard
}

// Run starts a conversation and says texts in it, one after the other, as [Start] and [Conversation.Say] do.
func Run(t require.TestingT, agent client.Agent, texts ...string) *Conversation {
	tester(t).Helper()
	c := Start(t, agent, nil)
	for _, text := range texts {
		c.Say(text)
	}
	return c
}

// Start returns a conversation with agent in which nothing has been said. The session is strict (P-ENF-7) whatever o
// says. A warning fails the test unless o.OnWarning is set, which then gets it. Nil options mean the defaults of
// [client.NewSession]; o is copied.
//
// Runs are bound by the test's context if t has one, as a *testing.T has.
func Start(t require.TestingT, agent client.Agent, o *client.SessionOptions) *Conversation {
	c := &Conversation{t: tester(t), ctx: contextOf(t)}
	var own client.SessionOptions
	if o != nil {
		own = *o
	}
	own.Strict = true
	c.warned = own.OnWarning != nil
	told := own.OnWarning
	own.OnWarning = func(w event.Warning) {
		c.mu.Lock()
		c.warnings = append(c.warnings, w)
		c.mu.Unlock()
		if told != nil {
			told(w)
		}
	}
	own.Middleware = append(slices.Clone(own.Middleware), c.listen)
	c.session = client.NewSession(agent, &own)
	return c
}

// Session returns the session, for everything that a Conversation has no method for.
func (c *Conversation) Session() *client.Session { return c.session }

// Thread returns the thread as it is now.
func (c *Conversation) Thread() *reducer.Thread { return c.session.Thread() }

// Result returns how the last turn ended, nil before the first one.
func (c *Conversation) Result() *client.Result { return c.last }

// Say sends a user message and waits until the agent has answered, with the answers of the session's tools. The run
// must succeed or be interrupted.
func (c *Conversation) Say(text string) *Conversation {
	c.t.Helper()
	return c.Send(messages.UserText(text))
}

// Send is Say with messages of any kind, such as the answer to a call (messages.ToolResult), or none.
func (c *Conversation) Send(msgs ...*messages.Message) *Conversation {
	c.t.Helper()
	return c.must(c.Try(&client.RunOptions{Messages: msgs}))
}

// Answer resolves the only pending interrupt with payload; see client.Resolve. The run that follows must succeed or be
// interrupted.
func (c *Conversation) Answer(payload any) *Conversation {
	c.t.Helper()
	return c.must(c.Try(&client.RunOptions{Resume: []client.Answer{client.Resolve(c.interrupt(), payload)}}))
}

// Decline cancels the only pending interrupt. The run that follows must succeed or be interrupted.
func (c *Conversation) Decline() *Conversation {
	c.t.Helper()
	return c.must(c.Try(&client.RunOptions{Resume: []client.Answer{client.Decline(c.interrupt())}}))
}

// Return answers the only pending call of this tool, as a user or a program outside the session would. The run that
// follows must succeed or be interrupted.
func (c *Conversation) Return(tool, content string) *Conversation {
	c.t.Helper()
	var ids []string
	for call := range c.Thread().PendingToolCalls() {
		if call.Name == tool {
			ids = append(ids, call.ID)
		}
	}
	if len(ids) != 1 {
		c.fail(-1, "%d calls of %q are pending, not one", len(ids), tool)
	}
	return c.Send(messages.ToolResult(ids[0], content))
}

// Try runs the agent and returns how that ended, however it ended: the result is nil if nothing was sent.
func (c *Conversation) Try(o *client.RunOptions) (*client.Result, error) {
	c.runs = nil
	before := c.session.Snapshot().Result
	began := false
	var err error
	for d, failed := range c.session.Run(c.ctx, o) {
		if failed != nil {
			err = failed
			break
		}
		if !began || d.Change.Kind == reducer.RunBegan {
			began = true
			c.runs = append(c.runs, nil)
		}
		last := len(c.runs) - 1
		c.runs[last] = append(c.runs[last], reducer.Delivery{Event: d.Event, Ordinal: d.Ordinal, Change: d.Change})
	}
	now := c.session.Snapshot().Result
	if now == before {
		return nil, err // nothing was sent
	}
	c.last = now
	return c.last, err
}

// must ends the test unless a turn succeeded or was interrupted, without a warning.
func (c *Conversation) must(res *client.Result, err error) *Conversation {
	c.t.Helper()
	if err != nil {
		c.fail(-1, "the run did not end well: %v", err)
	}
	if res.Status != reducer.Succeeded && res.Status != reducer.Interrupted {
		c.fail(-1, "the run was %v", res.Status)
	}
	if !c.warned {
		c.NoWarnings()
	}
	return c
}

func (c *Conversation) interrupt() string {
	c.t.Helper()
	pending := c.Thread().Interrupts
	if len(pending) != 1 {
		c.fail(-1, "%d interrupts are pending, not one", len(pending))
	}
	return pending[0].ID
}

// fail ends the test: what is wrong, and the conversation around the message at index, or its end.
func (c *Conversation) fail(index int, format string, args ...any) {
	c.t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, format, args...)
	b.WriteString("\nThe conversation:\n")
	excerpt(&b, c.Thread(), index)
	c.t.Errorf("%s", b.String())
	c.t.FailNow()
}

// contextOf returns the test's context if it has one.
func contextOf(t require.TestingT) context.Context {
	if t, ok := t.(interface{ Context() context.Context }); ok {
		return t.Context()
	}
	return context.Background()
}

// testerT is a test whose helpers can be marked, so that a failure names the line of the test. Helper must be called by the
// helper itself.
type testerT interface {
	require.TestingT
	Helper()
}

// tester returns t, or, if it has no Helper, t with one that does nothing.
func tester(t require.TestingT) testerT {
	if t, ok := t.(testerT); ok {
		return t
	}
	return unmarked{t}
}

type unmarked struct{ require.TestingT }

func (unmarked) Helper() {}

// NoWarnings asserts that the conversation had no warning.
func (c *Conversation) NoWarnings() *Conversation {
	c.t.Helper()
	c.mu.Lock()
	warnings := slices.Clone(c.warnings)
	c.mu.Unlock()
	if len(warnings) > 0 {
		texts := make([]string, len(warnings))
		for i, w := range warnings {
			texts[i] = "  " + clean(w.String())
		}
		c.fail(-1, "%d warnings:\n%s", len(texts), strings.Join(texts, "\n"))
	}
	return c
}

// Ended asserts how the last run ended.
func (c *Conversation) Ended(want reducer.Status) *Conversation {
	c.t.Helper()
	if got := c.Thread().Status(); got != want {
		c.fail(-1, "the run was %v, not %v: %v", got, want, c.Thread().Err())
	}
	return c
}

// Said asserts the texts of the assistant messages that the last turn added, those without text left out.
func (c *Conversation) Said(want ...string) *Conversation {
	c.t.Helper()
	var got []string
	if c.last != nil {
		for _, m := range c.last.NewMessages {
			if text := m.Text(); m.Role == messages.RoleAssistant && text != "" {
				got = append(got, text)
			}
		}
	}
	if !slices.Equal(got, want) {
		c.fail(-1, "the agent said other things:\n%s", sideBySide(want, got))
	}
	return c
}

// Thought asserts the texts of the reasoning messages that the last turn added.
func (c *Conversation) Thought(want ...string) *Conversation {
	c.t.Helper()
	var got []string
	if c.last != nil {
		for _, m := range c.last.NewMessages {
			if m.Role == messages.RoleReasoning {
				got = append(got, m.Text())
			}
		}
	}
	if !slices.Equal(got, want) {
		c.fail(-1, "the agent thought other things:\n%s", sideBySide(want, got))
	}
	return c
}

// InOrder asserts that the events of the last turn contain these types in this order, others between them or not.
// Chunks count as the events that they are expanded to (P-CHK-2).
func (c *Conversation) InOrder(types ...event.Type) *Conversation {
	c.t.Helper()
	var got []string
	left := types
	for _, run := range c.runs {
		for _, d := range run {
			if d.Event == nil {
				continue
			}
			got = append(got, d.Event.Type().String())
			if len(left) > 0 && d.Event.Type() == left[0] {
				left = left[1:]
			}
		}
	}
	if len(left) > 0 {
		c.fail(-1, "no %v in its place; the events are:\n  %s", left[0], strings.Join(compress(got), "\n  "))
	}
	return c
}

// UsageAtMost asserts that the last turn reported its token usage, and at most this many tokens in all.
func (c *Conversation) UsageAtMost(tokens int64) *Conversation {
	c.t.Helper()
	var used int64
	reported := false
	if c.last != nil {
		for _, u := range c.last.Usage {
			total, ok := u.TotalTokens.Get()
			if !ok {
				total = u.InputTokens.Or(0) + u.OutputTokens.Or(0)
				ok = u.InputTokens.IsSet() || u.OutputTokens.IsSet()
			}
			reported = reported || ok
			used += total
		}
	}
	switch {
	case !reported:
		c.fail(-1, "the agent reported no token usage")
	case used > tokens:
		c.fail(-1, "%d tokens used, more than %d", used, tokens)
	}
	return c
}

// Subagents asserts the tree of subagents: a line for each, with its name and status, indented by two spaces a level.
func (c *Conversation) Subagents(want ...string) *Conversation {
	c.t.Helper()
	var got []string
	tree := c.Thread().Subagents
	for depth, n := range tree.Walk() {
		name := n.Name
		if !n.Announced {
			name = "(never announced)"
		}
		got = append(got, strings.Repeat("  ", depth)+name+" "+n.Status.String())
	}
	if !slices.Equal(got, want) {
		c.fail(-1, "the tree of subagents differs:\n%s", sideBySide(want, got))
	}
	return c
}
