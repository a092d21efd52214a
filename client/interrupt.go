package client

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/state"
)

// ErrInterrupts is matched by every [*InterruptError].
var ErrInterrupts = errors.New("client: the interrupts are not answered as they must be")

// InterruptError says why a run may not be sent while interrupts pend: one of them has no answer, or an
// answer is not for any of them, comes twice, or comes too late (P-INT-1). Nothing was sent.
type InterruptError struct {
	ID     string // of the interrupt
	Reason string
}

// Error names the interrupt and the reason.
func (e *InterruptError) Error() string {
	return fmt.Sprintf("client: P-INT-1: interrupt %q %s; Session.Resume answers each one", e.ID, e.Reason)
}

// Unwrap makes it match [ErrInterrupts].
func (e *InterruptError) Unwrap() error { return ErrInterrupts }

// Answer is the answer to one interrupt, for [Session.Resume].
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

// Decline cancels an interrupt. Unlike resolving, that is possible after it expired.
func Decline(interruptID string) Answer {
	return Answer{entry: event.ResumeEntry{InterruptID: interruptID, Status: event.ResumeCancelled}}
}

// Entry returns the answer as a run's input carries it, for [RunOptions.Resume].
func (a Answer) Entry() (event.ResumeEntry, error) { return a.entry, a.err }

// AnswerAll makes the full list of answers that Resume needs: what answer returns for each interrupt. Of several
// interrupts with one id, which cannot be answered apart, it is asked about the first.
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

// DeclineAll cancels every interrupt.
func DeclineAll(interrupts []event.Interrupt) []Answer {
	return AnswerAll(interrupts, func(in event.Interrupt) Answer { return Decline(in.ID) })
}

// Expired reports whether an interrupt can no longer be resolved at the time now: its expiresAt, read as a
// date, is at or before it (P-INT-1). What cannot be read as a date never expires.
//
// A date is one of ISO 8601: a year, month or day, which begins at midnight UTC, or a day and a time of day,
// which is UTC if no offset follows. A space may stand in place of the T, and letters may be small.
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

// checkResume carries out P-INT-1 before anything is sent.
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
			return &InterruptError{e.InterruptID, "does not pend"}
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
