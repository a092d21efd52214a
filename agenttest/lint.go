package agenttest

import (
	"context"
	"iter"
	"strings"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/lint"
	"github.com/agfold/agfold/reducer"
)

// heard is one run of a conversation as it came.
type heard struct {
	in     event.RunInput
	events []event.Event
}

// listen is a middleware that keeps what the agent sends.
func (c *Conversation) listen(next client.Agent) client.Agent {
	return client.AgentFunc(func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
		return func(yield func(event.Event, error) bool) {
			run := &heard{in: in}
			c.mu.Lock()
			c.heard = append(c.heard, run)
			c.mu.Unlock()
			for ev, err := range next.Run(ctx, in) {
				if err == nil {
					c.mu.Lock()
					run.events = append(run.events, ev)
					c.mu.Unlock()
				}
				if !yield(ev, err) {
					return
				}
			}
		}
	})
}

// Clean asserts that the linter finds nothing in the agent's events but notes; docs/lint.md lists the checks. Nil options
// mean the defaults; Options.Off leaves checks out.
func (c *Conversation) Clean(o *lint.Options) *Conversation {
	c.t.Helper()
	var found []string
	for _, f := range c.findings(o) {
		if f.Level != lint.LevelNote {
			found = append(found, "  "+clean(f.String()))
		}
	}
	if len(found) > 0 {
		c.fail(-1, "the linter found:\n%s", strings.Join(found, "\n"))
	}
	return c
}

// findings lints what came.
func (c *Conversation) findings(o *lint.Options) []lint.Finding {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := lint.New(o)
	var r *reducer.Reducer
	for _, run := range c.heard {
		options := &reducer.Options{Input: &run.in}
		if r == nil {
			r = reducer.New(options)
		} else {
			l.End(r.End(nil))
			r.Next(options)
		}
		l.Head()
		for i, ev := range run.events {
			l.Event(ev, i+1, -1)
			for d, err := range r.Deliver(ev) {
				if err != nil {
					break // the thread says why
				}
				l.Deliver(d, r.Thread)
			}
		}
	}
	if r != nil {
		l.End(r.End(nil))
	}
	return l.Findings()
}
