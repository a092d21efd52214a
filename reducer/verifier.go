package reducer

import (
	"strconv"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/messages"
)

// verifier implements P-VER-1 to 7: it judges each event before the event changes anything. It remembers only the
// current run.
type verifier struct {
	in    *intake
	draft *draft // is only read; nil of a Verifier

	phase    phase
	runID    string
	openings uint64                                   // counts what was opened
	open     [numNamespaces]map[string]uint64         // what is open, and the opening that opened it
	owners   [numNamespaces]map[string]messages.Owner // of what this run opened, minted or restated
	steps    map[stepKey]uint64
	active   map[messages.Owner]uint64 // subagents
	ended    map[messages.Owner]bool

	// What continued last, and is open if ok.
	last struct {
		ok    bool
		ns    namespace
		id    string
		owner messages.Owner
	}
}

// phase is the state of the stream's lifecycle (P-VER-1).
type phase uint8

const (
	phaseStart phase = iota // nothing came yet
	phaseActive
	phaseFinished
	phaseErrored
)

// hasEnded reports whether a run has ended and the next one has not begun.
func (v *verifier) hasEnded() bool { return v.phase == phaseFinished || v.phase == phaseErrored }

// namespace is a kind of thing with its own ids (P-VER-2). Those before toolResults are opened and closed.
type namespace uint8

const (
	textMessages namespace = iota
	reasoningMessages
	reasoningSpans
	toolCalls
	toolResults
	activities
	numNamespaces
)

var namespaceNames = [numNamespaces]string{
	"text message", "reasoning message", "reasoning span", "tool call", "tool result", "activity",
}

// namespaceOf gives the namespace of the messages of a kind.
var namespaceOf = [...]namespace{
	messages.KindText: textMessages, messages.KindTool: toolResults, messages.KindReasoning: reasoningMessages,
	messages.KindActivity: activities,
}

type stepKey struct {
	owner messages.Owner
	name  string
}

// verify judges an event and takes note of it. On an error nothing has changed.
func (v *verifier) verify(ev event.Event) error {
	if err := v.mayCome(v.in.typ); err != nil {
		return err
	}
	tag := ev.Owner()
	switch e := ev.(type) {
	case *event.TextMessageStart:
		return v.start(textMessages, e.MessageID, tag)
	case *event.TextMessageContent:
		return v.proceed(textMessages, e.MessageID, tag)
	case *event.TextMessageEnd:
		return v.end(textMessages, e.MessageID, tag)
	case *event.ReasoningMessageStart:
		return v.start(reasoningMessages, e.MessageID, tag)
	case *event.ReasoningMessageContent:
		return v.proceed(reasoningMessages, e.MessageID, tag)
	case *event.ReasoningMessageEnd:
		return v.end(reasoningMessages, e.MessageID, tag)
	case *event.ReasoningStart:
		return v.start(reasoningSpans, e.MessageID, tag)
	case *event.ReasoningEnd:
		return v.end(reasoningSpans, e.MessageID, tag)
	case *event.ReasoningEncryptedValue:
		return v.encryptedValue(e)
	case *event.ToolCallStart:
		return v.toolCallStart(e)
	case *event.ToolCallArgs:
		return v.proceed(toolCalls, e.ToolCallID, tag)
	case *event.ToolCallEnd:
		return v.end(toolCalls, e.ToolCallID, tag)
	case *event.ActivityDelta:
		return v.sameOwner(activities, e.MessageID, tag)
	case *event.RunStarted:
		*v = verifier{in: v.in, draft: v.draft, phase: phaseActive, runID: e.RunID}
	case *event.RunFinished:
		return v.runFinished()
	case *event.RunError:
		v.phase = phaseErrored
	case *event.StepStarted:
		return v.stepStarted(stepKey{tag, e.StepName})
	case *event.StepFinished:
		return v.stepFinished(stepKey{tag, e.StepName})
	case *event.SubagentStarted:
		return v.subagentStarted(e)
	case *event.SubagentFinished, *event.SubagentError:
		return v.subagentEnded(tag)
	}
	return nil
}

// mayCome implements P-VER-1: which events the stream may continue with.
func (v *verifier) mayCome(t event.Type) error {
	switch {
	case v.phase == phaseActive && t == event.TypeRunStarted:
		return v.in.violation("P-VER-1", v.runID, "the run "+quote(v.runID)+" is active; it must end before another starts")
	case v.phase == phaseActive || t == event.TypeRunStarted:
		return nil
	case v.phase == phaseErrored:
		return v.in.violation("P-VER-1", v.runID, "the run "+quote(v.runID)+" has failed; only RUN_STARTED may follow")
	case t == event.TypeRunError:
		return nil
	case v.phase == phaseFinished:
		return v.in.violation("P-VER-1", v.runID, "the run "+quote(v.runID)+" has finished; only RUN_STARTED or RUN_ERROR may follow")
	}
	return v.in.violation("P-VER-1", "", "the first event must be RUN_STARTED or RUN_ERROR")
}

// isOpen reports whether something is open.
func (v *verifier) isOpen(ns namespace, id string) bool {
	_, open := v.open[ns][id]
	return open
}

// own records who owns something that the run opens, mints or restates (P-VER-5).
func (v *verifier) own(ns namespace, id string, owner messages.Owner) {
	if v.owners[ns] == nil {
		v.owners[ns] = make(map[string]messages.Owner)
	}
	v.owners[ns][id] = owner
	if v.last.ns == ns && v.last.id == id {
		v.last.owner = owner
	}
}

// ownNew is own for things without a known owner.
func (v *verifier) ownNew(ns namespace, id string, owner messages.Owner) {
	if _, known := v.owners[ns][id]; !known {
		v.own(ns, id, owner)
	}
}

// sameOwner implements P-VER-5: a tag must name the owner if the run knows it; an untagged event is fine.
func (v *verifier) sameOwner(ns namespace, id string, tag messages.Owner) error {
	if tag.IsParent() {
		return nil
	}
	if owner, known := v.owners[ns][id]; known && owner != tag {
		return v.in.violation("P-VER-5", id, "the "+namespaceNames[ns]+" "+quote(id)+" belongs to "+codec.Owner(owner.RunID())+
			", but the event is tagged "+codec.Owner(tag.RunID()))
	}
	return nil
}

// start judges a START (P-VER-2, 5).
func (v *verifier) start(ns namespace, id string, tag messages.Owner) error {
	if v.isOpen(ns, id) {
		return v.in.violation("P-VER-2", id, "the "+namespaceNames[ns]+" "+quote(id)+" is already open")
	}
	if err := v.sameOwner(ns, id, tag); err != nil {
		return err
	}
	if v.open[ns] == nil {
		v.open[ns] = make(map[string]uint64)
	}
	v.openings++
	v.open[ns][id] = v.openings
	v.ownNew(ns, id, tag)
	return nil
}

// proceed judges an event that continues something (P-VER-2, 5).
func (v *verifier) proceed(ns namespace, id string, tag messages.Owner) error {
	if v.last.id == id && v.last.ns == ns && v.last.ok && (tag.IsParent() || tag == v.last.owner) {
		v.last.id = id // as in draft.find
		return nil
	}
	if !v.isOpen(ns, id) {
		return v.in.violation("P-VER-2", id, "the "+namespaceNames[ns]+" "+quote(id)+" is not open")
	}
	if err := v.sameOwner(ns, id, tag); err != nil {
		return err
	}
	v.last.ok, v.last.ns, v.last.id, v.last.owner = true, ns, id, v.owners[ns][id]
	return nil
}

// end judges an END (P-VER-2, 5).
func (v *verifier) end(ns namespace, id string, tag messages.Owner) error {
	if err := v.proceed(ns, id, tag); err != nil {
		return err
	}
	delete(v.open[ns], id)
	v.last.ok = false
	return nil
}

// toolCallStart judges TOOL_CALL_START, whose parent message also determines the owner of the call (P-VER-6).
func (v *verifier) toolCallStart(e *event.ToolCallStart) error {
	id, owner := e.ToolCallID, e.SubagentRunID
	parentID := e.ParentMessageID.Or("")
	if parent, known := v.owners[textMessages][parentID]; known && parentID != "" {
		had, again := v.owners[toolCalls][id]
		switch {
		case !owner.IsParent() && owner != parent:
			return v.in.violation("P-VER-6", id, "the tool call "+quote(id)+" is tagged "+codec.Owner(owner.RunID())+
				", but its parent message "+quote(parentID)+" belongs to "+codec.Owner(parent.RunID()))
		case again && owner.IsParent() && had != parent:
			return v.in.violation("P-VER-6", id, "the tool call "+quote(id)+" belongs to "+codec.Owner(had.RunID())+
				" and cannot be opened again under the message "+quote(parentID)+" of "+codec.Owner(parent.RunID()))
		}
		owner = parent
	}
	_, known := v.owners[toolCalls][id]
	if err := v.start(toolCalls, id, e.SubagentRunID); err != nil {
		return err
	}
	if !known {
		v.own(toolCalls, id, owner)
	}
	return nil
}

// encryptedValue judges REASONING_ENCRYPTED_VALUE: a tag must name the owner of the message or call, even if the thread
// does not hold that any more (P-VER-5).
func (v *verifier) encryptedValue(e *event.ReasoningEncryptedValue) error {
	if e.Subtype == event.EncryptedToolCall {
		return v.sameOwner(toolCalls, e.EntityID, e.SubagentRunID)
	}
	if v.draft != nil {
		if target := v.draft.encryptable(e.EntityID); target != nil {
			return v.sameOwner(namespaceOf[target.msg.Kind()], e.EntityID, e.SubagentRunID)
		}
	}
	for _, kind := range encryptableKinds {
		if _, known := v.owners[namespaceOf[kind]][e.EntityID]; known {
			return v.sameOwner(namespaceOf[kind], e.EntityID, e.SubagentRunID)
		}
	}
	return nil
}

func (v *verifier) stepStarted(key stepKey) error {
	if _, open := v.steps[key]; open {
		return v.in.violation("P-VER-4", key.name, "the step "+quote(key.name)+" of "+codec.Owner(key.owner.RunID())+" is already open")
	}
	if v.steps == nil {
		v.steps = make(map[stepKey]uint64)
	}
	v.openings++
	v.steps[key] = v.openings
	return nil
}

func (v *verifier) stepFinished(key stepKey) error {
	if _, open := v.steps[key]; open {
		delete(v.steps, key)
		return nil
	}
	if other, found := first(v.steps, func(k stepKey) bool { return k.name == key.name }); found {
		return v.in.violation("P-VER-4", key.name, "the step "+quote(key.name)+" was started by "+codec.Owner(other.owner.RunID())+
			" and cannot be finished by "+codec.Owner(key.owner.RunID()))
	}
	return v.in.violation("P-VER-4", key.name, "the step "+quote(key.name)+" of "+codec.Owner(key.owner.RunID())+" is not open")
}

func (v *verifier) subagentStarted(e *event.SubagentStarted) error {
	id, _ := e.SubagentRunID.RunID()
	if _, active := v.active[e.SubagentRunID]; active {
		return v.in.violation("P-VER-7", id, "the subagent "+quote(id)+" is already active")
	}
	if v.ended[e.SubagentRunID] {
		return v.in.violation("P-VER-7", id, "the subagent "+quote(id)+" has already ended in this run")
	}
	if parentID, ok := e.ParentSubagentRunID.RunID(); ok {
		if _, active := v.active[e.ParentSubagentRunID]; !active && !v.ended[e.ParentSubagentRunID] {
			return v.in.violation("P-VER-7", id, "the parent "+quote(parentID)+" of the subagent "+quote(id)+" was not started in this run")
		}
	}
	if v.active == nil {
		v.active = make(map[messages.Owner]uint64)
	}
	v.openings++
	v.active[e.SubagentRunID] = v.openings
	return nil
}

func (v *verifier) subagentEnded(o messages.Owner) error {
	if _, active := v.active[o]; !active {
		id, _ := o.RunID()
		return v.in.violation("P-VER-7", id, "the subagent "+quote(id)+" is not active")
	}
	delete(v.active, o)
	if v.ended == nil {
		v.ended = make(map[messages.Owner]bool)
	}
	v.ended[o] = true
	return nil
}

// runFinished judges RUN_FINISHED: nothing may be open (P-VER-3).
func (v *verifier) runFinished() error {
	if key, open := first(v.steps, nil); open {
		return v.in.violation("P-VER-3", key.name, "the step "+quote(key.name)+" of "+codec.Owner(key.owner.RunID())+" is still open")
	}
	for ns := range v.open {
		if id, open := first(v.open[ns], nil); open {
			return v.in.violation("P-VER-3", id, "the "+namespaceNames[ns]+" "+quote(id)+" is still open")
		}
	}
	if o, active := first(v.active, nil); active {
		id, _ := o.RunID()
		return v.in.violation("P-VER-3", id, "the "+codec.Owner(o.RunID())+" is still active")
	}
	v.phase = phaseFinished
	return nil
}

// first returns what was opened first, among what matches if match is not nil.
func first[K comparable](opened map[K]uint64, match func(K) bool) (key K, found bool) {
	var at uint64
	for k, n := range opened {
		if (!found || n < at) && (match == nil || match(k)) {
			key, at, found = k, n, true
		}
	}
	return key, found
}

func quote(s string) string { return strconv.Quote(s) }
