package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/cmd/agfold/internal/transcript"
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
	q := questionOf(in.ResponseSchema)
	switch {
	case c.f.yes && q.takes("y"):
		v, _ := q.read("y")
		return resolve(in.ID, v), true
	case c.f.no && q.kind == askYesNo:
		v, _ := q.read("n")
		return resolve(in.ID, v), true
	case c.f.no:
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
	var entry event.ResumeEntry
	if payload.Kind() == state.KindNull || !payload.Exists() {
		entry, _ = client.Resolve(id, nil).Entry() // null is no payload (P-NULL-1)
	} else {
		entry, _ = client.Resolve(id, payload).Entry()
	}
	return entry
}

func decline(id string) event.ResumeEntry {
	entry, _ := client.Decline(id).Entry()
	return entry
}

// replies writes how interrupts are answered without anybody being asked.
func (p *printer) replies(pending []event.Interrupt, entries []event.ResumeEntry) {
	for i, in := range distinct(pending) {
		answer := declined
		if entries[i].Status == event.ResumeResolved {
			answer = orText(entries[i].Payload.String(), "resolved")
		}
		p.write("\n" + p.style.Interrupt(in) + transcript.CleanLine("  → "+answer) + "\n")
	}
}

// ask asks on the terminal, again until the answer fits. It returns false if nobody answers.
func (c *conversation) ask(ctx context.Context, in event.Interrupt) (event.ResumeEntry, bool) {
	q := questionOf(in.ResponseSchema)
	io.WriteString(c.t.stderr, "\n"+c.style.Interrupt(in))
	if client.Expired(in, c.t.now()) {
		c.t.say("It has expired and can only be declined.")
	}
	for {
		fmt.Fprintf(c.t.stderr, "%s (empty declines): ", q.prompt())
		text, err := c.readLine(ctx)
		if err != nil {
			c.t.say("")
			return event.ResumeEntry{}, false
		}
		if strings.TrimSpace(text) == "" {
			return decline(in.ID), true
		}
		v, err := q.read(text)
		if err == nil {
			return resolve(in.ID, v), true
		}
		c.t.say("%v", err)
	}
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
		again.WriteString(" --answer " + quoteArg(in.ID+"="+questionOf(in.ResponseSchema).example()))
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

// askKind is how a question can be answered.
type askKind uint8

const (
	askAnything askKind = iota // there is no schema: yes or no, JSON, or a text
	askYesNo
	askChoice
	askText
	askNumber
	askJSON
)

// question is what a response schema asks for, as far as it can be answered in a word.
type question struct {
	kind    askKind
	member  string // the answer becomes this member of an object
	wrapped bool
	choices []state.Value
	schema  state.Value
}

// questionOf looks for the one scalar that a schema asks for, be it alone or the only member of an object.
func questionOf(schema state.Value) question {
	q := question{schema: schema}
	switch typ, _ := schema.Get("type").AsString(); {
	case schema.Len() == 0:
	case schema.Get("enum").Len() > 0:
		q.kind = askChoice
		for _, v := range schema.Get("enum").Elements() {
			q.choices = append(q.choices, v)
		}
	case typ == "boolean":
		q.kind = askYesNo
	case typ == "string":
		q.kind = askText
	case typ == "number" || typ == "integer":
		q.kind = askNumber
	default:
		q.kind = askJSON
		members := schema.Get("properties")
		if typ != "object" || members.Len() != 1 {
			break
		}
		for name, inner := range members.Members() {
			if in := questionOf(inner); in.kind != askJSON && in.kind != askAnything && !in.wrapped {
				in.member, in.wrapped, in.schema = name, true, schema
				return in
			}
		}
	}
	return q
}

// prompt says how the question is answered.
func (q question) prompt() string {
	switch q.kind {
	case askYesNo:
		return "y or n"
	case askChoice:
		var names []string
		for i, v := range q.choices {
			names = append(names, fmt.Sprintf("%d = %s", i+1, word(v)))
		}
		return strings.Join(names, ", ")
	case askText:
		return "your answer"
	case askNumber:
		return "a number"
	case askJSON:
		return "JSON that fits the schema"
	}
	return "y, n, JSON or a text"
}

// word is how a choice is typed.
func word(v state.Value) string {
	if s, ok := v.AsString(); ok {
		return s
	}
	return v.String()
}

// example is an answer that fits, or shows the form.
func (q question) example() string {
	v := state.Bool(true)
	switch q.kind {
	case askChoice:
		v = q.choices[0]
	case askText:
		v = state.String("...")
	case askNumber:
		v = state.Int(1)
	case askJSON:
		return "JSON"
	}
	return q.wrap(v).String()
}

func (q question) wrap(v state.Value) state.Value {
	if q.wrapped {
		return state.Object(state.Member{Key: q.member, Value: v})
	}
	return v
}

// takes reports whether a text answers the question.
func (q question) takes(text string) bool {
	_, err := q.read(text)
	return err == nil && (q.kind == askYesNo || q.kind == askAnything)
}

// read makes an answer of what was typed.
func (q question) read(text string) (state.Value, error) {
	typed := strings.TrimSpace(text)
	v, err := state.Parse([]byte(typed))
	isJSON := err == nil
	yes, isYesNo := yesNo(typed)
	switch q.kind {
	case askYesNo:
		if !isYesNo {
			return state.Value{}, fmt.Errorf("answer y or n")
		}
		v = state.Bool(yes)
	case askChoice:
		i := slices.IndexFunc(q.choices, func(c state.Value) bool { return strings.EqualFold(word(c), typed) })
		if n, err := strconv.Atoi(typed); i < 0 && err == nil {
			i = n - 1
		}
		if i < 0 || i >= len(q.choices) {
			return state.Value{}, fmt.Errorf("answer one of %s", q.prompt())
		}
		v = q.choices[i]
	case askText:
		v = state.String(text)
	case askNumber:
		if !isJSON || v.Kind() != state.KindNumber {
			return state.Value{}, fmt.Errorf("answer a number")
		}
	case askJSON:
		if !isJSON {
			return state.Value{}, fmt.Errorf("that is no JSON: %v", err)
		}
	default:
		switch {
		case isYesNo:
			v = state.Bool(yes)
		case !isJSON:
			v = state.String(text)
		}
	}
	v = q.wrap(v)
	return v, q.validate(v)
}

func yesNo(s string) (yes, ok bool) {
	switch strings.ToLower(s) {
	case "y", "yes", "true":
		return true, true
	case "n", "no", "false":
		return false, true
	}
	return false, false
}

// validate reports how an answer does not fit the schema. A schema that cannot be used lets everything pass.
func (q question) validate(v state.Value) error {
	if q.schema.Len() == 0 {
		return nil
	}
	var schema jsonschema.Schema
	if err := q.schema.Unmarshal(&schema); err != nil {
		return nil
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return nil
	}
	var instance any
	if err := v.Unmarshal(&instance); err != nil {
		return err
	}
	if err := resolved.Validate(instance); err != nil {
		return fmt.Errorf("that does not fit the schema: %w", err)
	}
	return nil
}
