package main

import (
	"context"
	"slices"
	"strings"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/cmd/agfold/internal/form"
	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// question is what the agent waits for: the answer to an interrupt, or to a call of a tool that agfold cannot call.
type question struct {
	id        string
	interrupt event.Interrupt
	call      *messages.ToolCall // nil for an interrupt
	holder    *messages.Message  // of the call

	declined bool
	payload  state.Value // the answer, unless declined; absent for none
}

// questions returns what must be answered before the thread continues (P-INT-1, P-RUN-2). An agent that repeats an id
// gets one answer for it. A call that an interrupt is about waits for the interrupt's answer.
func (c *conversation) questions(th *reducer.Thread) []*question {
	var all []*question
	add := func(q *question) {
		if !slices.ContainsFunc(all, func(o *question) bool { return o.id == q.id && (o.call == nil) == (q.call == nil) }) {
			all = append(all, q)
		}
	}
	for _, in := range th.Interrupts {
		add(&question{id: in.ID, interrupt: in})
	}
	var named []string // by the agent
	if run := th.LastRun(); run != nil {
		named = run.Outcome.PendingToolCallIDs
	}
	for tc, m := range th.PendingToolCalls() {
		about := func(in event.Interrupt) bool { return in.ToolCallID == messages.Some(tc.ID) }
		offered, called := c.offers(tc.Name)
		if !called && (offered || slices.Contains(named, tc.ID)) && !slices.ContainsFunc(th.Interrupts, about) {
			add(&question{id: tc.ID, call: tc, holder: m})
		}
	}
	return all
}

// offers reports whether a tool is offered to the agent, and whether agfold itself calls it.
func (c *conversation) offers(name string) (offered, called bool) {
	for _, tool := range c.tools {
		if tool.Name == name {
			offered, called = true, called || tool.Call != nil
		}
	}
	return offered, called
}

// answer finds an answer to each question: that of --input, of --answer, of --yes or --no, or of the person at the
// terminal. asked reports whether a person was asked, and complete whether each question has an answer.
func (c *conversation) answer(ctx context.Context, questions []*question) (asked, complete bool) {
	for _, q := range questions {
		if ctx.Err() != nil {
			return asked, false
		}
		if c.given(q) {
			continue
		}
		if !c.stage.asks {
			return asked, false
		}
		asked = true
		if !c.ask(ctx, q) {
			return asked, false
		}
	}
	return asked, true
}

// given finds an answer that came with the command line.
func (c *conversation) given(q *question) bool {
	if q.call == nil {
		for _, entry := range c.answers {
			if entry.InterruptID == q.id {
				q.declined, q.payload = entry.Status == event.ResumeCancelled, entry.Payload
				return true
			}
		}
	}
	for _, reply := range c.replies {
		if text, ok := strings.CutPrefix(reply, q.id+"="); ok {
			c.used[reply] = true
			if v, err := state.Parse([]byte(text)); err == nil {
				q.payload = v
				return true
			}
			if text == declined {
				q.declined = true
				return true
			}
		}
	}
	switch {
	case c.f.Yes && q.call == nil:
		yes, ok := form.New(q.interrupt.ResponseSchema).Yes()
		q.payload = yes
		return ok
	case c.f.No:
		no, ok := form.New(q.interrupt.ResponseSchema).No()
		q.payload, q.declined = no, q.call != nil || !ok
		return true
	}
	return false
}

// declined is the value of an --answer that declines.
const declined = "decline"

// isReply reports whether an --answer is ID=JSON or ID=decline for some ID.
func isReply(reply string) bool {
	for i, c := range reply {
		if c != '=' {
			continue
		}
		if _, err := state.Parse([]byte(reply[i+1:])); err == nil || reply[i+1:] == declined {
			return true
		}
	}
	return false
}

// ask asks on the terminal. It returns false if there is no answer.
func (c *conversation) ask(ctx context.Context, q *question) bool {
	c.t.tell(term.Lit("\n").Plus(c.show(q)))
	if q.call == nil && client.Expired(q.interrupt, c.t.now()) {
		c.t.say("It has expired and can only be declined.")
	}
	var err error
	if q.call == nil {
		var ok bool
		q.payload, ok, err = form.New(q.interrupt.ResponseSchema).Ask(func(text string) { c.t.say("%s", text) },
			func(prompt string) (string, error) { return c.readLine(ctx, prompt) })
		q.declined = !ok
	} else {
		var result string
		result, err = c.readLine(ctx, "the tool's result (empty declines): ")
		q.payload, q.declined = state.String(result), strings.TrimSpace(result) == ""
	}
	if err != nil {
		c.t.say("")
	}
	return err == nil
}

// show draws the question.
func (c *conversation) show(q *question) term.Text {
	view := c.style.View(c.session.Thread())
	if q.call == nil {
		return view.Interrupt(q.interrupt)
	}
	m := *q.holder
	m.Content, m.ToolCalls = messages.Content{}, messages.NewList(q.call)
	return view.Message(&m)
}

// showAnswers writes the answers to questions that no person was asked.
func (c *conversation) showAnswers(questions []*question) {
	for _, q := range questions {
		text := declined
		if !q.declined {
			text = orText(q.payload.String(), "resolved")
		}
		c.print.Print(c.show(q).Plus(term.Sprintf("  → %s\n", text)))
	}
}

// addTo adds the answer to the options of the next run.
func (q *question) addTo(o *client.RunOptions) {
	switch {
	case q.call == nil:
		answer := client.Resolve(q.id, nil)
		if q.declined {
			answer = client.Decline(q.id)
		} else if codec.Given(q.payload) { // null means no payload (P-NULL-1)
			answer = client.Resolve(q.id, q.payload)
		}
		o.Resume = append(o.Resume, answer)
	case q.declined:
		const text = "the user declined to answer"
		m := messages.ToolResult(q.id, text)
		m.Owner, m.Error = q.holder.Owner, messages.Some(text)
		o.Messages = append(o.Messages, m)
	default:
		text, isText := q.payload.AsString()
		if !isText {
			text = q.payload.String()
		}
		m := messages.ToolResult(q.id, text)
		m.Owner = q.holder.Owner
		o.Messages = append(o.Messages, m)
	}
}

// example returns an answer as --answer takes it.
func (q *question) example() string {
	if q.call != nil {
		return `"..."`
	}
	return form.New(q.interrupt.ResponseSchema).Example()
}

// explain says what the agent waits for and how to answer it.
func (c *conversation) explain() {
	questions := c.questions(c.session.Thread())
	if len(questions) == 0 {
		return
	}
	for _, q := range questions {
		if q.call != nil {
			c.t.say("agfold: the call %s of the tool %s waits for an answer", q.id, q.call.Name)
		} else {
			c.t.say("agfold: the interrupt %s waits for an answer", q.id)
		}
	}
	file := c.f.Record
	if file == "" && c.session.Snapshot().Result == nil { // nothing is new
		file = c.f.Continue
	}
	if file == "" {
		hint := "agfold: To answer, run it again with --record FILE"
		if !c.f.Yes && !c.f.No {
			hint += ", or with --yes / --no"
		}
		c.t.say("%s", hint)
		return
	}
	c.t.say("agfold: To answer, continue:")
	c.t.say("    %s", c.again(file, questions))
}

// again returns the command line that continues a recorded thread with answers to the questions. Headers may be secret:
// only their names are in it.
func (c *conversation) again(file string, questions []*question) string {
	args := []string{"agfold run"}
	add := func(flag, value string) {
		if value != "" {
			args = append(args, flag, quoteArg(value))
		}
	}
	if c.f.URL != "" {
		add("--url", c.f.URL)
		for _, h := range c.f.Header {
			name, _, _ := strings.Cut(h, ":")
			add("--header", name+": …")
		}
		if c.f.Clock {
			args = append(args, "--clock")
		}
	}
	add("--peer", c.f.Peer)
	if c.f.Strict {
		args = append(args, "--strict")
	}
	if c.f.Lenient {
		args = append(args, "--lenient")
	}
	add("--tools", c.f.Tools)
	add("--continue", file)
	add("--record", c.f.Record)
	for _, q := range questions {
		add("--answer", q.id+"="+q.example())
	}
	return strings.Join(args, " ")
}

func orText(s, def string) string {
	if s == "" {
		return def
	}
	return s
}

// quoteArg writes an argument as a shell reads it.
func quoteArg(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune("'\"\\$`!*?[](){}<>|&;~#=%", r) && r != '='
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
