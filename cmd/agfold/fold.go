package main

import (
	"errors"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/recording"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// fold makes one thread of a recording. A stream of events is one reducer's; in agfold's own recordings,
// where a head begins every run, each run is a stream of its own that goes on with the thread. Ordinals
// count through the file.
type fold struct {
	strict bool
	warn   func(event.Warning)

	reducer  *reducer.Reducer
	upgrader *event.Upgrader
	final    bool // the stream at hand was rejected
	seen     int  // events of the file
	base     int  // events before the stream at hand
}

// begin starts with what the first run was asked with, which may be nil.
func (f *fold) begin(in *event.RunInput, warnings []event.Warning) {
	f.report(warnings)
	f.start(&reducer.Options{Input: in})
}

func (f *fold) start(o *reducer.Options) {
	o.Strict = f.strict
	f.reducer, f.upgrader = reducer.New(o), event.NewUpgrader()
	f.base, f.final = f.seen, false
}

func (f *fold) report(warnings []event.Warning) {
	for _, w := range warnings {
		f.warn(w)
	}
}

// next goes on with the next run of a recording: what its input adds to the thread was the user's doing,
// and its state is what the run began with.
func (f *fold) next(head *recording.Head) {
	th := *f.end(nil, false)
	f.report(head.Warnings)
	if in := head.Input; in != nil {
		known := map[[2]string]bool{}
		for _, m := range th.Messages.All() {
			known[key(m)] = true
		}
		var added []*messages.Message
		for _, m := range in.Messages {
			if !known[key(m)] {
				known[key(m)] = true
				added = append(added, m)
			}
		}
		th = *th.WithMessages(added...)
		if in.State.Exists() && in.State.Kind() != state.KindNull {
			th.State = in.State
		}
	}
	f.start(&reducer.Options{Thread: &th, Input: head.Input})
}

func key(m *messages.Message) [2]string { return [2]string{m.Kind().String(), m.ID} }

// apply applies an event and returns what was delivered, and whether the stream was rejected with it. The
// steps are valid until the next call.
func (f *fold) apply(ev event.Event) ([]reducer.Step, bool) {
	f.seen++
	if f.final {
		return nil, true
	}
	steps, err := f.reducer.Apply(f.upgrader.Upgrade(ev))
	f.final = err != nil
	for i := range steps {
		steps[i].Ordinal += f.base
		for j := range steps[i].Warnings {
			steps[i].Warnings[j].Ordinal += f.base
		}
		f.report(steps[i].Warnings)
	}
	return steps, f.final
}

// end returns the thread: as it is now if the stream goes on, else as it is at the stream's end, which came
// with the error cause or none.
func (f *fold) end(cause error, goesOn bool) *reducer.Thread {
	if f.reducer == nil {
		f.start(new(reducer.Options))
	}
	if goesOn && !f.final {
		return f.reducer.Thread()
	}
	return f.placed(f.reducer.End(cause))
}

// placed makes the error of a rejected stream count through the file.
func (f *fold) placed(th *reducer.Thread) *reducer.Thread {
	run := th.LastRun()
	if f.base == 0 || run == nil {
		return th
	}
	shifted := *run
	var violation *reducer.Violation
	var malformed *event.MalformedError
	switch {
	case errors.As(run.Err, &violation):
		v := *violation
		v.Ordinal += f.base
		shifted.Err = &v
	case errors.As(run.Err, &malformed) && run.Status == reducer.Rejected:
		m := *malformed
		m.Ordinal += f.base
		shifted.Err = &m
	default:
		return th
	}
	c := *th
	c.Runs = th.Runs.Set(th.Runs.Len()-1, &shifted)
	return &c
}
