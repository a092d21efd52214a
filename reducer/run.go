package reducer

import (
	"errors"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// Run is the record of one run (P-RUN-1). Once a snapshot holds it, it never changes.
type Run struct {
	ID              string // "" for a run that ended before it said RUN_STARTED
	ParentRunID     messages.Opt[string]
	ProtocolVersion messages.Opt[string]
	Status          Status
	Outcome         event.Outcome // of RUN_FINISHED; kept if the run was rejected or failed later
	Result          state.Value   // RUN_FINISHED.result, absent if it had none
	Usage           []event.TokenUsage
	// Err is why the run did not end well: an *AgentError of a failed run, a *Violation or a
	// *messages.MalformedError of a rejected one, an error that matches ErrTruncated of a truncated one or ErrStopped of
	// a stopped one, and what kept the agent from giving a stream of an unstarted one. The error of a run that was
	// rejected after it had failed matches both.
	Err error
	// Steps holds every step in the order of its start.
	Steps messages.List[Step]
	// PendingToolCallIDs are the calls that the run left for its client to answer, set when it succeeds or is
	// interrupted (P-RUN-2). A call that the client answers is removed.
	PendingToolCallIDs []string
	// RetiredInterrupts pended when the run began, and no longer pend although it did not answer them (P-RUN-3).
	RetiredInterrupts []event.Interrupt
	// Metadata is that of the RUN_* events, merged (P-MET-1).
	Metadata messages.Metadata
}

// Step is one step of a run, of the parent agent or of a subagent (P-VER-4).
type Step struct {
	Name     string
	Owner    messages.Owner
	Finished bool // false while it is open, and if the run ended before it did
}

// runWork is what the draft remembers of the current run only.
type runWork struct {
	seq       uint64          // counts runs; what belongs to no run has 0
	steps     map[stepKey]int // the places of the open ones in Run.Steps
	calls     []string        // started in this run, in order (P-RUN-2)
	brought   []string        // calls that the thread did not hold before a snapshot of this run
	reopened  []string        // those among calls that were answered before this run, and not since
	resumed   map[string]bool // the interrupts that the run's input answers
	threadID  string          // as RUN_STARTED names it
	subagents []int           // the places of those that take part
}

// editRun returns the run at the end of the list, which the caller may change.
func (d *draft) editRun() *Run {
	last := d.runs.Len() - 1
	run := d.runs.At(last)
	if d.runEpoch == d.epoch {
		return run
	}
	c := *run
	d.runs = d.runs.Set(last, &c)
	d.runEpoch = d.epoch
	return &c
}

func (d *draft) addRun(run *Run) {
	d.settlePending()
	d.runs = d.runs.Append(run)
	d.runEpoch = d.epoch
	d.ownRun = true
}

func (d *draft) runStarted(e *event.RunStarted) {
	d.sweep()
	d.run = runWork{seq: d.run.seq + 1, threadID: e.ThreadID}
	if d.threadID == "" {
		d.threadID = e.ThreadID
	}
	d.addRun(&Run{
		ID: e.RunID, ParentRunID: e.ParentRunID, ProtocolVersion: e.ProtocolVersion,
		Status: Running, Metadata: e.Metadata,
	})
	d.checkVersion(e.ProtocolVersion)
	d.resumes(d.input)
	d.input = nil
	if in := e.Input; in != nil {
		d.resumes(in)
		d.offered = in.Tools
		if !d.hasState && codec.Given(in.State) {
			d.state, d.hasState = in.State, true
		}
		d.adopt(in.Messages)
	}
	d.change.Kind, d.change.RunID = RunBegan, e.RunID
}

// resumes notes the interrupts that a run's input answers.
func (d *draft) resumes(in *event.RunInput) {
	if in == nil {
		return
	}
	for _, entry := range in.Resume {
		if d.run.resumed == nil {
			d.run.resumed = make(map[string]bool)
		}
		d.run.resumed[entry.InterruptID] = true
	}
}

func (d *draft) runFinished(e *event.RunFinished) {
	run := d.editRun()
	if e.RunID != run.ID {
		d.in.warn("P-RUN-1", "/runId", "the run that finishes is "+quote(run.ID)+", not "+quote(e.RunID))
	}
	if e.ThreadID != d.run.threadID {
		d.in.warn("P-RUN-1", "/threadId", "the run began in the thread "+quote(d.run.threadID)+", not "+quote(e.ThreadID))
	}
	run.Outcome, run.Result, run.Usage = e.Outcome, e.Result, e.Usage
	run.Metadata = run.Metadata.Merge(e.Metadata)
	d.retireInterrupts(run, e.Outcome.Interrupts)
	settled := SubagentSucceeded
	switch e.Outcome.Type {
	case event.OutcomeInterrupt:
		run.Status = Interrupted
		settled = SubagentSuspended
	case event.OutcomeCancelled:
		run.Status = Cancelled
		settled = SubagentAbandoned
	default:
		run.Status = Succeeded
	}
	if run.Status != Cancelled { // "waits for nothing": events/lifecycle, Cancelled runs
		run.PendingToolCallIDs = d.leftPending(e.Outcome.PendingToolCallIDs)
	}
	d.settle(settled)
	d.settleReopened(run.PendingToolCallIDs)
	d.change.Kind, d.change.RunID = RunEnded, e.RunID
}

// retireInterrupts puts the interrupts of a run that finishes in the place of those that pended, and warns of those
// that were not answered (P-RUN-3).
func (d *draft) retireInterrupts(run *Run, pending []event.Interrupt) {
	still := make(map[string]bool, len(pending))
	for _, in := range pending {
		still[in.ID] = true
	}
	for _, in := range d.interrupts {
		if !still[in.ID] && !d.run.resumed[in.ID] {
			run.RetiredInterrupts = append(run.RetiredInterrupts, in)
			d.in.warn("P-RUN-3", in.ID, "the run finished without an answer to the interrupt "+quote(in.ID)+", which no longer pends")
		}
	}
	d.interrupts = pending
}

func (d *draft) runError(e *event.RunError) {
	if !d.ownRun {
		d.addRun(&Run{ID: d.inputRunID})
	}
	run := d.editRun()
	run.Status = Failed
	run.Err = &AgentError{Message: e.Message, Code: e.Code}
	if e.Usage != nil {
		run.Usage = e.Usage
	}
	run.Metadata = run.Metadata.Merge(e.Metadata)
	d.breakOffRun()
	d.change.Kind, d.change.RunID = RunEnded, run.ID
}

// breakOff ends the run without an event of the agent: the stream was rejected or cut.
func (d *draft) breakOff(status Status, err error) {
	if !d.ownRun {
		d.addRun(&Run{ID: d.inputRunID})
	}
	run := d.editRun()
	if failed, ok := errors.AsType[*AgentError](run.Err); ok {
		err = &failedBefore{err, failed}
	}
	run.Status, run.Err = status, err
	d.breakOffRun()
	d.revised()
}

// breakOffRun ends what is open in a run that does not finish.
func (d *draft) breakOffRun() {
	d.settle(SubagentAbandoned)
	d.stopStreaming()
	d.settleReopened(nil)
	d.settlePending()
}

// settleReopened makes calls that the run has started again count as answered by their old answers, unless they pend.
func (d *draft) settleReopened(pending []string) {
	if len(d.run.reopened) == 0 {
		return
	}
	pends := make(map[string]bool, len(pending))
	for _, id := range pending {
		pends[id] = true
	}
	for _, id := range d.run.reopened {
		if !pends[id] {
			d.calls[id].stale = 0
			d.settleAnswer(d.calls[id])
		}
	}
	d.run.reopened = nil
}

// settlePending is settleReopened for the calls that the last run left pending, once they no longer pend.
func (d *draft) settlePending() {
	if n := d.runs.Len(); n > 0 {
		for _, id := range d.runs.At(n - 1).PendingToolCallIDs {
			if c := d.calls[id]; c != nil && c.stale > 0 {
				c.stale = 0
				d.settleAnswer(c)
			}
		}
	}
}

func (d *draft) stepStarted(e *event.StepStarted) {
	run := d.editRun()
	if d.run.steps == nil {
		d.run.steps = make(map[stepKey]int)
	}
	d.run.steps[stepKey{e.SubagentRunID, e.StepName}] = run.Steps.Len()
	run.Steps = run.Steps.Append(Step{Name: e.StepName, Owner: e.SubagentRunID})
	d.change.Kind, d.change.StepName = StepBegan, e.StepName
}

func (d *draft) stepFinished(e *event.StepFinished) {
	key := stepKey{e.SubagentRunID, e.StepName}
	run := d.editRun()
	run.Steps = run.Steps.Set(d.run.steps[key], Step{Name: e.StepName, Owner: e.SubagentRunID, Finished: true})
	delete(d.run.steps, key)
	d.change.Kind, d.change.StepName = StepEnded, e.StepName
}
