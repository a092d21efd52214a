package reducer

import (
	"cmp"
	"errors"
	"iter"
	"math"

	"github.com/agfold/agfold/chunks"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// Options configures [New]; nil means defaults.
type Options struct {
	// Thread is the conversation that the stream continues; nil means an empty one.
	Thread *Thread
	// Input is the input of the stream's first run, if it is known. Without Thread, the conversation starts with its
	// messages and state (P-STA-2). It also names a run that ends before RUN_STARTED, the tools that were offered
	// (P-RUN-2) and the interrupts that were answered (P-RUN-3).
	Input *event.RunInput
	// Strict rejects what enforcement would otherwise remove with a warning (P-ENF-7).
	Strict bool
	// MaxPatchedBytes is the size that patches may make the shared state and all activities together, in bytes
	// of JSON text ([state.Value.Size]). A patch that would exceed it is skipped with a warning (P-STA-1, P-ACT-2):
	// a few copy operations could otherwise make a thread that no memory can hold once it is encoded. What
	// snapshots bring counts too, but is never refused. 0 means the default of [state.DefaultMaxSize], a negative number
	// no bound.
	MaxPatchedBytes int
	// Ordinal is the ordinal of the event before the first one, for a stream that is a part of a longer one.
	Ordinal int
	// OnWarning is called with each warning as it arises, by Apply and Deliver. It must not use the reducer. The
	// deliveries carry the warnings too.
	OnWarning func(event.Warning)
}

// A Reducer folds an event stream into a thread, or several one after the other ([Reducer.Next]). It must be used by one
// goroutine at a time; the threads and events that it returns may be used by any.
type Reducer struct {
	intake   intake
	verifier verifier
	draft    draft

	delivered event.Event // last; nil if it only carries warnings
	from, to  int         // its warnings are intake.warnings[from:to]
	iterated  bool        // the deliveries of the event being applied
	late      bool        // that event came when the thread was final
	before    int         // the ordinal before the first event

	expectsRun bool
	err        error // what made the thread final
	done       bool
}

// New returns a reducer for one stream. It keeps what the options point to, which must not change.
func New(o *Options) *Reducer {
	if o == nil {
		o = new(Options)
	}
	r := new(Reducer)
	r.start(o)
	return r
}

// start makes the reducer a new one.
func (r *Reducer) start(o *Options) {
	r.draft = draft{finder: new(finder), calls: make(map[string]*call), nodeOf: make(map[messages.Owner]int), state: state.Object()}
	d := &r.draft
	r.begin(o)
	switch {
	case o.Thread != nil:
		d.resume(o.Thread)
	case o.Input != nil:
		if codec.Given(o.Input.State) {
			d.state, d.hasState = o.Input.State, true
		}
		for _, m := range o.Input.Messages {
			if d.findKey(m.Key()) == nil {
				d.add(still(m), 0)
			}
		}
	}
	r.listen(o)
}

// Next makes the reducer ready for another stream, which continues its thread; one that has not ended ends first, as by
// End(nil). What the client has done since is told in one of two ways.
//
// If Options.Thread is not nil, it is the thread with what the client has changed; Next costs what differs, at most a pass
// over the messages. The reducer is then as a new one for that thread.
//
// Otherwise it is what the input tells, if there is one: messages that the thread does not hold are added as
// [Thread.WithMessages] adds them, and a state that is not null becomes the thread's, with the revision one higher if it
// differs. The thread is that of a new reducer for the thread so changed, but Next costs only what the input holds.
func (r *Reducer) Next(o *Options) {
	if o == nil {
		o = new(Options)
	}
	last := r.End(nil)
	r.begin(o)
	r.draft.sweep()
	switch in := o.Input; {
	case o.Thread == last:
	case o.Thread != nil:
		if !r.draft.follow(o.Thread) {
			r.start(o)
		}
	case in != nil:
		r.draft.addBetweenRuns(in.Messages)
		r.draft.setBetweenRuns(in.State)
	}
	r.listen(o)
}

// begin begins a stream: nothing but the thread is left of an earlier one.
func (r *Reducer) begin(o *Options) {
	*r = Reducer{draft: r.draft, iterated: true}
	r.intake.decoder = event.NewDecoder(&event.DecodeOptions{Strict: o.Strict})
	r.intake.expander = new(chunks.Expander)
	r.verifier.in, r.verifier.draft = &r.intake, &r.draft
	d := &r.draft
	d.in, d.verifier = &r.intake, &r.verifier
	d.snapshot, d.epoch = nil, d.epoch+1
	d.run, d.ownRun = runWork{seq: d.run.seq + 1}, false // what belongs to no run has 0
	d.maxPatched = cmp.Or(o.MaxPatchedBytes, state.DefaultMaxSize)
	if d.maxPatched < 0 {
		d.maxPatched = math.MaxInt
	}
	d.input, d.inputRunID, d.offered = o.Input, "", nil
	if in := o.Input; in != nil {
		d.threadID, d.inputRunID, d.offered = cmp.Or(d.threadID, in.ThreadID), in.RunID, in.Tools
		r.expectsRun = true
	}
}

// listen makes warnings known from now on: those so far are about no event.
func (r *Reducer) listen(o *Options) {
	r.intake.warnings, r.intake.onWarning, r.intake.ordinal = nil, o.OnWarning, o.Ordinal
	r.before = o.Ordinal
}

// Apply takes the next event of the stream, a Frame or one made in Go, through decoding, expansion,
// verification and fold (P-PIPE-1). Retired shapes must have been upgraded before; [Fold] and package client do
// that. Use [Reducer.Deliver] to see what the event delivered.
//
// An error ends the stream: what was delivered before it stays, the thread is final, its last run is rejected,
// and every further Apply returns an error that matches [ErrFinal] and the first one. It is a *Violation
// or a *messages.MalformedError.
func (r *Reducer) Apply(ev event.Event) error {
	if r.take(ev); r.late {
		return &final{r.err}
	}
	r.finish()
	return r.intake.fault
}

// Deliver is Apply, but yields each delivery: one event, such as a chunk, may make several. While the loop looks at
// a delivery, [Reducer.Thread] returns the thread right after that delivery; not calling it costs nothing. An
// error comes alone and last.
//
// Deliver itself decodes and expands the event, which Thread does not see: with a lock around the thread, hold it
// while the sequence is iterated. The event is applied as the sequence is iterated. What is not iterated, or is left
// by breaking out of the loop, is applied unseen: at the break, or before the next event. The sequence is that of the
// event taken last; iterating it again yields an error and changes nothing.
func (r *Reducer) Deliver(ev event.Event) iter.Seq2[Delivery, error] {
	r.take(ev)
	return func(yield func(Delivery, error) bool) { r.deliver(yield) }
}

// take takes an event in.
func (r *Reducer) take(ev event.Event) {
	r.finish()
	r.iterated, r.late = false, r.done
	if !r.late {
		r.intake.take(ev, r.verifier.hasEnded())
		r.to = 0
	}
}

// deliver yields the deliveries of the event taken last.
func (r *Reducer) deliver(yield func(Delivery, error) bool) {
	switch {
	case r.late:
		yield(Delivery{}, &final{r.err})
		return
	case r.iterated:
		yield(Delivery{}, errSpent)
		return
	}
	r.iterated = true
	ordinal := r.intake.ordinal
	for r.advance() {
		if !yield(r.delivery(), nil) {
			r.finish()
			return
		}
	}
	if ordinal == r.intake.ordinal && r.intake.fault != nil { // else the loop has applied another event
		yield(Delivery{}, r.intake.fault)
	}
}

// advance makes the next delivery of the event being applied. It returns false once there is none, after
// rejecting the stream if the event is at fault.
func (r *Reducer) advance() bool {
	in := &r.intake
	r.delivered, r.from = nil, r.to
	if in.next < len(in.expanded) {
		ev := in.expanded[in.next]
		in.next++
		in.typ = ev.Type()
		if in.fault = r.apply(ev); in.fault == nil {
			r.delivered, r.to = ev, len(in.warnings)
			return true
		}
		in.next = len(in.expanded)
	}
	if r.to < len(in.warnings) {
		r.to = len(in.warnings)
		return true
	}
	if in.fault != nil && !r.done {
		r.reject(in.fault)
	}
	return false
}

// apply applies one typed event, or changes nothing and returns an error.
func (r *Reducer) apply(ev event.Event) error {
	if err := r.verifier.verify(ev); err != nil {
		return err
	}
	r.draft.fold(ev)
	return nil
}

// finish applies the rest of the event being applied.
func (r *Reducer) finish() {
	for r.advance() {
	}
}

// delivery returns what advance has made.
func (r *Reducer) delivery() Delivery {
	d := Delivery{Event: r.delivered, Ordinal: r.intake.ordinal, Change: Change{Index: -1}}
	if d.Event != nil {
		d.Change = r.draft.change
	}
	if r.from < r.to {
		d.Warnings = r.intake.warnings[r.from:r.to:r.to]
	}
	return d
}

// reject makes the thread final with an error.
func (r *Reducer) reject(err error) {
	r.err, r.done = err, true
	r.draft.breakOff(Rejected, err)
}

// End ends the stream, with the error that it ended with or nil, and returns the final thread. A run that has not
// ended is truncated, and so is one that never began if the reducer knows its input: it has no outcome and is never
// reported as a success (P-RUN-1, P-CHK-7). It is stopped if cause matches [ErrStopped]. It is unstarted if cause says
// why there was no stream: no event came, and cause does not match ErrTruncated. Calling End again only returns the
// thread.
func (r *Reducer) End(cause error) *Thread {
	r.finish()
	if r.done {
		return r.Thread()
	}
	r.done = true
	if p := r.verifier.phase; p == phaseActive || p == phaseStart && (r.expectsRun || cause != nil) {
		r.draft.breakOff(r.ending(cause))
		r.err = r.draft.runs.At(r.draft.runs.Len() - 1).Err
	}
	r.intake.decoder, r.intake.expander, r.intake.expanded = nil, nil, nil // no more events come
	r.verifier = verifier{in: &r.intake, draft: &r.draft, phase: r.verifier.phase}
	return r.Thread()
}

// ending returns how a run that has not ended does, when its stream ends with cause.
func (r *Reducer) ending(cause error) (Status, error) {
	switch {
	case errors.Is(cause, ErrStopped):
		return Stopped, cause
	case cause != nil && r.intake.ordinal == r.before && !errors.Is(cause, ErrTruncated):
		return Unstarted, cause
	}
	return Truncated, &truncation{cause}
}

// Err returns what made the thread final: the error that rejected the stream, or that of a truncated, stopped or
// unstarted run; nil if there is none.
func (r *Reducer) Err() error { return r.err }

// Revision returns the revision of the thread as it is now; see [Thread.Revision].
func (r *Reducer) Revision() uint64 { return r.draft.revision }

// Thread returns the thread as it is now. It costs the same whatever is in it, and nothing if nothing
// changed since the last call.
func (r *Reducer) Thread() *Thread { return r.draft.thread() }

// Holds reports whether the thread holds a message with this key, without a pass over it.
func (r *Reducer) Holds(k messages.Key) bool { return r.draft.findKey(k) != nil }
