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

type stepKey struct {
	owner messages.Owner
	name  string
}

// runState is what the reducer must remember of the run that is going on, and forgets with it.
type runState struct {
	phase phase
	seq   uint64 // counts runs; what an entity remembers of a run holds for this one only
	steps map[stepKey]int
	open  [numNamespaces]int // how many text messages, reasoning messages, spans, calls are open
	spans map[string]*lifetime
	calls []string // started in this run, in order, for P-RUN-2
	// The calls that the thread did not hold before a snapshot of this run.
	brought []string
	active  map[messages.Owner]int
	ended   map[messages.Owner]bool
	tagged  []int // nodes that take part in this run by the tags of its events only
	// The messages that are open, be it that the thread does not hold them any more.
	streaming map[*entry]struct{}
	// The calls whose arguments ended, when last seen, with the first half of a surrogate pair.
	halfArgs map[*call]struct{}
}

// phase is where in its life the stream is (P-VER-1).
type phase uint8

const (
	phaseStart phase = iota // nothing came yet
	phaseActive
	phaseFinished
	phaseErrored
)

// editRun returns the run at the end of the list, which the caller may change.
func (r *Reducer) editRun() *Run {
	last := r.runs.Len() - 1
	run := r.runs.At(last)
	if r.runEpoch == r.epoch {
		return run
	}
	c := *run
	r.runs = r.runs.Set(last, &c)
	r.runEpoch = r.epoch
	return &c
}

func (r *Reducer) addRun(run *Run) {
	r.runs = r.runs.Append(run)
	r.runEpoch = r.epoch
	r.ownRun = true
}

func (r *Reducer) runStarted(e *event.RunStarted) error {
	if r.run.phase == phaseActive {
		return r.violation("P-VER-1", e.RunID, "a run is active; it must finish before another starts")
	}
	r.sweep()
	r.run = runState{phase: phaseActive, seq: r.run.seq + 1}
	if r.threadID == "" {
		r.threadID = e.ThreadID
	}
	run := &Run{
		ID: e.RunID, ParentRunID: e.ParentRunID, ProtocolVersion: e.ProtocolVersion,
		Status: Running, Metadata: e.Metadata,
	}
	r.addRun(run)
	r.checkVersion(e.ProtocolVersion)
	if in := e.Input; in != nil {
		r.offered = in.Tools
		if !r.hasState && in.State.Exists() && in.State.Kind() != state.KindNull {
			r.state, r.hasState = in.State, true
		}
		for _, m := range in.Messages {
			r.adopt(m)
		}
	}
	r.change.Kind, r.change.RunID = RunBegan, e.RunID
	return nil
}

func (r *Reducer) runFinished(e *event.RunFinished) error {
	if err := r.nothingOpen(e.RunID); err != nil {
		return err
	}
	run := r.editRun()
	run.Outcome, run.Result, run.Usage = e.Outcome, e.Result, e.Usage
	run.Metadata = run.Metadata.Merge(e.Metadata)
	settled := SubagentSucceeded
	switch e.Outcome.Type {
	case event.OutcomeInterrupt:
		run.Status, r.interrupts = Interrupted, e.Outcome.Interrupts
		settled = SubagentSuspended
	case event.OutcomeCancelled:
		run.Status, r.interrupts = Cancelled, nil
		settled = SubagentAbandoned
	default:
		run.Status, r.interrupts = Succeeded, nil
	}
	if run.Status != Cancelled { // "waits for nothing": events/lifecycle, Cancelled runs
		run.PendingToolCallIDs = r.leftPending(e.Outcome.PendingToolCallIDs)
	}
	r.settle(settled)
	r.run.phase = phaseFinished
	r.change.Kind, r.change.RunID = RunEnded, e.RunID
	return nil
}

func (r *Reducer) runError(e *event.RunError) error {
	if r.run.phase == phaseStart {
		r.addRun(&Run{ID: r.inputRunID})
	}
	run := r.editRun()
	run.Status = Failed
	run.Err = &AgentError{Message: e.Message, Code: e.Code}
	if e.Usage != nil {
		run.Usage = e.Usage
	}
	run.Metadata = run.Metadata.Merge(e.Metadata)
	r.settle(SubagentAbandoned)
	r.stopStreaming()
	r.run.phase = phaseErrored
	r.change.Kind, r.change.RunID = RunEnded, run.ID
	return nil
}

// breakOff ends what is going on without a word from the agent: the stream was rejected or cut.
func (r *Reducer) breakOff(status Status, err error) {
	if !r.ownRun {
		r.addRun(&Run{ID: r.inputRunID})
	}
	run := r.editRun()
	run.Status, run.Err = status, err
	r.settle(SubagentAbandoned)
	r.stopStreaming()
}

func (r *Reducer) stepStarted(e *event.StepStarted) error {
	key := stepKey{e.SubagentRunID, e.StepName}
	if _, open := r.run.steps[key]; open {
		return r.violation("P-VER-4", e.StepName, "the step is already open under "+ownerName(key.owner))
	}
	run := r.editRun()
	if r.run.steps == nil {
		r.run.steps = make(map[stepKey]int)
	}
	r.run.steps[key] = run.Steps.Len()
	run.Steps = run.Steps.Append(Step{Name: e.StepName, Owner: e.SubagentRunID})
	r.change.Kind, r.change.StepName = StepBegan, e.StepName
	return nil
}

func (r *Reducer) stepFinished(e *event.StepFinished) error {
	key := stepKey{e.SubagentRunID, e.StepName}
	i, open := r.run.steps[key]
	if !open {
		for _, s := range r.runs.At(r.runs.Len() - 1).Steps.All() {
			if s.Name == e.StepName && !s.Finished {
				return r.violation("P-VER-4", e.StepName, "the step is open under "+ownerName(s.Owner)+
					" and cannot be finished by "+ownerName(key.owner))
			}
		}
		return r.violation("P-VER-4", e.StepName, "no step of that name is open under "+ownerName(key.owner))
	}
	delete(r.run.steps, key)
	run := r.editRun()
	run.Steps = run.Steps.Set(i, Step{Name: e.StepName, Owner: e.SubagentRunID, Finished: true})
	r.change.Kind, r.change.StepName = StepEnded, e.StepName
	return nil
}

func ownerName(o messages.Owner) string {
	if id, ok := o.RunID(); ok {
		return "subagent " + quote(id)
	}
	return "the parent agent"
}
