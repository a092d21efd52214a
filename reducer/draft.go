package reducer

import (
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// draft is the thread being made, with its indexes. Only what was made in the current epoch may be changed in place: a
// snapshot may hold anything older, so that is copied first.
type draft struct {
	in       *intake
	verifier *verifier

	change Change // by the event being folded

	// The thread.
	epoch      uint64
	snapshot   *Thread // of the current revision, nil if there is none yet
	revision   uint64
	threadID   string
	list       messages.List[*messages.Message]
	order      messages.List[*entry] // of the messages in list
	state      state.Value
	hasState   bool
	runs       messages.List[*Run]
	runEpoch   uint64
	ownRun     bool // this stream has a run in the list
	nodes      messages.List[*Subagent]
	nodeEpochs []uint64
	interrupts []event.Interrupt

	activities    lookup[string, *lookup[*entry, struct{}]] // by activity type
	activityBytes int                                       // the size of their contents
	maxPatched    int                                       // see Options.MaxPatchedBytes

	// How to find things in it.
	finder     *finder // of its snapshots
	entries    [messages.KindActivity + 1]lookup[string, *entry]
	twins      lookup[string, map[string]*entry] // tool results, by id and call, whose id is in entries for another call
	room       []entry                           // for the entries to come
	calls      map[string]*call
	goneCalls  map[string]struct{} // those among calls that no message may hold
	nodeOf     map[messages.Owner]int
	lastEntry  *entry // what find found last
	lastKind   messages.Kind
	lastID     string
	lastCall   *call // what findCall found last
	lastCallID string
	lastTag    messages.Owner
	lastOrd    uint64

	// The run.
	run        runWork
	input      *event.RunInput // of the stream's first run until that begins, if it is known
	inputRunID string
	offered    []event.Tool // by the input of the run
}

// resume takes over a thread that a snapshot holds.
func (d *draft) resume(t *Thread) {
	t = t.BreakOff(nil)
	d.takeRest(t)
	d.list = t.Messages
	d.room = make([]entry, t.Messages.Len()) // one object for the garbage collector, not one a message
	d.entries[messages.KindText].m = make(map[string]*entry, t.Messages.Len())
	order := make([]*entry, 0, t.Messages.Len())
	for i, m := range t.Messages.All() {
		if d.findKey(m.Key()) != nil {
			continue // this thread was not made by a reducer
		}
		e := d.newEntry(m)
		if s := still(m); s != m { // in a run that this reducer does not know
			m = s
			d.list = d.list.Set(i, m)
		}
		e.hint, e.ord = i, d.nextOrd()
		order = append(order, e)
		d.become(e, m, 0)
		if m.Role == messages.RoleTool {
			d.callFor(m.ToolCallID).answers++
		}
	}
	for _, id := range t.PendingToolCallIDs() {
		if c := d.calls[id]; c != nil {
			c.stale = c.answers
		}
	}
	if len(order) < d.list.Len() { // if several messages share a key, the first stays
		items := make([]*messages.Message, len(order))
		for i, e := range order {
			items[i], e.hint = e.msg, i
		}
		d.list = messages.NewList(items...)
	}
	d.order = messages.NewList(order...)
	for _, e := range order { // when all answers are known, so that a sound thread stays as it is
		d.indexCalls(e, e.msg)
	}
	d.nodeEpochs = make([]uint64, d.nodes.Len())
	for i, n := range d.nodes.All() {
		d.nodeOf[n.Owner] = i
	}
	d.epoch++
}

// takeRest takes over all but the messages of a thread.
func (d *draft) takeRest(t *Thread) {
	if t.finder != nil {
		d.finder = t.finder
	}
	d.revision, d.runs, d.nodes, d.interrupts = t.Revision, t.Runs, t.Subagents.nodes, t.Interrupts
	if t.ID != "" {
		d.threadID = t.ID
	}
	d.state, d.hasState = state.Object(), false
	if t.State.Exists() {
		d.state = t.State
		d.hasState = t.hasState || !isEmptyObject(t.State)
	}
}

// fold folds an event that has been verified.
func (d *draft) fold(ev event.Event) {
	d.change = Change{Index: -1}
	switch e := ev.(type) {
	case *event.TextMessageStart:
		role := e.Role
		if role == "" {
			role = messages.RoleAssistant
		}
		d.messageStart(&messages.Message{ID: e.MessageID, Role: role, Owner: e.SubagentRunID, Name: e.Name, Metadata: e.Metadata})
	case *event.TextMessageContent:
		d.messageContent(messages.KindText, e.MessageID, e.Delta, e.Metadata)
	case *event.TextMessageEnd:
		d.messageEnd(messages.KindText, e.MessageID, e.Metadata)
	case *event.ReasoningMessageStart:
		d.messageStart(&messages.Message{ID: e.MessageID, Role: messages.RoleReasoning, Owner: e.SubagentRunID, Metadata: e.Metadata})
	case *event.ReasoningMessageContent:
		d.messageContent(messages.KindReasoning, e.MessageID, e.Delta, e.Metadata)
	case *event.ReasoningMessageEnd:
		d.messageEnd(messages.KindReasoning, e.MessageID, e.Metadata)
	case *event.ReasoningEncryptedValue:
		d.encryptedValue(e)
	case *event.ToolCallStart:
		d.toolCallStart(e)
	case *event.ToolCallArgs:
		d.toolCallArgs(e)
	case *event.ToolCallEnd:
		d.toolCallEnd(e)
	case *event.ToolCallResult:
		d.toolCallResult(e)
	case *event.StateSnapshot:
		d.stateSnapshot(e)
	case *event.StateDelta:
		d.stateDelta(e)
	case *event.MessagesSnapshot:
		d.messagesSnapshot(e)
	case *event.ActivitySnapshot:
		d.activitySnapshot(e)
	case *event.ActivityDelta:
		d.activityDelta(e)
	case *event.RunStarted:
		d.runStarted(e)
	case *event.RunFinished:
		d.runFinished(e)
	case *event.RunError:
		d.runError(e)
	case *event.StepStarted:
		d.stepStarted(e)
	case *event.StepFinished:
		d.stepFinished(e)
	case *event.SubagentStarted:
		d.subagentStarted(e)
	case *event.SubagentFinished:
		d.subagentFinished(e)
	case *event.SubagentError:
		d.subagentError(e)
	default: // RAW, CUSTOM and reasoning spans are passed through
		if d.in.typ.IsRetired() {
			d.in.warn("P-CMP-1", "", "the retired event was not upgraded before the fold and has no effect")
		}
	}
	d.tagSeen(ev.Owner())
	d.revised()
}

// revised says that the thread is another one now.
func (d *draft) revised() {
	d.revision++
	d.snapshot = nil
}

// thread returns the thread as it is now.
func (d *draft) thread() *Thread {
	if d.snapshot == nil {
		d.snapshot = &Thread{
			ID: d.threadID, Revision: d.revision, Messages: d.list, State: d.state, Runs: d.runs,
			Subagents: Subagents{d.nodes}, Interrupts: d.interrupts, hasState: d.hasState, finder: d.finder,
		}
		d.epoch++
	}
	return d.snapshot
}

// changed sets the change to one of a message.
func (d *draft) changed(kind ChangeKind, e *entry) {
	d.change.Kind, d.change.MessageID, d.change.MessageKind = kind, e.msg.ID, e.msg.Kind()
	d.change.Index = d.locate(e)
}

// changedCall sets the change to one of a tool call.
func (d *draft) changedCall(kind ChangeKind, c *call) {
	d.changed(kind, c.parent)
	d.change.ToolCallID, d.change.Call = c.tc.ID, c.index
}
