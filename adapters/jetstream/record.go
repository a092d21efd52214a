package jetstream

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/agfold/agfold/adapters/jetstream/internal/entry"
	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/oneshot"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// stream is a run's stream of events.
type stream struct {
	cancel context.CancelCauseFunc
	cause  func() error // why it was cancelled; nil if it was not

	// Guarded by Hold.mu.
	warned bool   // that it is not stored
	told   string // what its next warning says; "" if there is none
}

// Record returns a middleware that stores runs as they happen: the input, each event before the session sees it, and how the
// stream ended. It belongs outermost in the chain, so that it stores what the session gets. Runs of one thread must not
// overlap; a session's do not.
//
// While the window of entries that wait is full, the run waits. If nothing can be stored, see Options.WhenStuck. Without a
// session (Attach), what a run's input adds to the thread is what the client did.
func (h *Hold) Record() client.Middleware {
	return func(next client.Agent) client.Agent {
		return agent(func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
			return func(yield func(event.Event, error) bool) { h.record(ctx, next, in, yield) }
		})
	}
}

// agent is a [client.Agent] whose events are not held back when the context ends, as those of a client.AgentFunc are: what was
// written is what the session gets.
type agent func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error]

func (f agent) Run(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
	return oneshot.Seq(f(ctx, in))
}

// record carries out one run.
func (h *Hold) record(ctx context.Context, next client.Agent, in event.RunInput, yield func(event.Event, error) bool) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	st := &stream{cancel: cancel}
	st.cause = func() error {
		for _, ours := range []error{ErrLost, ErrClosed, client.ErrStopped} {
			if cause := context.Cause(ctx); errors.Is(cause, ours) {
				return cause
			}
		}
		if stuck, ok := errors.AsType[*StuckError](context.Cause(ctx)); ok {
			return stuck
		}
		return nil
	}
	if err := h.head(st, &in); err != nil {
		yield(nil, err)
		return
	}
	var ended error
	left := true // by the session
	defer func() { h.ended(st, ended, left, ctx.Err() != nil) }()
	for ev, err := range next.Run(ctx, in) {
		if cause := st.cause(); cause != nil {
			ev, err = nil, cause
		}
		if err == nil {
			frame := event.FrameOfEvent(ev)
			late := h.late()
			told := ""
			if !late {
				told, err = h.event(ctx, st, frame)
			}
			if err == nil {
				if told != "" {
					ev = frame.WithWarnings(event.Warning{Rule: "jetstream", Text: told})
				}
				more := yield(ev, nil)
				if late && more {
					_, err = h.event(ctx, st, frame)
				}
				h.taken()
				if !more {
					return
				}
				if err == nil {
					continue
				}
			}
		}
		ended, left = err, false
		yield(nil, err)
		return
	}
	if cause := st.cause(); cause != nil {
		ended, left = cause, false
		yield(nil, cause)
		return
	}
	left = false
}

// head writes the head of a run, after what the client has done.
func (h *Hold) head(st *stream, in *event.RunInput) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.err != nil:
		return h.err
	case h.stuck != nil && h.log.o.WhenStuck == StopRun:
		return h.stuck
	case h.session == nil && len(h.streams) > 0:
		return errors.New("a run of the thread is being stored already: runs must not overlap")
	}
	if h.gap && h.session == nil && h.stuck == nil { // what was dropped stays so
		h.state(h.replica.Snapshot())
	}
	h.sync(true)
	h.streams[st] = true
	if h.gap {
		st.tell(h.stuck)
		return nil
	}
	has := h.replica.Snapshot().Thread
	trimmed := *in
	trimmed.Messages = nil
	if h.session == nil {
		trimmed.Messages = added(has, in.Messages)
	}
	if trimmed.State.Equal(has.State) {
		trimmed.State = messages.Metadata{}.Value()
	}
	h.write(entry.AppendHead(nil, entry.Head{Input: &trimmed, Strict: h.log.o.Strict, MaxPatchedBytes: h.log.o.MaxPatchedBytes}))
	return nil
}

// added returns the messages that the thread does not hold.
func added(th *reducer.Thread, list []*messages.Message) []*messages.Message {
	held := make(map[messages.Key]bool, th.Messages.Len())
	for _, m := range th.Messages.All() {
		held[m.Key()] = true
	}
	var rest []*messages.Message
	for _, m := range list {
		if !held[m.Key()] {
			rest = append(rest, m)
		}
	}
	return rest
}

// tell has the stream's next event carry a warning that the run is not stored.
func (st *stream) tell(stuck *StuckError) {
	if !st.warned {
		st.warned, st.told = true, "the run is not stored"
		if stuck != nil {
			st.told = fmt.Sprintf("the run is not stored: %v", stuck)
		}
	}
}

// late reports whether the run has ended, so that the session may not take what still comes on its stream: that is written once
// it has taken it.
func (h *Hold) late() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.session == nil || h.gap || h.running() {
		return false
	}
	h.inFlight = true
	return true
}

// event writes an event before the session sees it, and returns what a warning is to say with it. It waits for room in the
// window.
func (h *Hold) event(ctx context.Context, st *stream, f event.Frame) (told string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		switch {
		case h.err != nil:
			return "", h.err
		case h.gap:
			st.tell(h.stuck)
			return h.fly(st), nil
		case len(h.pending) < h.log.o.Window:
			start := len(h.pending)
			h.pending = entry.AppendEvent(h.pending, f)
			h.replica.Event(f, h.pending[start:len(h.pending)-1])
			h.pushed()
			return h.fly(st), nil
		case h.stuck != nil && h.log.o.WhenStuck == GoOn:
			h.drop()
			continue
		case h.stuck != nil:
			return "", h.stuck
		}
		moved := h.moved
		h.mu.Unlock()
		select {
		case <-moved:
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
		h.mu.Lock()
		if err != nil {
			return "", err
		}
	}
}

// fly notes that an event is on its way to the session, and takes what its warning says. mu is held.
func (h *Hold) fly(st *stream) (told string) {
	h.inFlight = true
	told, st.told = st.told, ""
	return told
}

// running reports whether the run of the open stream has not ended, as far as was written. mu is held.
func (h *Hold) running() bool {
	return h.replica.Folding() && !h.replica.RunEnded()
}

// taken notes that the session has taken the event, or not.
func (h *Hold) taken() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.inFlight = false
	if h.missed {
		h.sync(false)
	}
}

// ended writes how a stream ended.
func (h *Hold) ended(st *stream, err error, left, canceled bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.streams, st)
	h.inFlight = false
	if h.err != nil || h.gap {
		h.sync(false)
		return
	}
	if left {
		err = client.ErrStopped
	}
	stopped := errors.Is(err, client.ErrStopped) || err != nil && canceled && h.session != nil
	end := entry.EndOf(err, stopped, errors.Is(err, reducer.ErrTruncated))
	end.Final = h.session == nil
	h.write(entry.AppendEnd(nil, end))
}
