package emit

import (
	"context"
	"errors"
	"strconv"
	"sync"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/oneshot"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// ErrClosed is returned by the methods of a handle that is closed, by itself or with its scope or run.
var ErrClosed = errors.New("emit: it is closed")

// core is what all handles of a run share. Its mutex is held while an event is sent, so that the events of a run have one
// order and each is judged by what was sent before it.
type core struct {
	ctx  context.Context
	in   event.RunInput
	send func(event.Event) error
	o    Options

	mu      sync.Mutex
	begun   bool
	stopped error // why nothing is sent any more

	minted    int
	ids       map[string]bool // of messages and calls
	subagents map[string]bool
	asked     map[string]bool // ids of interrupts
	steps     map[stepKey]bool
	waiting   map[string]bool // calls of earlier runs without a result
	calls     []*Call         // of this run, in order

	state   state.Value
	patched int // the size of the state and all activities

	outcome event.Outcome
	result  state.Value
	usage   []event.TokenUsage
}

type stepKey struct {
	owner messages.Owner
	name  string
}

func newCore(ctx context.Context, in event.RunInput, send func(event.Event) error, o *Options) *core {
	r := &core{
		ctx: ctx, in: in, send: send, ids: map[string]bool{}, subagents: map[string]bool{},
		asked: map[string]bool{}, steps: map[stepKey]bool{}, waiting: map[string]bool{}, state: in.State,
	}
	if o != nil {
		r.o = *o
	}
	if k := r.state.Kind(); k == state.KindAbsent || k == state.KindNull {
		r.state = state.Object() // P-STA-2
	}
	r.patched = r.state.Size()
	for _, m := range in.Messages {
		r.ids[m.ID] = true
		for _, call := range m.ToolCalls.All() {
			r.ids[call.ID] = true
			r.waiting[call.ID] = true
		}
	}
	for _, m := range in.Messages {
		if m.Role == messages.RoleTool {
			delete(r.waiting, m.ToolCallID)
		}
	}
	for _, entry := range in.Resume {
		r.asked[entry.InterruptID] = true
	}
	return r
}

// The methods below need the mutex.

// begin sends RUN_STARTED, unless it was sent. It returns the error of a run that cannot send any more.
func (r *core) begin() error {
	if r.begun {
		return r.stopped
	}
	r.begun = true
	return r.emit(&event.RunStarted{
		ThreadID: r.in.ThreadID, RunID: r.in.RunID, ProtocolVersion: messages.Some(event.ProtocolVersion), ParentRunID: r.in.ParentRunID,
	})
}

// emit sends an event that is in place. An error means that it was not sent; if it is not about the event itself, nothing is
// sent any more.
func (r *core) emit(ev event.Event) error {
	if err := r.begin(); err != nil {
		return err
	}
	if r.stopped != nil {
		return r.stopped
	}
	if r.ctx.Err() != nil {
		r.stopped = oneshot.Canceled(r.ctx)
		return r.stopped
	}
	if ev == nil { // something that begins without an event
		return nil
	}
	if err := event.Check(ev); err != nil {
		return err
	}
	r.stopped = r.send(ev)
	return r.stopped
}

// newID returns wanted, if it is one that nothing has, or else an id made of the run's.
func (r *core) newID(taken map[string]bool, wanted, kind string) string {
	id := wanted
	for id == "" || taken[id] {
		r.minted++
		id = r.in.RunID + "-" + kind + "-" + strconv.Itoa(r.minted)
	}
	taken[id] = true
	return id
}
