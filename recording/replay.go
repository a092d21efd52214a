package recording

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"sync"
	"time"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/oneshot"
)

// ErrNoRun is matched by the error of a run that a [Replay] is asked for after the last recorded one.
var ErrNoRun = errors.New("the recording has no run")

// ReplayOptions configures [NewReplay]; nil means defaults.
type ReplayOptions struct {
	// Speed is the factor on the recorded timing: 1 is the recorded speed, 2 is twice as fast. 0 or less means
	// without pauses, as for a recording without times.
	Speed float64
	// MaxEventBytes bounds the data of one event. 0 means event.DefaultMaxBytes, a negative number no bound.
	MaxEventBytes int
}

// A Replay is an agent (a client.Agent) that plays a recording in any form, to show a run again or to test a program
// with it. It is safe for concurrent use.
//
// For a recording by [Writer], the first run plays the first recorded run, the second run the second, and so on; a
// run after the last one is an error that matches ErrNoRun. Any other recording is one run, which can be repeated.
//
// The input of a run is ignored, so a Session with a Replay does not have the recorded thread: the messages of the
// user and the answers of tools are in the recorded inputs. [Fold] and [Folder] make the recorded thread.
type Replay struct {
	open func() (io.ReadCloser, error)
	o    ReplayOptions

	mu     sync.Mutex
	begun  int     // runs
	starts []start // of the runs that were found so far
}

// start is where a run begins in a recording.
type start struct {
	offset int64
	line   int
}

// NewReplay returns an agent that opens its recording for each run, and reads it from where the run begins: if what open
// returns is an io.Seeker, it seeks there.
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

// Runs opens the recording and counts the runs in it, broken ones included: 0 if it is empty, 1 if Writer did not write
// it. So this yields every run once, as a separate thread:
//
//	for range n {
//		th, err := reducer.Fold(agent.Run(ctx, event.RunInput{}), nil)
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
	run := -1
	for e, err := range rec.Entries() {
		_, cut := errors.AsType[*CutError](err)
		switch {
		case cut:
		case err != nil:
			return run + 1, err
		default:
			run = r.count(run, e)
		}
	}
	return run + 1, nil
}

// count returns the number of the run, from 0, that e belongs to if the entry before it belongs to run, and remembers
// where it begins. Before the first run it is -1.
func (r *Replay) count(run int, e Entry) int {
	if e.Head == nil && (run >= 0 || e.Err != nil) {
		return run
	}
	run++
	r.mu.Lock()
	defer r.mu.Unlock()
	if run == len(r.starts) {
		s := start{line: e.Line}
		if e.Head != nil {
			s.offset = e.Head.offset
		}
		r.starts = append(r.starts, s)
	}
	return run
}

// Run yields the events of the recorded run. An error, besides the end of ctx and those of opening and reading, is a
// *FormatError if what was opened is not a recording, a *CutError if it ends in the middle of an event, a
// *DamageError, or an *event.TooLargeError; or it matches ErrNoRun; or it is a *StreamError, the one that the recorded
// stream ended with. The sequence can be iterated once: iterating it again is an error.
func (r *Replay) Run(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
	return oneshot.Run(func(yield func(event.Event, error) bool) error { return r.run(ctx, yield) })
}

func (r *Replay) run(ctx context.Context, yield func(event.Event, error) bool) error {
	if ctx.Err() != nil {
		return oneshot.Canceled(ctx)
	}
	file, err := r.open()
	if err != nil {
		return err
	}
	defer file.Close()
	rec, run, wanted, err := r.find(file)
	if err != nil {
		return err
	}
	begun := time.Now()
	for e, err := range rec.Entries() {
		if err != nil {
			return err
		}
		if run = r.count(run, e); run > wanted {
			break
		}
		if run < wanted || e.Head != nil {
			if ctx.Err() != nil {
				return oneshot.Canceled(ctx)
			}
			continue
		}
		if err := r.wait(ctx, begun, e.At); err != nil {
			return err
		}
		if e.Err != nil {
			return e.Err
		}
		if !yield(e.Event, nil) {
			return oneshot.ErrBreak
		}
	}
	if wanted > max(run, 0) { // the entries have ended before
		return fmt.Errorf("%w %d: there are %d", ErrNoRun, wanted+1, run+1)
	}
	if ctx.Err() != nil {
		return oneshot.Canceled(ctx)
	}
	return nil
}

// find opens the recording in file at the run that is wanted, or the last one before it that is known. run is the
// number of the run before that.
func (r *Replay) find(file io.Reader) (rec *Recording, run, wanted int, err error) {
	o := &Options{MaxEventBytes: r.o.MaxEventBytes}
	r.mu.Lock()
	var at start
	known := min(r.begun, len(r.starts)-1)
	if known > 0 {
		at, wanted = r.starts[known], r.begun
		r.begun++
	}
	r.mu.Unlock()
	if known > 0 {
		if s, ok := file.(io.Seeker); ok {
			_, err = s.Seek(at.offset, io.SeekStart)
		} else {
			_, err = io.CopyN(io.Discard, file, at.offset)
		}
		if err != nil {
			return nil, 0, 0, readError(err)
		}
		return openAt(file, at, o), known - 1, wanted, nil
	}
	rec, err = Open(file, o)
	if err != nil || rec.Form() != FormAgfold {
		return rec, -1, 0, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	wanted = r.begun
	r.begun++
	return rec, -1, wanted, nil
}

// openAt opens a recording of FormAgfold that is read from the head of a run.
func openAt(file io.Reader, at start, o *Options) *Recording {
	l := newLines(file)
	l.line, l.src.n = at.line-1, at.offset
	return &Recording{form: FormAgfold, timed: true, src: &heads{lines: eventLines{lines: l, limit: o.limit()}}}
}

// wait waits until it is time for an event that came at a time after the run's start.
func (r *Replay) wait(ctx context.Context, begun time.Time, at time.Duration) error {
	if ctx.Err() != nil {
		return oneshot.Canceled(ctx)
	}
	if r.o.Speed <= 0 || at == 0 {
		return nil
	}
	left := time.Duration(float64(at)/r.o.Speed) - time.Since(begun)
	if left <= 0 {
		return nil
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return oneshot.Canceled(ctx)
	}
}
