package main

import (
	"context"
	"strings"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/cmd/agfold/internal/form"
	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/state"
)

// decide finds an answer to each interrupt: that of --input, of --answer, of --yes or --no, or of whoever
// sits at the terminal. asked tells whether somebody was asked. If one has no answer, complete is false.
// The entries are parallel to distinct(pending).
func (c *conversation) decide(ctx context.Context, pending []event.Interrupt) (entries []event.ResumeEntry, asked, complete bool) {
	for _, in := range distinct(pending) {
		entry, ok := c.given(in)
		if !ok && c.stage.asks {
			asked = true
			entry, ok = c.ask(ctx, in)
		}
		if !ok {
			return nil, asked, false
		}
		entries = append(entries, entry)
	}
	return entries, asked, true
}

// distinct returns the first interrupt of each id: an agent that repeats one gets one answer.
func distinct(pending []event.Interrupt) []event.Interrupt {
	var first []event.Interrupt
	seen := make(map[string]bool, len(pending))
	for _, in := range pending {
		if !seen[in.ID] {
			seen[in.ID] = true
			first = append(first, in)
		}
	}
	return first
}

// given is an answer that came with the command line.
func (c *conversation) given(in event.Interrupt) (event.ResumeEntry, bool) {
	for _, entry := range c.answers {
		if entry.InterruptID == in.ID {
			return entry, true
		}
	}
	for _, reply := range c.replies {
		if text, ok := strings.CutPrefix(reply, in.ID+"="); ok {
			c.used[reply] = true
			if v, err := state.Parse([]byte(text)); err == nil {
				return resolve(in.ID, v), true
			}
			if text == declined {
				return decline(in.ID), true
			}
		}
	}
	if c.f.yes {
		yes, ok := form.New(in.ResponseSchema).Yes()
		return resolve(in.ID, yes), ok
	}
	if c.f.no {
		if no, ok := form.New(in.ResponseSchema).No(); ok {
			return resolve(in.ID, no), true
		}
		return decline(in.ID), true
	}
	return event.ResumeEntry{}, false
}

// declined is what an --answer says that declines.
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

func resolve(id string, payload state.Value) event.ResumeEntry {
	if payload.Kind() == state.KindNull {
		payload = state.Value{} // null is no payload (P-NULL-1)
	}
	return event.ResumeEntry{InterruptID: id, Status: event.ResumeResolved, Payload: payload}
}

func decline(id string) event.ResumeEntry {
	return event.ResumeEntry{InterruptID: id, Status: event.ResumeCancelled}
}

// showReplies writes how interrupts are answered without anybody being asked.
func (c *conversation) showReplies(pending []event.Interrupt, entries []event.ResumeEntry) {
	view := c.style.View(c.session.Thread())
	for i, in := range distinct(pending) {
		answer := declined
		if entries[i].Status == event.ResumeResolved {
			answer = orText(entries[i].Payload.String(), "resolved")
		}
		c.print.Print(view.Interrupt(in).Plus(term.Sprintf("  → %s\n", answer)))
	}
}

// ask asks on the terminal. It returns false if nobody answers.
func (c *conversation) ask(ctx context.Context, in event.Interrupt) (event.ResumeEntry, bool) {
	c.t.tell(term.Lit("\n").Plus(c.style.View(c.session.Thread()).Interrupt(in)))
	if client.Expired(in, c.t.now()) {
		c.t.say("It has expired and can only be declined.")
	}
	payload, ok, err := form.New(in.ResponseSchema).Ask(func(text string) { c.t.say("%s", text) },
		func(prompt string) (string, error) { return c.readLine(ctx, prompt) })
	switch {
	case err != nil:
		c.t.say("")
		return event.ResumeEntry{}, false
	case !ok:
		return decline(in.ID), true
	}
	return resolve(in.ID, payload), true
}

// explain says how to answer interrupts that were not.
func (c *conversation) explain(pending []event.Interrupt) {
	what := "The run was interrupted. To answer it, go on"
	var again strings.Builder
	again.WriteString("agfold run")
	if c.name == c.f.url {
		again.WriteString(" --url " + quoteArg(c.name))
	}
	if c.f.record == "" {
		what = "The run was interrupted. To answer beforehand, use --yes, --no or --answer; to answer later, record it with --record FILE and go on"
	}
	again.WriteString(" --continue " + quoteArg(orText(c.f.record, "FILE")) + " --record " + quoteArg(orText(c.f.record, "FILE")))
	for _, in := range distinct(pending) {
		again.WriteString(" --answer " + quoteArg(in.ID+"="+form.New(in.ResponseSchema).Example()))
	}
	c.t.say("agfold: %s:", what)
	c.t.say("    %s", again.String())
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
