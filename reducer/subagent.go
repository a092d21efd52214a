package reducer

import (
	"iter"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// Subagent is one invocation of a subagent, a node of the tree (P-SUB-1). Once a snapshot holds it, it
// never changes.
type Subagent struct {
	// Owner is the invocation's subagentRunId, as an owner: it compares equal to the Owner of the messages
	// that it produced.
	Owner       messages.Owner
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
	Err          *AgentError
	// RunID is the id of the run that the invocation last took part in.
	RunID string

	index int // its own place in the list
	above int // the place of the node above it, -1 under the parent agent
}

// SubagentStatus says how far an invocation has come or how it ended.
type SubagentStatus uint8

// The statuses of an invocation.
const (
	SubagentRunning   SubagentStatus = iota
	SubagentSucceeded                // SUBAGENT_FINISHED; or unannounced, and its run finished
	SubagentSuspended                // SUBAGENT_FINISHED, waiting for interrupts; it may continue in a later run
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

// Subagents is the tree of subagent invocations, the parent agent being its root, which is not a node. It is
// immutable and safe for concurrent use; the zero value is empty.
type Subagents struct{ nodes messages.List[*Subagent] }

// Len returns the number of invocations.
func (s Subagents) Len() int { return s.nodes.Len() }

// All yields the invocations in the order in which they became known.
func (s Subagents) All() iter.Seq2[int, *Subagent] { return s.nodes.All() }

// Find returns the latest invocation with this id, nil if there is none. It costs a pass over the tree.
func (s Subagents) Find(id messages.Owner) *Subagent {
	for _, n := range s.nodes.Backward() {
		if n.Owner == id {
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
func (d *draft) editNode(i int) *Subagent {
	n := d.nodes.At(i)
	if d.nodeEpochs[i] == d.epoch {
		return n
	}
	c := *n
	d.nodes = d.nodes.Set(i, &c)
	d.nodeEpochs[i] = d.epoch
	return &c
}

func (d *draft) addNode(n *Subagent) int {
	i := d.nodes.Len()
	n.index = i
	d.nodes = d.nodes.Append(n)
	d.nodeEpochs = append(d.nodeEpochs, d.epoch)
	d.nodeOf[n.Owner] = i
	return i
}

// tagSeen notes an event of the subagent. A subagent that was not announced gets a node. One that an earlier run
// suspended, or that was not announced there either, continues (P-SUB-1).
func (d *draft) tagSeen(o messages.Owner) {
	if o.IsParent() || o == d.lastTag {
		return
	}
	d.lastTag = o
	i := d.nodeFor(o)
	n := d.nodes.At(i)
	if n.Status == SubagentRunning || d.verifier.ended[o] || n.Announced && n.Status != SubagentSuspended {
		return
	}
	n = d.editNode(i)
	n.Status, n.RunID, n.InterruptIDs = SubagentRunning, d.currentRunID(), nil
	d.run.subagents = append(d.run.subagents, i)
}

// nodeFor returns the place of the subagent's node, an unannounced one if there was none; -1 for the parent
// agent.
func (d *draft) nodeFor(o messages.Owner) int {
	if o.IsParent() {
		return -1
	}
	i, known := d.nodeOf[o]
	if !known {
		i = d.addNode(&Subagent{Owner: o, RunID: d.currentRunID(), above: -1})
		d.run.subagents = append(d.run.subagents, i)
	}
	return i
}

func (d *draft) currentRunID() string {
	if n := d.runs.Len(); n > 0 {
		return d.runs.At(n - 1).ID
	}
	return ""
}

func (d *draft) subagentStarted(e *event.SubagentStarted) {
	above := -1
	if !e.ParentSubagentRunID.IsParent() {
		above = d.nodeOf[e.ParentSubagentRunID]
	}
	node := Subagent{
		Owner: e.SubagentRunID, Name: e.Name, Description: e.Description, Parent: e.ParentSubagentRunID,
		ToolCallID: e.ParentToolCallID, MessageID: e.ParentMessageID,
		Announced: true, RunID: d.currentRunID(), above: above,
	}
	i, known := d.nodeOf[e.SubagentRunID]
	switch {
	case known && !d.nodes.At(i).Announced && d.nodes.At(i).Status == SubagentRunning:
		node.index = i
		*d.editNode(i) = node // its tags came before its announcement
	case known && (d.nodes.At(i).Status == SubagentSuspended || d.nodes.At(i).Status == SubagentRunning):
		old := d.editNode(i) // it continues in its place
		old.Status, old.RunID, old.Name, old.Announced = SubagentRunning, node.RunID, node.Name, true
		old.InterruptIDs, old.Result = nil, state.Value{}
		if e.Description.IsSet() {
			old.Description = e.Description
		}
	default:
		i = d.addNode(&node)
	}
	d.run.subagents = append(d.run.subagents, i)
	d.change.Kind, d.change.Subagent = SubagentBegan, e.SubagentRunID
}

// endSubagent returns the node of a subagent that ends, for the caller to finish.
func (d *draft) endSubagent(o messages.Owner) *Subagent {
	d.change.Kind, d.change.Subagent = SubagentEnded, o
	return d.editNode(d.nodeOf[o])
}

func (d *draft) subagentFinished(e *event.SubagentFinished) {
	n := d.endSubagent(e.SubagentRunID)
	n.Status, n.Result = SubagentSucceeded, e.Result
	if e.Outcome.Type == event.SubagentSuspended {
		n.Status, n.InterruptIDs = SubagentSuspended, e.Outcome.InterruptIDs
	}
}

func (d *draft) subagentError(e *event.SubagentError) {
	n := d.endSubagent(e.SubagentRunID)
	n.Status, n.Err = SubagentFailed, &AgentError{Message: e.Message, Code: e.Code}
}

// settle sets the final status of the subagents that still run when their run ends.
func (d *draft) settle(status SubagentStatus) {
	for _, i := range d.run.subagents {
		if d.nodes.At(i).Status == SubagentRunning {
			d.editNode(i).Status = status
		}
	}
	d.run.subagents, d.lastTag = nil, messages.Owner{}
}
