package lint

import (
	"errors"

	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/reducer"
)

// Recording lints a recording, from which nothing else may read. The findings are complete up to an error, which is
// that of [recording.Recording.Entries].
func Recording(rec *recording.Recording, o *Options) ([]Finding, error) {
	l := New(o)
	seen := 0
	var f *recording.Folder
	f = recording.NewFolder(rec, &recording.FoldOptions{OnEntry: func(e recording.Entry) {
		switch {
		case e.Head != nil:
			if seen > 0 {
				l.End(f.End(nil))
			}
			l.Head()
		case e.Err == nil:
			seen++
			at := e.At
			if !rec.Timed() {
				at = -1
			}
			l.Event(e.Event, seen, at)
		}
	}})
	var cause error
	for d, err := range f.Deliveries() {
		if err != nil {
			cause = err
			break
		}
		l.Deliver(d, f.Thread)
		if l.o.OnEvent != nil && !l.o.OnEvent(seen) {
			return l.Findings(), nil
		}
	}
	l.End(f.End(cause))
	return l.Findings(), cause
}

// place returns the ordinal and the type of the event that a stream was rejected for.
func place(err error) (ordinal int, typ string) {
	if v, ok := errors.AsType[*reducer.Violation](err); ok {
		return v.Ordinal, v.Type.String()
	}
	if m, ok := errors.AsType[*messages.MalformedError](err); ok {
		return m.Ordinal, m.Type
	}
	return 0, ""
}
