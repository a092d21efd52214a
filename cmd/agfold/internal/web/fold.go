package web

import (
	"cmp"
	"context"
	"errors"
	"io"
	"time"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/reducer"
)

// Recording names a file that the page shows.
type Recording struct {
	Name string
	Open func() (io.ReadCloser, error)
}

// axis puts the times of all runs of a recording on one axis.
type axis struct {
	first, start time.Time     // when the first run and the one at hand began, as far as that is known
	offset, last time.Duration // of the run at hand; of the last event
}

func (x *axis) begin(start time.Time) {
	x.start = start
	if x.first.IsZero() {
		x.first = start
	}
	x.offset = x.last
	if !start.IsZero() {
		x.offset = max(x.last, start.Sub(x.first))
	}
}

func (x *axis) at(since time.Duration) time.Duration {
	x.last = max(x.last, x.offset+since)
	return x.last
}

// folding is the fold of a file into its log.
type folding struct {
	log     *log
	folder  *recording.Folder
	timed   bool
	axis    axis
	entered recording.Entry // the last event
	head    *recording.Head // of a run whose first delivery has not come
	heads   int
}

// fold folds the log's file, until ctx ends.
func (l *log) fold(ctx context.Context) {
	th, err := l.foldFile(ctx)
	l.finish(th, err)
}

func (l *log) foldFile(ctx context.Context) (*reducer.Thread, error) {
	file, err := l.open()
	if err != nil {
		return new(reducer.Thread), err
	}
	defer file.Close()
	rec, err := recording.Open(file, &recording.Options{MaxEventBytes: l.maxEvent})
	if err != nil {
		return new(reducer.Thread), err
	}
	f := &folding{log: l, timed: rec.Timed()}
	l.change(func() { l.timed = f.timed })
	f.folder = recording.NewFolder(rec, &recording.FoldOptions{OnEntry: f.entry, OnWarning: f.warn})
	l.change(func() { l.begin(f.folder.Thread()) })
	var cause error
	for d, err := range f.folder.Deliveries() {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err == nil {
			err = f.deliver(d)
		}
		if err != nil {
			cause = err
			break
		}
	}
	th := f.folder.End(cause)
	if !errors.Is(cause, errFull) {
		f.ended(th)
	}
	return th, cmp.Or(cause, f.folder.Err())
}

// entry takes note of an entry before it is folded.
func (f *folding) entry(e recording.Entry) {
	if e.Head != nil {
		if f.heads++; f.heads > 1 {
			f.ended(f.folder.End(nil))
		}
		f.head = e.Head
		f.axis.begin(e.Head.Start)
	}
	ordinal := f.folder.Seen()
	if e.Head == nil && e.Err == nil {
		f.entered = e
		ordinal++
	}
	f.log.change(func() { f.log.trouble.entry(e, ordinal) })
}

// warn passes on what the deliveries do not carry.
func (f *folding) warn(w event.Warning) {
	if w.Ordinal == 0 {
		f.log.change(func() { f.log.trouble.warn(w, len(f.log.entries)+1) })
	}
}

// deliver adds a delivery to the log.
func (f *folding) deliver(d reducer.Delivery) (err error) {
	st := step{delivery: d, raw: f.entered.Event, at: -1, line: f.entered.Line, head: f.head, thread: f.folder.Thread()}
	if f.timed {
		st.at = f.axis.at(f.entered.At)
	}
	f.head = nil
	f.log.change(func() { err = f.log.add(st) })
	return err
}

// ended adds the end of a stream, if that changed the thread.
func (f *folding) ended(th *reducer.Thread) {
	f.log.change(func() { f.log.ended(th, f.axis.last, f.timed, f.folder.Seen()) })
}

// ended adds the end of a stream at a time, if that changed the thread. The lock is held.
func (l *log) ended(th *reducer.Thread, at time.Duration, timed bool, ordinal int) {
	if len(l.checkpoints) == 0 || th == l.last.Thread || th.Err() == nil {
		return
	}
	if !timed {
		at = -1
	}
	_ = l.add(step{delivery: reducer.Delivery{Ordinal: ordinal}, at: at, thread: th, end: th.Err()}) // full is full
}
