package client

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
	"github.com/agfold/agfold/recording"
)

// ReplayOptions of [NewReplay]. The zero value means the defaults.
type ReplayOptions struct {
	// Speed replays with the recorded timing, as many times as fast: 1 as it was, 2 in half the time. 0 or
	// less means at once, which is also how a recording without times is replayed.
	Speed float64
	// MaxEventBytes bounds the data of one event. 0 means DefaultMaxEventBytes, a negative number no bound.
	MaxEventBytes int
}

// Replay is an [Agent] that answers from a recording: a captured stream, a file of events in one of several
// forms, or what [Record] has written. The input of a run plays no part. It is safe for concurrent use.
//
// In what Record has written, the first run is answered with the first recorded run, the second with the
// second, and one more than there are is an error that matches ErrRecording. A session that is asked for that
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

// Runs opens the recording and counts the runs in it, also those that broke off: 0 if it is empty, 1 if it is
// not of Record's making. A session has replayed all of them once its thread holds as many:
//
//	for s.Thread().Runs.Len() < n {
//		… s.Send(ctx)
//	}
//
// The error, besides those of opening and reading, matches ErrRecording or ErrTooLarge; the runs before it are
// counted.
func (r *Replay) Runs() (int, error) {
	file, err := r.open()
	if err != nil {
		return 0, err
	}
	defer file.Close()
	rec, err := recording.Open(file, &recording.Options{MaxEventBytes: r.o.MaxEventBytes})
	if err != nil {
		return 0, err
	}
	if rec.Form() != recording.FormAgfold && rec.Form() != recording.FormEmpty {
		return 1, nil
	}
	n := 0
	for e, err := range rec.Entries() {
		switch {
		case errors.Is(err, recording.ErrCut):
		case err != nil:
			return n, err
		case n == 0 || e.Head != nil:
			n++
		}
	}
	return n, nil
}

// Run yields the events of the recorded run. An error, besides the end of ctx and those of opening and
// reading, matches ErrRecording if what was opened is no recording, ErrTruncated if the recording ends in the
// middle of an event, or ErrTooLarge; or it is the one that the recorded stream ended with: it has the same text,
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
	rec, err := recording.Open(file, &recording.Options{MaxEventBytes: r.o.MaxEventBytes})
	if err != nil {
		return cutIsTruncated(err)
	}
	wanted := 0
	if rec.Form() == recording.FormAgfold {
		wanted = int(r.begun.Add(1)) - 1
	}
	start := time.Now()
	run := -1
	for e, err := range rec.Entries() {
		switch {
		case err != nil:
			return cutIsTruncated(err)
		case run < 0 || e.Head != nil:
			run++
		}
		if run > wanted {
			if e.Head.AfterCut {
				return truncated("the recorded run ends in the middle of an event")
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
		return fmt.Errorf("%w of run %d: there are %d", ErrRecording, wanted+1, run+1)
	}
	return nil
}

// cutIsTruncated makes a recording that is cut off match ErrTruncated.
func cutIsTruncated(err error) error {
	if errors.Is(err, recording.ErrCut) {
		return fmt.Errorf("%w: %w", ErrTruncated, err)
	}
	return err
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
