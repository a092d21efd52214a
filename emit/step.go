package emit

import (
	"strconv"

	"github.com/agfold/agfold/event"
)

// A Step is a named step of the agent or of a subagent, and the scope of what happens in it. It may be used from several
// goroutines.
type Step struct {
	Scope
	name string
}

// Step begins a step. A name that its owner has open gets a number, as in "search (2)": the protocol tells open
// steps apart by owner and name (P-VER-4).
func (s *Scope) Step(name string) *Step {
	r := s.r
	step := &Step{Scope: Scope{r: r, owner: s.owner}, name: name}
	step.part.inner, step.part.step = &step.Scope, step
	r.mu.Lock()
	defer r.mu.Unlock()
	for n := 2; r.steps[step.key()]; n++ {
		step.name = name + " (" + strconv.Itoa(n) + ")"
	}
	err := s.open(&step.part, &event.StepStarted{Attribution: s.by(), StepName: step.name}, func() {
		step.closeAll()
		step.finish()
	})
	if err != nil {
		step.closed = true
		return step
	}
	r.steps[step.key()] = true
	return step
}

func (step *Step) key() stepKey { return stepKey{step.owner, step.name} }

// finish sends the end of the step.
func (step *Step) finish() {
	_ = step.r.emit(&event.StepFinished{Attribution: step.by(), StepName: step.name})
	delete(step.r.steps, step.key())
}

// Name returns the step's name as it was sent.
func (step *Step) Name() string { return step.name }

// Close ends the step and closes what is open in it. Closing it again does nothing.
func (step *Step) Close() error { return step.r.closePart(&step.part) }
