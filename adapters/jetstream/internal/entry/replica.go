package entry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/feed"
	"github.com/agfold/agfold/reducer"
)

// Replica makes the thread of a log, entry by entry. The writer of the log has one too, which gets the same entries, so that
// both have the same thread after each of them. It is for one goroutine at a time. The zero Replica has read nothing.
type Replica struct {
	Token uint64 // of the writer whose entries were read last
	Next  uint64 // the number of its next entry
	// Closed says that the last writer has given the thread up, in order.
	Closed bool
	// Gap says that the log lacks what happens, until the thread is stated anew, and why; "" if it does not.
	Gap    string
	Holder string // the last writer
	Stops  int    // how often a stop was asked for

	// KeepOpen has the replica keep the entries of the stream that is open, up to MaxOpen bytes, for checkpoints.
	KeepOpen bool

	framer event.Framer
	now    feed.Snapshot
	fold   *reducer.Reducer // nil if no events are folded
	open   bool             // a stream is open, even if its events are not folded any more
	base   feed.Snapshot    // before the stream
	lines  []byte           // of it
	excess bool             // there were more than are kept
	ended  bool             // a run has ended on the stream, and none has begun since
}

// MaxOpen is how many bytes of the entries of one stream a replica keeps.
const MaxOpen = 32 << 20

// Snapshot returns the thread as it is now, and what its session is doing.
func (r *Replica) Snapshot() feed.Snapshot {
	if r.fold != nil {
		r.now.Thread = r.fold.Thread()
	}
	if r.now.Thread == nil {
		r.now.Thread = new(reducer.Thread)
	}
	return r.now
}

// Open reports whether a stream of events is open.
func (r *Replica) Open() bool { return r.open }

// Folding reports whether events change the thread.
func (r *Replica) Folding() bool { return r.fold != nil }

// RunEnded reports whether the last event that began or ended a run on the open stream ended it.
func (r *Replica) RunEnded() bool { return r.ended }

// Adopt makes a snapshot the replica's that is equal to its own, so that both share what does not change from now on. It
// is not for a replica whose stream is open.
func (r *Replica) Adopt(s feed.Snapshot) { r.now, r.fold = s, nil }

// errEntry is the error of an entry of an unknown kind.
var errEntry = errors.New("it is not an entry")

// Apply applies an entry, without its line end. It does not keep line. After an error the replica is as it was.
func (r *Replica) Apply(line []byte) error {
	if text, ok := inner(line, eventPrefix); ok {
		f := r.framer.Lend(text, bytes.Clone) // it is folded before the next one
		if err := f.Err(); err != nil {
			return err
		}
		r.Event(f, line)
		return nil
	}
	if text, ok := inner(line, dataPrefix); ok {
		var data string
		if err := json.Unmarshal(text, &data); err != nil {
			return err
		}
		f := r.framer.Frame([]byte(data))
		if f.Err() == nil {
			return errors.New("it is an event that is written as a string")
		}
		r.Event(f, line)
		return nil
	}
	if bytes.Equal(line, noticeLine) {
		r.Event(event.Notice(), line)
		return nil
	}
	if text, ok := inner(line, phasePrefix); ok { // it may be long: it is read once
		phase, thread, _ := bytes.Cut(text, threadPrefix)
		return r.state(phase, thread)
	}
	return r.control(line)
}

// state makes the thread as a whole the replica's.
func (r *Replica) state(phase, thread []byte) error {
	now := feed.Snapshot{Thread: new(reducer.Thread)}
	if err := json.Unmarshal(phase, &now.Phase); err != nil {
		return err
	}
	if err := now.Thread.UnmarshalJSON(thread); err != nil {
		return err
	}
	r.leave()
	r.now, r.Gap = now, ""
	return nil
}

// inner returns what is between a prefix and the brace at the end.
func inner(line, prefix []byte) ([]byte, bool) {
	if !bytes.HasPrefix(line, prefix) || line[len(line)-1] != '}' {
		return nil, false
	}
	return line[len(prefix) : len(line)-1 : len(line)-1], true
}

// Event applies an event of the open stream, whose entry line is. One that no stream is open for, or that comes after the
// client has changed the thread, changes nothing.
func (r *Replica) Event(f event.Frame, line []byte) {
	r.keep(line)
	if r.fold == nil {
		return
	}
	_ = r.fold.Apply(f) // the thread says if it is rejected
	switch f.Type() {
	case event.TypeRunFinished, event.TypeRunError:
		r.ended = true
	case event.TypeRunStarted:
		r.ended = false
	}
	r.now.Phase = "streaming"
}

// Damage breaks the thread off, with an error that says where, because an entry is missing or cannot be read. What follows
// changes nothing until the thread is stated anew.
func (r *Replica) Damage(err error) {
	r.leave()
	r.now.Thread = r.now.Thread.BreakOff(err)
	r.Gap = valid(err.Error())
}

// keep keeps an entry of the open stream.
func (r *Replica) keep(line []byte) {
	switch {
	case !r.KeepOpen || !r.open || r.excess:
	case len(r.lines)+len(line) > MaxOpen:
		r.excess, r.lines = true, nil
	default:
		r.lines = append(append(r.lines, line...), '\n')
	}
}

// entry is an entry that is not an event.
type entry struct {
	Open  *Who            `json:"open"`
	Head  json.RawMessage `json:"head"`
	End   *End            `json:"end"`
	Delta json.RawMessage `json:"delta"`
	Stop  *Who            `json:"stop"`
	Gap   *Who            `json:"gap"`
	Close bool            `json:"close"`
}

// control applies an entry that is not an event.
func (r *Replica) control(line []byte) error {
	var e entry
	if err := json.Unmarshal(line, &e); err != nil {
		return err
	}
	if r.Gap != "" && e.Open == nil && !e.Close {
		return nil // what it would change is not there
	}
	switch {
	case e.Open != nil:
		r.leave()
		r.Holder, r.Closed, r.Stops = e.Open.Name, false, 0
	case e.Head != nil:
		return r.head(e.Head, line)
	case e.End != nil:
		r.end(*e.End)
	case e.Delta != nil:
		return r.delta(e.Delta, line)
	case e.Stop != nil:
		r.Stops++
		r.keep(line)
	case e.Gap != nil:
		r.leave()
		r.Gap = e.Gap.Name
	case e.Close:
		r.leave()
		r.Closed = true
	default:
		return errEntry
	}
	return nil
}

// leave ends the open stream as it is.
func (r *Replica) leave() {
	r.now = r.Snapshot()
	r.fold, r.open, r.excess, r.ended, r.lines, r.base = nil, false, false, false, nil, feed.Snapshot{}
}

// head begins a run.
func (r *Replica) head(text, line []byte) error {
	var h Head
	if err := json.Unmarshal(text, &h); err != nil {
		return err
	}
	if h.Input == nil {
		return fmt.Errorf("the head of a run has %w: it has no input", errEntry)
	}
	r.Begin(h, line)
	return nil
}

// Begin begins a run, whose entry line is.
func (r *Replica) Begin(h Head, line []byte) {
	r.leave()
	r.open, r.base = true, r.now
	r.keep(line)
	r.fold = reducer.New(&reducer.Options{Thread: r.now.Thread, MaxPatchedBytes: h.MaxPatchedBytes})
	r.fold.Next(&reducer.Options{Input: h.Input, Strict: h.Strict, MaxPatchedBytes: h.MaxPatchedBytes})
	r.now.Phase = "sending"
}

// end ends the open stream. What became of its run a session says in the delta that follows.
func (r *Replica) end(e End) {
	if r.fold != nil && e.Final {
		r.now.Thread = r.fold.End(e.Err())
		r.fold = nil
		r.now.Phase = "idle"
	}
	r.leave()
}

// delta applies what the client did.
func (r *Replica) delta(text, line []byte) error {
	before := r.Snapshot()
	after, err := feed.ApplyDelta(before, text)
	if err != nil {
		return err
	}
	r.keep(line)
	if changes := after.Thread.ChangesSince(before.Thread); !changes.Any() && after.Thread.Revision == before.Thread.Revision && after.Thread.ID == before.Thread.ID {
		after.Thread = before.Thread
	} else {
		r.fold = nil // the client changes the thread only when the stream does not any more
	}
	r.now = after
	return nil
}
