package reducer

import (
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// Run is the record of one run (P-RUN-1). Once a snapshot holds it, it never changes.
type Run struct {
	ID              string // "" for a run that ended before it said RUN_STARTED
	ParentRunID     messages.Opt[string]
	ProtocolVersion messages.Opt[string]
	Status          Status
	Outcome         event.Outcome // as RUN_FINISHED told it; kept when the run was rejected or failed later
	Result          state.Value   // RUN_FINISHED.result, absent if it had none
	Usage           []event.TokenUsage
	// Err is why the run did not end well: a *RunError of a failed run, a *Violation or an
	// *messages.MalformedError of a rejected one, an error that matches ErrTruncated of a truncated one.
	Err error
	// Steps holds every step in the order of its start.
	Steps messages.List[Step]
	// PendingToolCallIDs are the calls that the run left for its client to answer, set when it succeeds or is
	// interrupted (P-RUN-2). What the client answers is taken off.
	PendingToolCallIDs []string
	// Metadata is that of the RUN_* events, merged (P-MET-1).
	Metadata messages.Metadata
}

// Step is one step of a run, of the parent agent or of a subagent (P-VER-4).
type Step struct {
	Name     string
	Owner    messages.Owner
	Finished bool // false while it is open, and for ever if the run broke off
}

// runWork is what the draft remembers of the current run only.
type runWork struct {
	seq       uint64          // counts runs; what belongs to no run has 0
	steps     map[stepKey]int // the places of the open ones in Run.Steps
	calls     []string        // started in this run, in order (P-RUN-2)
	brought   []string        // calls that the thread did not hold before a snapshot of this run
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
	d.runs = d.runs.Append(run)
	d.runEpoch = d.epoch
	d.ownRun = true
}

func (d *draft) runStarted(e *event.RunStarted) {
	d.sweep()
	d.run = runWork{seq: d.run.seq + 1}
	if d.threadID == "" {
		d.threadID = e.ThreadID
	}
	run := &Run{
		ID: e.RunID, ParentRunID: e.ParentRunID, ProtocolVersion: e.ProtocolVersion,
		Status: Running, Metadata: e.Metadata,
	}
	d.addRun(run)
	d.checkVersion(e.ProtocolVersion)
	if in := e.Input; in != nil {
		d.offered = in.Tools
		if !d.hasState && in.State.Exists() && in.State.Kind() != state.KindNull {
			d.state, d.hasState = in.State, true
		}
		for _, m := range in.Messages {
			d.adopt(m)
		}
	}
	d.change.Kind, d.change.RunID = RunBegan, e.RunID
}

func (d *draft) runFinished(e *event.RunFinished) {
	run := d.editRun()
	run.Outcome, run.Result, run.Usage = e.Outcome, e.Result, e.Usage
	run.Metadata = run.Metadata.Merge(e.Metadata)
	settled := SubagentSucceeded
	switch e.Outcome.Type {
	case event.OutcomeInterrupt:
		run.Status, d.interrupts = Interrupted, e.Outcome.Interrupts
		settled = SubagentSuspended
	case event.OutcomeCancelled:
		run.Status, d.interrupts = Cancelled, nil
		settled = SubagentAbandoned
	default:
		run.Status, d.interrupts = Succeeded, nil
	}
	if run.Status != Cancelled { // "waits for nothing": events/lifecycle, Cancelled runs
		run.PendingToolCallIDs = d.leftPending(e.Outcome.PendingToolCallIDs)
	}
	d.settle(settled)
	d.change.Kind, d.change.RunID = RunEnded, e.RunID
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
	d.settle(SubagentAbandoned)
	d.stopStreaming()
	d.change.Kind, d.change.RunID = RunEnded, run.ID
}

// breakOff ends what is going on without a word from the agent: the stream was rejected or cut.
func (d *draft) breakOff(status Status, err error) {
	if !d.ownRun {
		d.addRun(&Run{ID: d.inputRunID})
	}
	run := d.editRun()
	run.Status, run.Err = status, err
	d.settle(SubagentAbandoned)
	d.stopStreaming()
	d.revised()
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
