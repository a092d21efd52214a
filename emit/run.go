package emit

import (
	"context"
	"errors"
	"slices"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// A Run is one run of an agent, and the scope of everything in it. It may be used from several goroutines.
type Run struct {
	Scope
}

// New returns a run that sends its events with send, for programs that are not a [client.Agent]; see [Agent] for those that are.
// The first event is RUN_STARTED; see [Run.Start]. send is called by whoever uses a handle, by one goroutine at a
// time; it must return when ctx is done. After it has returned an error it is not called again. End the run with [Run.End].
func New(ctx context.Context, in event.RunInput, send func(event.Event) error, o *Options) *Run {
	run := new(Run)
	run.r = newCore(ctx, in, send, o)
	return run
}

// Start sends RUN_STARTED, unless it was sent. Whatever the run sends first does the same, and [Agent] does it before it calls its function.
func (run *Run) Start() error {
	run.r.mu.Lock()
	defer run.r.mu.Unlock()
	return run.r.begin()
}

// Input returns the input of the run, which must not be changed.
func (run *Run) Input() event.RunInput { return run.r.in }

// SetResult sets the result that RUN_FINISHED carries, any value that can be encoded as JSON.
func (run *Run) SetResult(v any) error {
	value, err := state.Of(v)
	if err != nil {
		return err
	}
	return run.set(func(end *event.RunFinished) { end.Result = value })
}

// AddUsage adds to the token usage that RUN_FINISHED or RUN_ERROR carries.
func (run *Run) AddUsage(usage ...event.TokenUsage) error {
	return run.set(func(end *event.RunFinished) { end.Usage = slices.Concat(end.Usage, usage) })
}

// Interrupt makes the run end with a question to the client: when it ends, its outcome is an interrupt. It may be called more
// than once, for several questions. It returns the question's id, which is made if in has none. A question whose id
// was asked before is an error.
func (run *Run) Interrupt(in event.Interrupt) (id string, err error) {
	r := run.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if in.ID != "" && r.asked[in.ID] {
		return "", errors.New("emit: an interrupt with this id was asked before")
	}
	in.ID = r.newID(r.asked, in.ID, "interrupt")
	err = r.set(func(end *event.RunFinished) {
		asked := slices.Concat(end.Outcome.Interrupts, []event.Interrupt{in})
		end.Outcome = event.Outcome{Type: event.OutcomeInterrupt, Interrupts: asked}
	})
	if err != nil {
		delete(r.asked, in.ID) // a corrected question may have it
		return "", err
	}
	return in.ID, nil
}

// Cancel makes the run end as cancelled by the agent's side, whatever was asked. It does not stop the function.
func (run *Run) Cancel() error {
	return run.set(func(end *event.RunFinished) { end.Outcome = event.Outcome{Type: event.OutcomeCancelled} })
}

// set changes what RUN_FINISHED will say, unless it would be malformed then.
func (run *Run) set(change func(*event.RunFinished)) error {
	run.r.mu.Lock()
	defer run.r.mu.Unlock()
	return run.r.set(change)
}

// set is [Run.set] under the lock.
func (r *core) set(change func(*event.RunFinished)) error {
	if r.stopped != nil {
		return r.stopped
	}
	end := &event.RunFinished{Result: r.result, Outcome: r.outcome, Usage: r.usage}
	change(end)
	if err := event.Check(end); err != nil {
		return err
	}
	r.result, r.outcome, r.usage = end.Result, end.Outcome, end.Usage
	return nil
}

// End ends the run. If err is nil, it closes everything that is open and sends RUN_FINISHED; otherwise it finishes the steps
// and sends RUN_ERROR, which ends the rest (P-VER-3). Nothing is sent if the run cannot send any more. End returns why not; after that,
// and after a second End, the error is not nil. A [Run] of [Agent] is ended when its function returns; ending it earlier is allowed.
//
// Calls of tools that the input offers, and that have no result, are left for the client: the outcome names them (P-RUN-2).
func (run *Run) End(err error) error {
	if err == nil || run.isOver() {
		return run.finish()
	}
	ended := run.fail(run.r.told(err))
	run.r.report(err)
	return ended
}

// isOver reports whether the run cannot send any more.
func (run *Run) isOver() bool {
	run.r.mu.Lock()
	defer run.r.mu.Unlock()
	return run.r.stopped != nil || run.r.ctx.Err() != nil
}

func (run *Run) finish() error {
	run.r.mu.Lock()
	defer run.r.mu.Unlock()
	run.closeAll()
	return run.last(run.r.finished())
}

func (run *Run) fail(told *event.RunError) error {
	run.r.mu.Lock()
	defer run.r.mu.Unlock()
	run.endSteps()
	return run.last(&event.RunError{Base: told.Base, Message: told.Message, Code: told.Code, Usage: slices.Concat(told.Usage, run.r.usage)})
}

// last sends the last event of the run.
func (run *Run) last(ev event.Event) error {
	err := run.r.emit(ev)
	if run.r.stopped == nil {
		run.r.stopped = ErrClosed
	}
	return err
}

// finished returns the event that ends a run well.
func (r *core) finished() *event.RunFinished {
	end := &event.RunFinished{ThreadID: r.in.ThreadID, RunID: r.in.RunID, Result: r.result, Outcome: r.outcome, Usage: r.usage}
	if r.outcome.Type != "" {
		return end
	}
	offered := map[string]bool{}
	for _, tool := range r.in.Tools {
		offered[tool.Name] = true
	}
	var pending []string
	for _, c := range r.calls {
		if !c.answered && offered[c.tool] {
			pending = append(pending, c.id)
		}
	}
	if pending != nil {
		end.Outcome = event.Outcome{Type: event.OutcomeSuccess, PendingToolCallIDs: pending}
	}
	return end
}

// Result answers a call of an earlier run that the input holds without an answer, such as one that waited for the answer to
// an interrupt. content is as in [Call.Result]. Any other call is an error.
func (run *Run) Result(callID string, content any) error {
	answer, err := contentOf(content)
	if err != nil {
		return err
	}
	r := run.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.waiting[callID] {
		return errors.New("emit: the input holds no call with this id that has no result")
	}
	err = r.emit(&event.ToolCallResult{MessageID: r.newID(r.ids, callID+"-result", "result"), ToolCallID: callID, Content: answer, Role: messages.RoleTool})
	if err == nil {
		delete(r.waiting, callID)
	}
	return err
}
