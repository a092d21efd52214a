package reducer

import (
	"fmt"
	"iter"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// Subagent is one invocation of a subagent, a node of the tree (P-SUB-1). Once a snapshot holds it, it
// never changes.
type Subagent struct {
	// RunID is the invocation's subagentRunId, as an owner: it compares equal to the Owner of the messages
	// that it produced.
	RunID       messages.Owner
	Name        string // "" if it was never announced
	Description messages.Opt[string]
	// Parent is the invocation that it was announced under, the parent agent if none.
	Parent     messages.Owner
	ToolCallID messages.Opt[string] // the call that spawned it
	MessageID  messages.Opt[string] // the message that spawned it
	// Announced is false for an invocation known by the tags of its events only.
	Announced    bool
	Status       SubagentStatus
	Result       state.Value // of SUBAGENT_FINISHED, absent if it had none
	InterruptIDs []string    // of a suspended invocation, the interrupts that it waits for, if it named them
	Err          *SubagentError
	// InRun is the id of the run that the invocation last took part in.
	InRun string

	index int // its own place in the list
	above int // the place of the node above it, -1 under the parent agent
}

// SubagentStatus says how far an invocation has come or how it ended.
type SubagentStatus uint8

// The statuses of an invocation.
const (
	SubagentRunning   SubagentStatus = iota
	SubagentSucceeded                // SUBAGENT_FINISHED; or unannounced, and its run finished
	SubagentSuspended                // SUBAGENT_FINISHED, waiting for interrupts; it may come back in a later run
	SubagentFailed                   // SUBAGENT_ERROR
	SubagentAbandoned                // its run failed, was cancelled or broke off
)

var subagentStatusNames = [...]string{"running", "succeeded", "suspended", "failed", "abandoned"}

// String returns the status in one lower-case word.
func (s SubagentStatus) String() string {
	if int(s) >= len(subagentStatusNames) {
		return "unknown"
	}
	return subagentStatusNames[s]
}

// MarshalText returns what String returns.
func (s SubagentStatus) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// SubagentError is what SUBAGENT_ERROR told.
type SubagentError struct {
	Message string
	Code    messages.Opt[string]
}

// Error returns the invocation's own message, with the code if there is one.
func (e *SubagentError) Error() string {
	if code, ok := e.Code.Get(); ok {
		return fmt.Sprintf("subagent failed: %s (%s)", e.Message, code)
	}
	return "subagent failed: " + e.Message
}

// Subagents is the tree of subagent invocations, the parent agent being its root, which is no node. It is
// immutable and safe for concurrent use; the zero value is empty.
type Subagents struct{ nodes messages.List[*Subagent] }

// Len returns the number of invocations.
func (s Subagents) Len() int { return s.nodes.Len() }

// All yields the invocations in the order in which they became known.
func (s Subagents) All() iter.Seq2[int, *Subagent] { return s.nodes.All() }

// Find returns the latest invocation with this id, nil if there is none. It costs a pass over the tree.
func (s Subagents) Find(id messages.Owner) *Subagent {
	for _, n := range s.nodes.Backward() {
		if n.RunID == id {
			return n
		}
	}
	return nil
}

// Walk yields every invocation with its depth, 0 for those under the parent agent: each one before those
// that it spawned, siblings in the order in which they became known (P-SUB-1). It costs a pass over the
// tree.
func (s Subagents) Walk() iter.Seq2[int, *Subagent] {
	return func(yield func(int, *Subagent) bool) {
		n := s.nodes.Len()
		firstChild, nextSibling := make([]int, n+1), make([]int, n)
		for i := range firstChild {
			firstChild[i] = -1
		}
		for i, node := range s.nodes.Backward() {
			nextSibling[i] = firstChild[node.above+1]
			firstChild[node.above+1] = i
		}
		type place struct{ index, depth int }
		stack := []place{{firstChild[0], 0}}
		for len(stack) > 0 {
			p := &stack[len(stack)-1]
			if p.index < 0 {
				stack = stack[:len(stack)-1]
				continue
			}
			i, depth := p.index, p.depth
			p.index = nextSibling[i]
			if !yield(depth, s.nodes.At(i)) {
				return
			}
			stack = append(stack, place{firstChild[i+1], depth + 1})
		}
	}
}

// Children yields the invocations that parent spawned, in the order in which they became known: pass nil
// for those under the parent agent. It costs a pass over the tree.
func (s Subagents) Children(parent *Subagent) iter.Seq[*Subagent] {
	return func(yield func(*Subagent) bool) {
		above := -1
		if parent != nil {
			above = parent.index
		}
		for _, n := range s.nodes.All() {
			if n.above == above && !yield(n) {
				return
			}
		}
	}
}

// editNode returns the node at place i, which the caller may change.
func (r *Reducer) editNode(i int) *Subagent {
	n := r.nodes.At(i)
	if r.nodeEpochs[i] == r.epoch {
		return n
	}
	c := *n
	r.nodes = r.nodes.Set(i, &c)
	r.nodeEpochs[i] = r.epoch
	return &c
}

func (r *Reducer) addNode(n *Subagent) int {
	i := r.nodes.Len()
	n.index = i
	r.nodes = r.nodes.Append(n)
	r.nodeEpochs = append(r.nodeEpochs, r.epoch)
	r.nodeOf[n.RunID] = i
	return i
}

// tagSeen notes an event of the subagent: one that nothing announced gets a node, and one that an earlier
// run suspended, or that nothing announced then either, goes on (P-SUB-1).
func (r *Reducer) tagSeen(o messages.Owner) {
	if o.IsParent() || o == r.lastTag {
		return
	}
	r.lastTag = o
	i := r.nodeFor(o)
	n := r.nodes.At(i)
	if n.Status == SubagentRunning || r.run.ended[o] || n.Announced && n.Status != SubagentSuspended {
		return
	}
	n = r.editNode(i)
	n.Status, n.InRun, n.InterruptIDs = SubagentRunning, r.currentRunID(), nil
	r.run.tagged = append(r.run.tagged, i)
}

// nodeFor returns the place of the subagent's node, an unannounced one if there was none; -1 for the parent
// agent.
func (r *Reducer) nodeFor(o messages.Owner) int {
	if o.IsParent() {
		return -1
	}
	i, known := r.nodeOf[o]
	if !known {
		i = r.addNode(&Subagent{RunID: o, InRun: r.currentRunID(), above: -1})
		r.run.tagged = append(r.run.tagged, i)
	}
	return i
}

func (r *Reducer) currentRunID() string {
	if n := r.runs.Len(); n > 0 {
		return r.runs.At(n - 1).ID
	}
	return ""
}

func (r *Reducer) subagentStarted(e *event.SubagentStarted) error {
	id, _ := e.SubagentRunID.RunID()
	if _, active := r.run.active[e.SubagentRunID]; active {
		return r.violation("P-VER-7", id, "the subagent is already active")
	}
	if r.run.ended[e.SubagentRunID] {
		return r.violation("P-VER-7", id, "the subagent has already ended in this run")
	}
	above := -1
	if parentID, ok := e.ParentSubagentRunID.RunID(); ok {
		_, active := r.run.active[e.ParentSubagentRunID]
		if !active && !r.run.ended[e.ParentSubagentRunID] {
			return r.violation("P-VER-7", id, "its parent "+quote(parentID)+" was not started in this run")
		}
		above = r.nodeOf[e.ParentSubagentRunID]
	}
	node := Subagent{
		RunID: e.SubagentRunID, Name: e.Name, Description: e.Description, Parent: e.ParentSubagentRunID,
		ToolCallID: e.ParentToolCallID, MessageID: e.ParentMessageID,
		Announced: true, InRun: r.currentRunID(), above: above,
	}
	i, known := r.nodeOf[e.SubagentRunID]
	switch {
	case known && !r.nodes.At(i).Announced && r.nodes.At(i).Status == SubagentRunning:
		node.index = i
		*r.editNode(i) = node // its tags came before its announcement
	case known && (r.nodes.At(i).Status == SubagentSuspended || r.nodes.At(i).Status == SubagentRunning):
		old := r.editNode(i) // it comes back where it was
		old.Status, old.InRun, old.Name, old.Announced = SubagentRunning, node.InRun, node.Name, true
		old.InterruptIDs, old.Result = nil, state.Value{}
		if e.Description.IsSet() {
			old.Description = e.Description
		}
	default:
		i = r.addNode(&node)
	}
	if r.run.active == nil {
		r.run.active = make(map[messages.Owner]int)
	}
	r.run.active[e.SubagentRunID] = i
	r.change.Kind, r.change.Subagent = SubagentBegan, e.SubagentRunID
	return nil
}

// endSubagent takes an active subagent off the list and returns its node for the caller to finish.
func (r *Reducer) endSubagent(o messages.Owner) (*Subagent, error) {
	i, active := r.run.active[o]
	if !active {
		id, _ := o.RunID()
		return nil, r.violation("P-VER-7", id, "no subagent with that id is active")
	}
	delete(r.run.active, o)
	if r.run.ended == nil {
		r.run.ended = make(map[messages.Owner]bool)
	}
	r.run.ended[o] = true
	r.change.Kind, r.change.Subagent = SubagentEnded, o
	return r.editNode(i), nil
}

func (r *Reducer) subagentFinished(e *event.SubagentFinished) error {
	n, err := r.endSubagent(e.SubagentRunID)
	if err != nil {
		return err
	}
	n.Status, n.Result = SubagentSucceeded, e.Result
	if e.Outcome.Type == event.SubagentSuspended {
		n.Status, n.InterruptIDs = SubagentSuspended, e.Outcome.InterruptIDs
	}
	return nil
}

func (r *Reducer) subagentError(e *event.SubagentError) error {
	n, err := r.endSubagent(e.SubagentRunID)
	if err != nil {
		return err
	}
	n.Status, n.Err = SubagentFailed, &SubagentError{Message: e.Message, Code: e.Code}
	return nil
}

// settle ends the invocations that the run leaves behind: what was announced and still runs is abandoned
// (a run that finishes has none), what only its tags tell of ends as the run did.
func (r *Reducer) settle(unannounced SubagentStatus) {
	for _, i := range r.run.active {
		r.editNode(i).Status = SubagentAbandoned
	}
	for _, i := range r.run.tagged {
		if r.nodes.At(i).Status == SubagentRunning {
			r.editNode(i).Status = unannounced
		}
	}
	r.run.active, r.run.tagged = nil, nil
	r.lastTag = messages.Owner{}
}
