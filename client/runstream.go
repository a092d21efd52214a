package client

import (
	"context"
	"time"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/reducer"
)

// runStream is the stream of one run as it is read.
type runStream struct {
	*call
	fold     *reducer.Reducer
	finished bool  // the run has ended, the stream not yet
	err      error // that the stream ended with, or why we stopped
	rejected error // by the fold
}

// read applies and yields what the agent sends, to the end.
func (st *runStream) read(in event.RunInput) {
	ctx, cancel := context.WithCancel(st.ctx)
	defer cancel()
	var linger *time.Timer // for all that comes between the end of a run and the next run
	var until time.Time
	for ev, err := range st.session.agent.Run(ctx, in) {
		if linger != nil && !linger.Stop() {
			return // too late
		}
		if err != nil {
			st.err = err
			return
		}
		if !st.apply(ev) {
			return
		}
		switch {
		case !st.finished || st.session.o.Linger < 0:
			linger = nil
		case linger == nil:
			until = time.Now().Add(st.session.o.Linger)
			linger = time.AfterFunc(st.session.o.Linger, cancel)
		default:
			linger.Reset(time.Until(until))
		}
	}
	if linger != nil {
		linger.Stop()
	}
	if !st.finished && st.ctx.Err() != nil {
		st.err = st.ctx.Err() // an agent that ends without an error when its context ends
	}
}

// apply takes one event and reports whether to continue. The session's lock is held while the fold changes, but for
// events that may take long.
func (st *runStream) apply(ev event.Event) bool {
	s := st.session
	deliveries := st.fold.Deliver(ev)
	seen := st.fold.Revision()
	long := takesLong(ev)
	begin := func() {
		s.mu.Lock()
		if long {
			s.hold()
			s.mu.Unlock()
		}
	}
	end := func() {
		if long {
			s.mu.Lock()
			s.held = nil
		}
		if now := st.fold.Revision(); now != seen {
			seen, s.phase = now, PhaseStreaming
			s.hub.Changed()
		}
		s.mu.Unlock()
	}
	begin()
	for d, err := range deliveries {
		end()
		if err != nil {
			st.rejected = err
		} else {
			st.left = !st.deliver(d)
		}
		begin()
		if st.left || st.rejected != nil {
			break
		}
	}
	end() // the rest of an event whose loop was left
	if st.left {
		st.err = ErrStopped
	}
	if st.rejected != nil || st.left {
		return false
	}
	if st.err = s.hub.Flush(st.ctx); st.err == nil {
		st.err = st.ctx.Err() // whatever the agent makes of it
	}
	return st.err == nil
}

// takesLong reports whether folding an event may cost what the thread or a value in it holds, not only what is new.
func takesLong(ev event.Event) bool {
	switch ev.Type() {
	case event.TypeMessagesSnapshot, event.TypeStateSnapshot, event.TypeStateDelta, event.TypeActivitySnapshot,
		event.TypeActivityDelta, event.TypeRunStarted, event.TypeRunFinished, event.TypeRunError,
		event.TypeTextMessageEnd, event.TypeReasoningMessageEnd, event.TypeToolCallEnd: // an end may copy the whole text
		return true
	}
	return false
}

// deliver hands a delivery to the caller and reports whether to continue.
func (st *runStream) deliver(d reducer.Delivery) bool {
	for _, w := range d.Warnings {
		st.session.o.OnWarning(w)
	}
	switch d.Change.Kind {
	case reducer.RunBegan:
		st.finished = false
	case reducer.RunEnded:
		st.finished = true
	}
	return st.yield(d, nil)
}
