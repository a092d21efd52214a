package client

import (
	"fmt"
	"strings"
	"time"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// InterruptError says why a run cannot be sent while interrupts are pending: one of them has no answer, or an answer
// names none of them, comes twice, or comes too late (P-INT-1). Nothing was sent.
type InterruptError struct {
	ID     string // of the interrupt
	Reason string
}

// Error names the interrupt and the reason.
func (e *InterruptError) Error() string {
	return fmt.Sprintf("P-INT-1: interrupt %q %s; Session.Resume answers each one", e.ID, e.Reason)
}

// PendingCallError says that a run cannot be sent because calls of offered tools wait for the caller's answers: a tool
// message for each, see [messages.ToolResult] (P-RUN-2). Nothing was sent. With [DeclineUnanswered] the calls are
// declined instead.
type PendingCallError struct {
	Calls []*messages.ToolCall // all of them, in the order of the thread; at least one
}

// Error names the calls and their tools, the first ten of them.
func (e *PendingCallError) Error() string {
	var names []string
	for i, tc := range e.Calls {
		if i == 10 {
			names = append(names, fmt.Sprintf("and %d more", len(e.Calls)-i))
			break
		}
		names = append(names, fmt.Sprintf("%q of %q", tc.ID, tc.Name))
	}
	return "P-RUN-2: calls have no answer: " + strings.Join(names, ", ") + "; send each as a tool message"
}

// Answer is the answer to one interrupt, for [Session.Resume] and [RunOptions.Resume]. [Resolve] and [Decline] make one.
type Answer struct {
	entry event.ResumeEntry
	err   error
}

// Resolve answers an interrupt with a payload: a [state.Value], or anything that encoding/json can encode, or
// nil for none. An error of the encoding is what Resume returns.
func Resolve(interruptID string, payload any) Answer {
	a := Answer{entry: event.ResumeEntry{InterruptID: interruptID, Status: event.ResumeResolved}}
	if payload != nil {
		a.entry.Payload, a.err = state.Of(payload)
	}
	return a
}

// Decline cancels an interrupt. That is possible even after it has expired.
func Decline(interruptID string) Answer {
	return Answer{entry: event.ResumeEntry{InterruptID: interruptID, Status: event.ResumeCancelled}}
}

// AnswerEntry returns the answer that an entry of a run's input is, such as one of a stored input.
func AnswerEntry(e event.ResumeEntry) Answer { return Answer{entry: e} }

// AnswerAll returns the answers that Resume needs: what answer returns for each interrupt. Several interrupts with one id
// cannot be answered separately; answer is called with the first of them.
func AnswerAll(interrupts []event.Interrupt, answer func(event.Interrupt) Answer) []Answer {
	answers := make([]Answer, 0, len(interrupts))
	asked := make(map[string]bool, len(interrupts))
	for _, in := range interrupts {
		if !asked[in.ID] {
			asked[in.ID] = true
			answers = append(answers, answer(in))
		}
	}
	return answers
}

// Expired reports whether an interrupt can no longer be resolved at the time now: its expiresAt, read as a
// date, is at or before it (P-INT-1). What cannot be read as a date never expires.
//
// A date is one of ISO 8601: a year, month or day, which begins at midnight UTC, or a day and a time of day,
// which is UTC if no offset follows. A space may replace the T, and letters may be lower case.
func Expired(in event.Interrupt, now time.Time) bool {
	at, ok := in.ExpiresAt.Get()
	if !ok {
		return false
	}
	at = strings.ToUpper(strings.TrimSpace(at))
	if day, clock, ok := strings.Cut(at, " "); ok {
		at = day + "T" + strings.ReplaceAll(clock, " ", "")
	}
	for _, layout := range dateLayouts {
		if t, err := time.Parse(layout, at); err == nil {
			return !t.After(now)
		}
	}
	return false
}

// dateLayouts are the forms of a date. A fraction may follow the seconds in each.
var dateLayouts = [...]string{
	time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05Z07",
	"2006-01-02T15:04Z07:00", "2006-01-02T15:04", "2006-01-02T15:04Z0700", "2006-01-02T15:04Z07",
	time.DateOnly, "2006-01", "2006",
}

// checkResume checks P-INT-1, before anything is sent.
func checkResume(pending []event.Interrupt, entries []event.ResumeEntry, now time.Time) error {
	open := make(map[string]event.Interrupt, len(pending))
	for _, in := range pending {
		open[in.ID] = in
	}
	answered := make(map[string]bool, len(entries))
	for _, e := range entries {
		in, known := open[e.InterruptID]
		switch {
		case !known:
			return &InterruptError{e.InterruptID, "is not pending"}
		case answered[e.InterruptID]:
			return &InterruptError{e.InterruptID, "has two answers"}
		case e.Status == event.ResumeResolved && Expired(in, now):
			return &InterruptError{e.InterruptID, "expired at " + in.ExpiresAt.Or("") + " and can only be cancelled"}
		case e.Status != event.ResumeResolved && e.Status != event.ResumeCancelled:
			return &InterruptError{e.InterruptID, fmt.Sprintf("has an answer of the unknown status %q", e.Status)}
		}
		answered[e.InterruptID] = true
	}
	for _, in := range pending {
		if !answered[in.ID] {
			return &InterruptError{in.ID, "has no answer"}
		}
	}
	return nil
}
