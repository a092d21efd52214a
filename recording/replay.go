package recording

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"sync/atomic"
	"time"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/reducer"
)

// ReplayOptions configures [NewReplay]; nil means defaults.
type ReplayOptions struct {
	// Speed replays with the recorded timing, as many times as fast: 1 as it was, 2 in half the time. 0 or
	// less means at once, which is also how a recording without times is replayed.
	Speed float64
	// MaxEventBytes bounds the data of one event. 0 means event.DefaultMaxBytes, a negative number no bound.
	MaxEventBytes int
}

// Replay is an agent (a client.Agent) that answers from a recording in any form. The input of a run plays no part.
// It is safe for concurrent use.
//
// In what [Writer] has written, the first run is answered with the first recorded run, the second with the
// second, and one more than there are is an error that matches ErrNoRun. A session that is asked for that
// one more has then begun it, so its thread ends with a truncated run: [Replay.Runs] tells beforehand how many
// there are. Any other recording is one run that can be repeated.
type Replay struct {
	open  func() (io.ReadCloser, error)
	o     ReplayOptions
	begun atomic.Int64 // runs
}

// NewReplay returns an agent that opens its recording for each run. A nil o means the defaults.
func NewReplay(open func() (io.ReadCloser, error), o *ReplayOptions) *Replay {
	r := &Replay{open: open}
	if o != nil {
		r.o = *o
	}
	return r
}

// ReplayFile is NewReplay for a file.
func ReplayFile(name string, o *ReplayOptions) *Replay {
	return NewReplay(func() (io.ReadCloser, error) { return os.Open(name) }, o)
}

// Runs opens the recording and counts the runs in it, also those that broke off: 0 if it is empty, 1 if
// Writer did not write it. A session has replayed all of them once its thread holds as many:
//
//	for s.Thread().Runs.Len() < n {
//		… s.Send(ctx)
//	}
//
// The error, besides those of opening and reading, is a *FormatError or an *event.TooLargeError; the runs before it are
// counted.
func (r *Replay) Runs() (int, error) {
	file, err := r.open()
	if err != nil {
		return 0, err
	}
	defer file.Close()
	rec, err := Open(file, &Options{MaxEventBytes: r.o.MaxEventBytes})
	if err != nil {
		return 0, err
	}
	if rec.Form() != FormAgfold && rec.Form() != FormEmpty {
		return 1, nil
	}
	n := 0
	for e, err := range rec.Entries() {
		_, cut := errors.AsType[*CutError](err)
		switch {
		case cut:
		case err != nil:
			return n, err
		case n == 0 || e.Head != nil:
			n++
		}
	}
	return n, nil
}

// ErrNoRun is matched by the error of a run that a [Replay] is asked for after the last recorded one.
var ErrNoRun = errors.New("the recording has no run")

// Run yields the events of the recorded run. An error, besides the end of ctx and those of opening and
// reading, is a *FormatError if what was opened is not a recording, a *CutError if it ends in the middle of an
// event, or an *event.TooLargeError; or it matches ErrNoRun; or it is the one that the recorded stream ended with: it has the same text,
// and matches ErrTruncated if that did.
func (r *Replay) Run(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		if err := r.run(ctx, yield); err != nil && err != errBreak {
			yield(nil, err)
		}
	}
}

func (r *Replay) run(ctx context.Context, yield func(event.Event, error) bool) error {
	if ctx.Err() != nil {
		return canceled(ctx)
	}
	file, err := r.open()
	if err != nil {
		return err
	}
	defer file.Close()
	rec, err := Open(file, &Options{MaxEventBytes: r.o.MaxEventBytes})
	if err != nil {
		return err
	}
	wanted := 0
	if rec.Form() == FormAgfold {
		wanted = int(r.begun.Add(1)) - 1
	}
	start := time.Now()
	run := -1
	for e, err := range rec.Entries() {
		switch {
		case err != nil:
			return err
		case run < 0 || e.Head != nil:
			run++
		}
		if run > wanted {
			if e.Head.AfterCut {
				return fmt.Errorf("%w: the recorded run ends in the middle of an event", reducer.ErrTruncated)
			}
			return nil
		}
		if run < wanted || e.Head != nil {
			if ctx.Err() != nil {
				return canceled(ctx)
			}
			continue
		}
		if err := r.wait(ctx, start, e.At); err != nil {
			return err
		}
		if e.Err != nil {
			return e.Err
		}
		if !yield(e.Event, nil) {
			return errBreak
		}
	}
	if wanted > max(run, 0) {
		return fmt.Errorf("%w %d: there are %d", ErrNoRun, wanted+1, run+1)
	}
	return nil
}

// wait waits until it is time for an event that came at a time after the run's start.
func (r *Replay) wait(ctx context.Context, start time.Time, at time.Duration) error {
	if ctx.Err() != nil {
		return canceled(ctx)
	}
	if r.o.Speed <= 0 || at == 0 {
		return nil
	}
	left := time.Duration(float64(at)/r.o.Speed) - time.Since(start)
	if left <= 0 {
		return nil
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return canceled(ctx)
	}
}

// errBreak says that the reader of a sequence stopped ranging over it. It never leaves the package.
var errBreak = errors.New("broken off")

// canceled returns the error that reports the end of ctx: it matches ctx.Err() and the cause.
func canceled(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}
