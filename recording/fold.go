package recording

import (
	"cmp"
	"errors"
	"io"
	"iter"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// FoldOptions configures [Fold] and [NewFolder]; nil means defaults.
type FoldOptions struct {
	// Strict makes what enforcement would remove with a warning an error (P-ENF-7).
	Strict bool
	// Through is the ordinal of the last event to fold; 0 folds all events.
	Through int
	// Repair, if it is set, is called at the beginning of each run's stream and returns a function that gets each event of
	// it, already in the shapes of AG-UI 1.0, and returns it or what takes its place: lenient.Repair of package
	// client/lenient, for instance.
	Repair func() func(event.Event) event.Event
	// OnWarning is called with each warning as it arises, those about a run's input included. Nil drops them.
	OnWarning func(event.Warning)
	// OnEntry is called with each entry of the recording before it is folded. Nil is for who needs no heads, times or
	// events as they came.
	OnEntry func(Entry)
	// MaxEventBytes bounds the data of one event, for Fold: a Folder's recording is open already. 0 means
	// event.DefaultMaxBytes, a negative number no bound.
	MaxEventBytes int
	// MaxPatchedBytes bounds what patches may make of the shared state and the activities; see
	// [reducer.Options.MaxPatchedBytes].
	MaxPatchedBytes int
}

// Fold folds a whole recording, in any form, into one thread. If the recording has the run's input, the
// thread starts from it (P-STA-2). The caller closes r.
//
// A recording by [Writer] may hold many runs. It folds to the thread of the recorded session: the same messages, state,
// runs, subagents and interrupts. What the input of a run adds to the thread is what the user or a tool did. The
// differences are:
//
//   - The revision differs: it counts what was delivered and added here.
//   - A run that the transport broke off is truncated by a *StreamError with the same text. The reason why the caller
//     broke off a run is not recorded.
//   - What was done between runs is known only from the next run's input. So what was done after the last run is
//     missing, and a message that the session replaced or removed stays as it was.
//   - Events that middleware between the recording and the session dropped or changed are folded as they were recorded.
//
// The ordinals of warnings and errors count through the recording. The thread is never nil: it holds everything that came
// before an error. The error is nil if the last run's stream was in order, even if that run reported its own failure;
// [reducer.Thread.Runs] says how the runs before it ended. Otherwise it is the *reducer.Violation or
// *messages.MalformedError that rejected the stream, or matches reducer.ErrTruncated if the run had not ended or the
// recording ends in the middle of an event, or matches ErrNoRun if there is no run. An error of the recording, which may
// come in addition, is a *FormatError, an *event.TooLargeError or r's own.
func Fold(r io.Reader, o *FoldOptions) (*reducer.Thread, error) {
	if o == nil {
		o = new(FoldOptions)
	}
	rec, err := Open(r, &Options{MaxEventBytes: o.MaxEventBytes})
	if err != nil {
		return reducer.New(nil).Thread(), err
	}
	f := NewFolder(rec, o)
	var cause error
	for _, err := range f.Deliveries() {
		cause = err
	}
	th := f.End(cause)
	if err := cmp.Or(f.Err(), cause); err != nil || th.Status() != reducer.Empty {
		return th, err
	}
	return th, ErrNoRun
}

// A Folder folds a recording into one thread, step by step. It is for one goroutine at a time. In a recording by
// [Writer], where a head begins every run, each run is a separate stream that continues the thread: what its input adds
// to the thread is what the client did. All ordinals count through the recording.
type Folder struct {
	rec  *Recording
	warn func(event.Warning)

	strict     bool
	maxPatched int
	through    int
	begun      bool // the first entry was seen
	reducer    *reducer.Reducer
	upgrader   *event.Upgrader
	broke      error // that the stream at hand ended with
	seen       int   // events of the recording

	repairs   func() func(event.Event) event.Event // FoldOptions.Repair
	repair    func(event.Event) event.Event        // of the stream at hand
	observe   func(Entry)                          // FoldOptions.OnEntry
	continued func(*event.RunInput)                // is called after the client's changes before a run were folded, or nil
}

// NewFolder returns a fold of rec, at its beginning: the thread is what the first run's input says. Nothing else
// may read from rec.
func NewFolder(rec *Recording, o *FoldOptions) *Folder {
	f := &Folder{rec: rec, warn: func(event.Warning) {}}
	if o != nil {
		f.strict, f.through, f.maxPatched, f.repairs, f.observe = o.Strict, o.Through, o.MaxPatchedBytes, o.Repair, o.OnEntry
		if o.OnWarning != nil {
			f.warn = o.OnWarning
		}
	}
	f.report(rec.Warnings())
	in := rec.Input()
	if in != nil && rec.Form() == FormAgfold && in.State.Kind() == state.KindObject && in.State.Len() == 0 {
		c := *in // {} is what a client sends that has no state yet (D-7)
		c.State = state.Value{}
		in = &c
	}
	f.reducer = reducer.New(f.options(in))
	f.follow()
	return f
}

// options returns those of the reducer for the run with that input, or nil.
func (f *Folder) options(in *event.RunInput) *reducer.Options {
	return &reducer.Options{Input: in, Strict: f.strict, MaxPatchedBytes: f.maxPatched, Ordinal: f.seen, OnWarning: f.warn}
}

// follow begins the stream of a run.
func (f *Folder) follow() {
	f.upgrader, f.broke = new(event.Upgrader), nil
	f.upgrader.Follow(f.reducer.Thread().Messages.All())
	if f.repairs != nil {
		f.repair = f.repairs()
	}
}

func (f *Folder) report(warnings []event.Warning) {
	for _, w := range warnings {
		f.warn(w)
	}
}

// Deliveries reads the recording's events and yields what they deliver, one delivery at a time: while the loop looks
// at one, [Folder.Thread] returns the thread right after it. An event that delivers nothing yields one Delivery without
// Event; so does every event after the one that broke its stream. A delivery's warnings are valid until the next
// one.
//
// A stream that is rejected ends the recording unless more runs may follow it. An error is the recording's, see
// [Recording.Entries], and comes alone and last. Breaking out of the loop folds the rest of the event; iterating
// again continues after it.
func (f *Folder) Deliveries() iter.Seq2[reducer.Delivery, error] {
	return func(yield func(reducer.Delivery, error) bool) {
		if f.over() {
			return
		}
		for e, err := range f.rec.Entries() {
			if err != nil {
				yield(reducer.Delivery{}, err)
				return
			}
			if f.observe != nil {
				f.observe(e)
			}
			if e.Head != nil {
				if f.begun {
					f.next(e.Head)
				}
				f.begun = true
				continue
			}
			if e.Err != nil && !f.begun {
				f.warnOfDamage(e.Err)
				continue
			}
			f.begun = true
			if e.Err != nil {
				f.broke = e.Err
				continue
			}
			if !f.apply(e.Event, yield) || f.over() {
				return
			}
		}
	}
}

// warnOfDamage warns of an error that is a *DamageError.
func (f *Folder) warnOfDamage(err error) {
	if _, damaged := errors.AsType[*DamageError](err); damaged {
		f.warn(event.Warning{Rule: "recording", Text: err.Error()})
	}
}

// over reports whether the fold is complete, whatever the recording still holds.
func (f *Folder) over() bool {
	return f.through > 0 && f.seen >= f.through || f.reducer.Err() != nil && f.rec.Form() != FormAgfold
}

// next continues with the next run of a recording: what its input adds to the thread is what the client did,
// and its state is what the run began with.
func (f *Folder) next(head *Head) {
	f.End(nil)
	f.report(head.Warnings)
	f.reducer.Next(f.options(head.Input))
	f.follow()
	if f.continued != nil {
		f.continued(head.Input)
	}
}

// apply applies an event, and reports whether the loop wants more.
func (f *Folder) apply(ev event.Event, yield func(reducer.Delivery, error) bool) bool {
	f.seen++
	more, none := true, true
	if f.reducer.Err() == nil && f.broke == nil {
		ev = f.upgrader.Upgrade(ev)
		if f.repair != nil {
			ev = f.repair(ev)
		}
		for d, err := range f.reducer.Deliver(ev) {
			if err != nil {
				break
			}
			none = false
			if more = yield(d, nil); !more {
				break
			}
		}
	}
	if none {
		return yield(reducer.Delivery{Ordinal: f.seen, Change: reducer.Change{Index: -1}}, nil)
	}
	return more
}

// Seen returns how many events were read.
func (f *Folder) Seen() int { return f.seen }

// Thread returns the thread as it is now.
func (f *Folder) Thread() *reducer.Thread { return f.reducer.Thread() }

// End says that the recording has ended, with the error that Deliveries ended with or nil, and returns the final
// thread. A run that has not ended is truncated, see [reducer.Reducer.End], by the error that its stream was
// recorded with if there is one.
func (f *Folder) End(cause error) *reducer.Thread {
	f.reducer.End(cmp.Or(f.broke, cause))
	if f.broke != nil && !errors.Is(f.reducer.Err(), f.broke) { // it is not the error of a run
		f.warnOfDamage(f.broke)
		f.broke = nil
	}
	return f.Thread()
}

// Err returns, after End, why the last stream was not in order: the error that rejected it, or one that matches
// reducer.ErrTruncated; else nil.
func (f *Folder) Err() error { return f.reducer.Err() }
