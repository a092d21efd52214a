package reducer

import (
	"errors"

	"github.com/agfold/agfold/chunks"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/messages"
)

// intake receives the events of a stream: it decodes, expands and counts them, and collects their warnings.
type intake struct {
	decoder   *event.Decoder
	expander  *chunks.Expander
	onWarning func(event.Warning)

	ordinal  int           // of the event being applied
	expanded []event.Event // what it expands to
	next     int           // the place in expanded of the next one to apply
	typ      event.Type    // of the one being applied
	fault    error         // the error of the event
	warnings []event.Warning
}

// take takes the next event. After the end of a run data that is not an event is dropped (P-PIPE-2).
func (in *intake) take(ev event.Event, ended bool) {
	in.ordinal++
	in.expanded, in.next, in.fault, in.warnings = in.expanded[:0], 0, nil, in.warnings[:0]
	if f, ok := ev.(event.Frame); ok && ended && f.Err() != nil {
		in.typ = event.TypeUnknown
		in.report(event.Warning{Rule: "P-PIPE-2", Text: "dropped, because the run has ended: " + f.Err().Error()})
		return
	}
	if ev, in.fault = in.decode(ev); in.fault != nil || ev == nil {
		return
	}
	in.typ = ev.Type()
	expanded, err := in.expander.Expand(in.expanded, ev)
	in.expanded = expanded
	if err != nil {
		in.fault = in.unexpandable(err)
	}
}

// decode judges a frame, or an event made in Go, and returns nil if it is dropped.
func (in *intake) decode(ev event.Event) (event.Event, error) {
	frame, ok := ev.(event.Frame)
	if !ok {
		in.typ = event.TypeUnknown
		if ev != nil {
			in.typ = ev.Type()
		}
		if err := event.Check(ev); err != nil {
			return nil, in.placed(err)
		}
		return ev, nil
	}
	in.typ = frame.Type()
	for _, w := range frame.Warnings() {
		in.report(w)
	}
	typed, warnings, err := in.decoder.Decode(frame)
	for _, w := range warnings {
		in.report(w)
	}
	return typed, in.placed(err)
}

// placed sets the ordinal of a malformed event.
func (in *intake) placed(err error) error {
	malformed, ok := errors.AsType[*messages.MalformedError](err)
	if !ok {
		return err
	}
	placed := *malformed
	placed.Ordinal = in.ordinal
	return &placed
}

// unexpandable returns the violation that an error of package chunks is.
func (in *intake) unexpandable(err error) error {
	var ce *chunks.Error
	if !errors.As(err, &ce) {
		return err
	}
	placed := *ce
	placed.Ordinal = in.ordinal
	lane := "of " + codec.Owner(ce.Lane.RunID())
	if ce.ID != "" {
		lane = quote(ce.ID) + " " + lane
	}
	return &Violation{
		Rule: ce.Rule, Ordinal: in.ordinal, Type: ce.Type, ID: ce.ID, Reason: ce.Reason + " (" + lane + ")", cause: &placed,
	}
}

// warn reports something about the event being applied that the protocol tolerates.
func (in *intake) warn(rule, path, text string) {
	in.report(event.Warning{Rule: rule, Type: in.typ.String(), Path: path, Text: text})
}

func (in *intake) report(w event.Warning) {
	w.Ordinal = in.ordinal
	in.warnings = append(in.warnings, w)
	if in.onWarning != nil {
		in.onWarning(w)
	}
}

// violation makes the error of the event being applied.
func (in *intake) violation(rule, id, reason string) error {
	return &Violation{Rule: rule, Ordinal: in.ordinal, Type: in.typ, ID: id, Reason: reason}
}
