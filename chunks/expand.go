package chunks

import (
	"errors"
	"iter"
	"slices"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

// Expand returns the stream with its chunks expanded, for users who want complete events without a thread.
// Frames are decoded and typed events checked first, so that only valid events are expanded (P-PIPE-1).
// Retired shapes must be upgraded before, with [event.Upgrader]. onWarning is called with each warning
// that the frames carry or that decoding them makes; nil ignores warnings.
//
// An error comes alone and last: an [*Error], an [*messages.MalformedError], both with the event's ordinal
// in events, or the error that events yields. The expansion of a failing event is not yielded.
// When events ends, the result ends, and a stream under assembly then gets no end event (P-CHK-7).
// Leaving the loop ends the loop over events. The result may be iterated as often as events may.
func Expand(events iter.Seq2[event.Event, error], onWarning func(event.Warning)) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		decoder, x := event.NewDecoder(nil), new(Expander)
		var expanded []event.Event
		ordinal := 0
		for ev, err := range events {
			if err != nil {
				yield(nil, err)
				return
			}
			ordinal++
			judged, err := judge(decoder, ev, ordinal, onWarning)
			if err == nil && judged != nil {
				expanded, err = x.Expand(expanded, judged)
			}
			if err != nil {
				yield(nil, at(err, ordinal))
				return
			}
			for _, e := range expanded {
				if !yield(e, nil) {
					return
				}
			}
			clear(expanded)
			expanded = expanded[:0]
		}
	}
}

// judge carries out enforcement. It returns nil for an event that is dropped.
func judge(decoder *event.Decoder, ev event.Event, ordinal int, onWarning func(event.Warning)) (event.Event, error) {
	frame, ok := ev.(event.Frame)
	if !ok {
		return ev, event.Check(ev)
	}
	judged, warnings, err := decoder.Decode(frame)
	if onWarning != nil {
		for _, w := range slices.Concat(frame.Warnings(), warnings) {
			w.Ordinal = ordinal
			onWarning(w)
		}
	}
	return judged, err
}

// at returns err with the ordinal filled in.
func at(err error, ordinal int) error {
	if e, ok := errors.AsType[*Error](err); ok {
		e.Ordinal = ordinal
	}
	if e, ok := errors.AsType[*messages.MalformedError](err); ok {
		e.Ordinal = ordinal
	}
	return err
}
