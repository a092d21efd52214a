package reducer

import (
	"errors"
	"iter"

	"github.com/agfold/agfold/chunks"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// Options are the choices that a reducer is made with. Nil means the defaults, which are the zero values.
type Options struct {
	// Thread is the conversation that the stream goes on with; nil means an empty one.
	Thread *Thread
	// Input is what the run was asked with, if that is known. Its messages and state are what an empty
	// thread starts from (P-STA-2); with Thread set, they are that thread's business. Its ids name a run that
	// ends before it says RUN_STARTED.
	Input *event.RunInput
	// Strict makes everything that enforcement would remove with a warning an error (P-ENF-7).
	Strict bool
	// OnWarning is called with each warning as it arises, from within Apply, and must leave the reducer
	// alone. The steps carry the warnings too.
	OnWarning func(event.Warning)
}

// Reducer folds one event stream into a thread. It is for one goroutine at a time; the threads and events
// that it hands out may go anywhere.
type Reducer struct {
	onWarning func(event.Warning)
	decoder   *event.Decoder
	expander  *chunks.Expander

	// The event being applied.
	ordinal   int
	expanded  []event.Event // what it expands to
	next      int           // the place in expanded of the next one to apply
	fault     error         // what is wrong with it
	warnings  []event.Warning
	delivered int // how many of warnings belong to deliveries already made

	// The delivery being made, or made last.
	typ    event.Type
	change Change
	event  event.Event
	from   int // its warnings are warnings[from:delivered]

	// The thread. What was made in the current epoch may be changed in place; what is older a snapshot may
	// hold.
	epoch      uint64
	snapshot   *Thread // of the current revision, nil if there is none yet
	revision   uint64
	threadID   string
	list       messages.List[*messages.Message]
	state      state.Value
	hasState   bool
	runs       messages.List[*Run]
	runEpoch   uint64
	ownRun     bool // this stream has a run in the list
	nodes      messages.List[*Subagent]
	nodeEpochs []uint64
	interrupts []event.Interrupt

	// How to find things in it.
	entries   [messages.KindActivity + 1]map[string]*entry
	room      []entry // for the entries to come
	calls     map[string]*call
	nodeOf    map[messages.Owner]int
	lastEntry *entry // what find found last
	lastKind  messages.Kind
	lastID    string
	lastTag   messages.Owner
	lastOrd   uint64
	openings  uint64
	gone      map[messageKey]*entry // of messages that snapshots dropped in this run
	goneCalls map[string]struct{}

	run        runState
	inputRunID string
	offered    []event.Tool // by the input of the run
	expectsRun bool
	err        error // what made the thread final
	done       bool
}

// New returns a reducer for one stream. It keeps what the options point to, which must not change.
func New(o *Options) *Reducer {
	if o == nil {
		o = new(Options)
	}
	r := &Reducer{
		decoder:  event.NewDecoder(&event.DecodeOptions{Strict: o.Strict}),
		expander: chunks.New(),
		epoch:    1,
		calls:    make(map[string]*call),
		nodeOf:   make(map[messages.Owner]int),
		state:    state.Object(),
		run:      runState{seq: 1}, // what belongs to no run has 0
	}
	if o.Input != nil {
		r.threadID, r.inputRunID, r.expectsRun = o.Input.ThreadID, o.Input.RunID, true
		r.offered = o.Input.Tools
	}
	switch {
	case o.Thread != nil:
		r.resume(o.Thread)
	case o.Input != nil:
		if o.Input.State.Exists() && o.Input.State.Kind() != state.KindNull {
			r.state, r.hasState = o.Input.State, true
		}
		for _, m := range o.Input.Messages {
			if e := r.entryFor(m.Kind(), m.ID); e.msg == nil {
				r.add(e, whole(m), 0)
			}
		}
		r.warnings = nil // they are about no event
	}
	r.onWarning = o.OnWarning
	return r
}

// resume takes over a thread that a snapshot holds.
func (r *Reducer) resume(t *Thread) {
	r.revision, r.runs, r.nodes, r.interrupts = t.Revision, t.Runs, t.Subagents.nodes, t.Interrupts
	if t.ID != "" {
		r.threadID = t.ID
	}
	if t.State.Exists() {
		r.state = t.State
		r.hasState = t.hasState || !isEmptyObject(t.State)
	}
	r.list = t.Messages
	r.room = make([]entry, t.Messages.Len()) // one object for the garbage collector, not one a message
	r.entries[messages.KindText] = make(map[string]*entry, t.Messages.Len())
	unique := true
	for i, m := range t.Messages.All() {
		e := r.entryFor(m.Kind(), m.ID)
		if e.msg != nil {
			unique = false // no reducer made this thread
			continue
		}
		if m.Streaming { // in a run that this reducer knows nothing of
			m = whole(m)
			r.list = r.list.Set(i, m)
		}
		e.hint, e.ord = i, r.nextOrd()
		e.become(m, 0)
		if m.Role == messages.RoleTool {
			r.callFor(m.ToolCallID).answers++
		}
	}
	for _, m := range r.list.All() { // when all answers are known, so that a sound thread stays as it is
		if e := r.entries[m.Kind()][m.ID]; e.msg == m {
			r.indexCalls(e, m)
		}
	}
	if !unique {
		r.dropRepeated()
	}
	r.nodeEpochs = make([]uint64, r.nodes.Len())
	for i, n := range r.nodes.All() {
		r.nodeOf[n.RunID] = i
	}
	r.epoch++
}

// dropRepeated leaves of several messages with one kind and id the first.
func (r *Reducer) dropRepeated() {
	var items []*messages.Message
	for i, m := range r.list.All() {
		if e := r.entries[m.Kind()][m.ID]; e.hint == i {
			e.hint = len(items)
			items = append(items, m)
		}
	}
	r.list = messages.NewList(items...)
}

// Apply takes the next event of the stream, a Frame or one made in Go, through decoding, expansion,
// verification and fold (P-PIPE-1). Retired shapes must have been upgraded before; [Fold] and package client do
// that. Use [Reducer.Deliver] to see what the event delivered.
//
// An error ends the stream: what was delivered before it stays, the thread is final, its last run is rejected,
// and every further Apply returns an error that matches [ErrFinal] and the first one. It is a *Violation
// (matching [ErrProtocol]) or an *messages.MalformedError.
func (r *Reducer) Apply(ev event.Event) error {
	if err := r.begin(ev); err != nil {
		return err
	}
	r.finish()
	return r.fault
}

// Deliver is Apply, seen delivery by delivery: one event may deliver several, as chunks do. While the loop looks at
// a delivery, [Reducer.Thread] returns the thread right after that delivery; not calling it costs nothing. An
// error comes alone and last.
//
// Nothing happens until the sequence is iterated. It may be iterated only once, and before anything else is
// applied; otherwise it yields an error and changes nothing. Breaking out of the loop applies the rest of the
// event unseen.
func (r *Reducer) Deliver(ev event.Event) iter.Seq2[Delivery, error] {
	ordinal := r.ordinal
	return func(yield func(Delivery, error) bool) { r.deliver(ordinal, ev, yield) }
}

func (r *Reducer) deliver(ordinal int, ev event.Event, yield func(Delivery, error) bool) {
	if ordinal != r.ordinal {
		yield(Delivery{}, errSpent)
		return
	}
	if err := r.begin(ev); err != nil {
		yield(Delivery{}, err)
		return
	}
	for r.advance() {
		if !yield(r.delivery(), nil) {
			r.finish()
			return
		}
	}
	if ordinal+1 == r.ordinal && r.fault != nil {
		yield(Delivery{}, r.fault)
	}
}

// begin decodes and expands an event. The error is for events that come too late.
func (r *Reducer) begin(ev event.Event) error {
	r.finish() // a loop over the event before may have panicked
	if r.done {
		return &final{r.err}
	}
	r.ordinal++
	r.expanded, r.next, r.fault = r.expanded[:0], 0, nil
	r.warnings, r.delivered = r.warnings[:0], 0
	ev, r.fault = r.decode(ev)
	if r.fault != nil || ev == nil {
		return nil
	}
	r.typ = ev.Type()
	expanded, err := r.expander.Expand(r.expanded, ev)
	r.expanded = expanded
	var ce *chunks.Error
	if errors.As(err, &ce) {
		placed := *ce
		placed.Ordinal = r.ordinal
		err = &Violation{Rule: ce.Rule, Ordinal: r.ordinal, Type: ce.Type, ID: ce.ID, Reason: ce.Reason, cause: &placed}
	}
	r.fault = err
	return nil
}

// advance makes the next delivery of the event being applied. It returns false once there is none, after
// rejecting the stream if the event is at fault.
func (r *Reducer) advance() bool {
	r.event, r.from = nil, r.delivered
	if r.next < len(r.expanded) {
		ev := r.expanded[r.next]
		r.next++
		r.typ, r.change = ev.Type(), Change{Index: -1}
		if r.fault = r.apply(ev); r.fault == nil {
			r.tagSeen(ev.Owner())
			r.revision++
			r.snapshot = nil
			r.event, r.delivered = ev, len(r.warnings)
			return true
		}
		r.next = len(r.expanded)
	}
	if r.delivered < len(r.warnings) {
		r.change = Change{Index: -1}
		r.delivered = len(r.warnings)
		return true
	}
	if r.fault != nil && !r.done {
		r.reject(r.fault)
	}
	return false
}

// finish applies what is left of the event being applied.
func (r *Reducer) finish() {
	for r.advance() {
	}
}

// delivery returns what advance has made.
func (r *Reducer) delivery() Delivery {
	d := Delivery{Event: r.event, Ordinal: r.ordinal, Change: r.change}
	if r.from < r.delivered {
		d.Warnings = r.warnings[r.from:r.delivered:r.delivered]
	}
	return d
}

// decode judges a frame, or an event made in Go, and returns nil if it is dropped.
func (r *Reducer) decode(ev event.Event) (event.Event, error) {
	frame, ok := ev.(event.Frame)
	if !ok {
		r.typ = event.TypeUnknown
		if ev != nil {
			r.typ = ev.Type()
		}
		if err := event.Check(ev); err != nil {
			return nil, r.placed(err)
		}
		return ev, nil
	}
	r.typ = frame.Type()
	for _, w := range frame.Warnings() {
		w.Ordinal = r.ordinal
		r.report(w)
	}
	typed, warnings, err := r.decoder.Decode(frame)
	for _, w := range warnings {
		w.Ordinal = r.ordinal
		r.report(w)
	}
	return typed, r.placed(err)
}

// placed fills in where in the stream a malformed event stands.
func (r *Reducer) placed(err error) error {
	if err == nil {
		return nil
	}
	var malformed *messages.MalformedError
	if errors.As(err, &malformed) {
		placed := *malformed
		placed.Ordinal = r.ordinal
		return &placed
	}
	return err
}

// apply verifies one typed event and folds it. It changes nothing but by the last thing that it does.
func (r *Reducer) apply(ev event.Event) error {
	if err := r.admissible(r.typ); err != nil {
		return err
	}
	switch e := ev.(type) {
	case *event.TextMessageStart:
		role := e.Role
		if role == "" {
			role = messages.RoleAssistant
		}
		return r.messageStart(textMessages, opening{e.MessageID, e.SubagentRunID, role, e.Name, e.Metadata})
	case *event.TextMessageContent:
		return r.messageContent(textMessages, e.MessageID, e.SubagentRunID, e.Delta, e.Metadata)
	case *event.TextMessageEnd:
		return r.messageEnd(textMessages, e.MessageID, e.SubagentRunID, e.Metadata)
	case *event.ReasoningMessageStart:
		return r.messageStart(reasoningMessages, opening{
			id: e.MessageID, owner: e.SubagentRunID, role: messages.RoleReasoning, meta: e.Metadata,
		})
	case *event.ReasoningMessageContent:
		return r.messageContent(reasoningMessages, e.MessageID, e.SubagentRunID, e.Delta, e.Metadata)
	case *event.ReasoningMessageEnd:
		return r.messageEnd(reasoningMessages, e.MessageID, e.SubagentRunID, e.Metadata)
	case *event.ReasoningStart:
		return r.spanStart(e)
	case *event.ReasoningEnd:
		return r.spanEnd(e)
	case *event.ReasoningEncryptedValue:
		return r.encryptedValue(e)
	case *event.ToolCallStart:
		return r.toolCallStart(e)
	case *event.ToolCallArgs:
		return r.toolCallArgs(e)
	case *event.ToolCallEnd:
		return r.toolCallEnd(e)
	case *event.ToolCallResult:
		return r.toolCallResult(e)
	case *event.StateSnapshot:
		r.state, r.hasState = e.Snapshot, true
		r.change.Kind = StateReplaced
	case *event.StateDelta:
		r.stateDelta(e)
	case *event.MessagesSnapshot:
		r.messagesSnapshot(e)
	case *event.ActivitySnapshot:
		r.activitySnapshot(e)
	case *event.ActivityDelta:
		return r.activityDelta(e)
	case *event.RunStarted:
		return r.runStarted(e)
	case *event.RunFinished:
		return r.runFinished(e)
	case *event.RunError:
		return r.runError(e)
	case *event.StepStarted:
		return r.stepStarted(e)
	case *event.StepFinished:
		return r.stepFinished(e)
	case *event.SubagentStarted:
		return r.subagentStarted(e)
	case *event.SubagentFinished:
		return r.subagentFinished(e)
	case *event.SubagentError:
		return r.subagentError(e)
	}
	if r.typ.IsRetired() {
		r.warn("P-CMP-1", "", "the retired event was not upgraded before the fold and has no effect")
	}
	return nil // RAW and CUSTOM are passed through
}

// changed sets the change at hand to one of a message.
func (r *Reducer) changed(kind ChangeKind, e *entry) {
	r.change.Kind, r.change.MessageID, r.change.MessageKind = kind, e.msg.ID, e.msg.Kind()
	r.change.Index = r.locate(e)
}

// changedCall sets the change at hand to one of a tool call.
func (r *Reducer) changedCall(kind ChangeKind, c *call) {
	r.changed(kind, c.parent)
	r.change.ToolCallID, r.change.Call = c.tc.ID, c.index
}

// warn reports something that the protocol tolerates about the event at hand.
func (r *Reducer) warn(rule, path, text string) {
	r.report(event.Warning{Rule: rule, Ordinal: r.ordinal, Type: r.typ.String(), Path: path, Text: text})
}

func (r *Reducer) report(w event.Warning) {
	r.warnings = append(r.warnings, w)
	if r.onWarning != nil {
		r.onWarning(w)
	}
}

// reject makes the thread final because of an error.
func (r *Reducer) reject(err error) {
	r.err, r.done = err, true
	r.breakOff(Rejected, err)
	r.revision++
	r.snapshot = nil
}

// End says that the stream has ended, with the error that it ended with or nil, and returns the final
// thread. A run that is still going on, or, if the reducer knows the input of a run, that never began, is
// truncated: it has no outcome and is never reported as a success (P-RUN-1, P-CHK-7). End may be called
// again and then only returns the thread.
func (r *Reducer) End(cause error) *Thread {
	r.finish()
	if r.done {
		return r.Thread()
	}
	r.done = true
	if r.run.phase == phaseActive || r.run.phase == phaseStart && (r.expectsRun || cause != nil) {
		r.err = &truncation{cause}
		r.breakOff(Truncated, r.err)
		r.revision++
		r.snapshot = nil
	}
	return r.Thread()
}

// Err returns what made the thread final: the error that rejected the stream, or one that matches
// [ErrTruncated]; nil as long as all is well.
func (r *Reducer) Err() error { return r.err }

// Revision returns the revision of the thread as it is now; see [Thread.Revision].
func (r *Reducer) Revision() uint64 { return r.revision }

// Thread returns the thread as it is now. It costs the same whatever is in it, and nothing if nothing
// changed since the last call.
func (r *Reducer) Thread() *Thread {
	if r.snapshot == nil {
		r.snapshot = &Thread{
			ID: r.threadID, Revision: r.revision, Messages: r.list, State: r.state, Runs: r.runs,
			Subagents: Subagents{r.nodes}, Interrupts: r.interrupts, hasState: r.hasState,
		}
		r.epoch++
	}
	return r.snapshot
}
