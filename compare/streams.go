package compare

import (
	"iter"

	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/state"
)

// Divergence is the first place at which two streams part, after both were compacted, so that it does not matter how texts
// were split.
type Divergence struct {
	Event        int         // the place of the event in the compacted streams, counted from 1
	Run          int         // the run that it is in, counted from 1
	LineA, LineB int         // where the events begin in their recordings; 0 if the stream has ended
	A, B         state.Value // the events, or {"error": …} for what a stream ended with; absent if it has ended
	Path         string      // a JSON pointer in the events to the first member that differs
}

// Streams finds the first event at which two recordings part, nil if there is none. Both are read to their ends at
// most, and nothing else may read from them. An error is one of [recording.Recording.Entries]; it counts as
// the end of its stream.
func Streams(a, b *recording.Recording, o *Options) (*Divergence, error) {
	if o == nil {
		o = new(Options)
	}
	nextA, stopA := iter.Pull2(recording.Compact(a, &recording.CompactOptions{PassedThrough: true}))
	defer stopA()
	nextB, stopB := iter.Pull2(recording.Compact(b, &recording.CompactOptions{PassedThrough: true}))
	defer stopB()
	match := newIDs(o.ExactIDs)
	var failed error
	for n, run := 1, 0; ; n++ {
		x, errA := nextEvent(nextA)
		y, errB := nextEvent(nextB)
		if failed == nil {
			if failed = errA; failed == nil {
				failed = errB
			}
		}
		if x.Line == 0 && y.Line == 0 {
			return nil, failed
		}
		vx, vy := value(x), value(y)
		if typ, _ := vx.Get("type").AsString(); typ == "RUN_STARTED" {
			run++
		}
		d := &Divergence{Event: n, Run: max(1, run), LineA: x.Line, LineB: y.Line, A: vx, B: vy}
		found := false
		match.walk("", "", vx, vy, func(path string, a, b state.Value) {
			if !found {
				found, d.Path = true, path
			}
		})
		if found {
			return d, failed
		}
	}
}

// nextEvent returns the next event; its Line is 0 at the end.
func nextEvent(next func() (recording.Entry, error, bool)) (recording.Entry, error) {
	for {
		e, err, ok := next()
		switch {
		case !ok || err != nil:
			return recording.Entry{}, err
		case e.Head == nil:
			e.Line = max(1, e.Line)
			return e, nil
		}
	}
}

// value returns an event as JSON. One that is not an event is its text, and the error of a stream is an object.
func value(e recording.Entry) state.Value {
	switch {
	case e.Line == 0:
		return state.Value{}
	case e.Err != nil:
		return state.Object(state.Member{Key: "error", Value: state.String(e.Err.Error())})
	case e.Event.Err() != nil:
		return state.String(string(e.Event.Data()))
	}
	return e.Event.Value()
}
