package reducer

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/wire"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// threadName is what errors call a thread that was stored.
const threadName = "Thread"

// UnmarshalJSON reads what [Thread.AppendJSON] wrote, so that a conversation can be stored and taken up again: a
// reducer or a session goes on from the result as it would from the thread that was stored, and the result
// encodes to the same bytes. Members that are not known are left out, as are error and pendingToolCallIds,
// which the last run has too.
//
// What the JSON does not tell is made up as for messages that come whole: no message is streaming, and a tool
// call that is not among streamingToolCallIds is answered if a tool message answers it, else complete. A state that is {}
// counts as one that nobody has set yet, so that the next RUN_STARTED.input may bring one (D-7). The errors of
// runs come back as the types that [Run.Err] names, without what caused them further down. Subagents of one
// run that stand at different places of the tree may change places in [Subagents.All].
//
// Malformed material is an [*messages.MalformedError] with its path (P-ENF-4), and so is a message, a status or
// another thing of a kind that is not known: nothing of a conversation is left out without a word. Text that
// is not JSON is a [*state.SyntaxError]. On an error t stays as it was.
func (t *Thread) UnmarshalJSON(data []byte) error {
	v, err := state.ParseDepth(data, state.DefaultMaxDepth+8) // an activity stands deeper here than in its event
	if err != nil {
		return err
	}
	var r wire.Reader
	var got Thread
	r.Document(func() { got = readThread(&r, v) })
	for _, gone := range r.Removals() {
		if gone.Rule != "P-ENF-2" { // more than a member that is not described
			return &messages.MalformedError{
				Rule: gone.Rule, Type: threadName, Path: gone.Path,
				Want: "only what AG-UI " + event.ProtocolVersion + " describes", Found: "unrecognised material: " + gone.Text,
			}
		}
	}
	if f := r.Fault(); f != nil {
		return &messages.MalformedError{Rule: "P-ENF-4", Type: threadName, Path: f.Path, Want: f.Want, Found: f.Found}
	}
	*t = got
	return nil
}

func readThread(r *wire.Reader, v state.Value) Thread {
	var t Thread
	o := r.Object(v)
	t.ID = o.String("threadId")
	t.Revision = uint64(readInteger(&o, "revision"))
	status := Status(readName(&o, "status", statusNames[:]))
	msgs := wire.List(&o, "messages", messages.Decode)
	t.Messages = messages.NewList(settled(msgs, wire.OptList(&o, "streamingToolCallIds", wire.String))...)
	t.State = o.Any("state")
	t.hasState = !isEmptyObject(t.State)
	runs := wire.List(&o, "runs", readRun)
	t.Runs = messages.NewList(runs...)
	t.Subagents = readSubagents(&o, runs)
	if t.Interrupts = wire.List(&o, "interrupts", readPart[event.Interrupt]); len(t.Interrupts) == 0 {
		t.Interrupts = nil
	}
	if status != t.Status() {
		o.Reject("status", "the status of the last run, "+quote(t.Status().String()), quote(status.String()))
	}
	return t
}

// settled sets the statuses of the calls of messages that nobody else holds.
func settled(msgs []*messages.Message, streaming []string) []*messages.Message {
	answered, arriving := make(map[string]bool), make(map[string]int, len(streaming))
	for _, id := range streaming {
		arriving[id]++ // of several calls with one id the first is meant
	}
	for _, m := range msgs {
		if m.Role == messages.RoleTool {
			answered[m.ToolCallID] = true
		}
	}
	for _, m := range msgs {
		for _, c := range m.ToolCalls.All() {
			switch {
			case arriving[c.ID] > 0:
				arriving[c.ID]--
				c.Status = messages.ToolCallStreaming
			case answered[c.ID]:
				c.Status = messages.ToolCallAnswered
			}
		}
	}
	return msgs
}

func readRun(r *wire.Reader, v state.Value) *Run {
	o := r.Object(v)
	run := &Run{
		ID:              o.String("runId"),
		ParentRunID:     messages.ReadOpt(&o, "parentRunId"),
		ProtocolVersion: messages.ReadOpt(&o, "protocolVersion"),
		Status:          Status(readName(&o, "status", statusNames[:])),
	}
	run.Err, _ = wire.OptField(&o, "error", readError)
	if run.Status == Truncated && run.Err != nil && !errors.Is(run.Err, ErrTruncated) {
		run.Err = &truncation{run.Err} // its cause is what the JSON tells
	}
	run.Outcome, _ = wire.OptField(&o, "outcome", readPart[event.Outcome])
	run.Result = o.OptAny("result")
	run.Usage = wire.OptList(&o, "usage", readPart[event.TokenUsage])
	run.Steps = messages.NewList(wire.List(&o, "steps", func(r *wire.Reader, v state.Value) Step {
		o := r.Object(v)
		return Step{
			Name: o.String("stepName"), Owner: messages.ReadOwner(&o, "subagentRunId"), Finished: readBool(&o, "finished"),
		}
	})...)
	run.PendingToolCallIDs = wire.OptList(&o, "pendingToolCallIds", wire.String)
	run.Metadata = messages.ReadMetadata(&o)
	return run
}

// readError reads what appendError wrote.
func readError(r *wire.Reader, v state.Value) error {
	o := r.Object(v)
	message := o.String("message")
	switch kind, _ := o.Tag("kind", "run", "protocol", "malformed", "truncated"); kind {
	case "run":
		return &AgentError{Message: message, Code: messages.ReadOpt(&o, "code")}
	case "protocol":
		typ, _ := event.ParseType(o.String("type"))
		return &Violation{
			Rule: o.String("rule"), Ordinal: int(readInteger(&o, "ordinal")), Type: typ, ID: o.String("id"), Reason: message,
		}
	case "malformed":
		e := &messages.MalformedError{
			Rule: o.String("rule"), Ordinal: int(readInteger(&o, "ordinal")), Type: o.String("type"), Path: o.String("path"),
		}
		e.Want, e.Found = wantAndFound(e, message)
		return e
	}
	return truncatedAs(message)
}

// wantAndFound takes the text of a malformed error apart, of which all but these two is known.
func wantAndFound(e *messages.MalformedError, text string) (want, found string) {
	const between = ", found "
	if rest, ok := strings.CutPrefix(text, strings.TrimSuffix(e.Error(), between)); ok {
		if want, found, ok = strings.Cut(rest, between); ok {
			return want, found
		}
	}
	return text, "" // somebody else wrote it
}

// truncatedAs is the error of a run that was cut off, by its text.
type truncatedAs string

func (t truncatedAs) Error() string { return string(t) }
func (truncatedAs) Unwrap() error   { return ErrTruncated }

// readSubagents reads the tree, which was written as Walk goes, each invocation with its depth.
func readSubagents(o *wire.Object, runs []*Run) Subagents {
	var above, path []int // the place above each one; the places from the root to the one before
	nodes := wire.List(o, "subagents", func(r *wire.Reader, v state.Value) *Subagent {
		o := r.Object(v)
		n := &Subagent{
			RunID:       messages.SubagentOwner(o.String("subagentRunId")),
			Announced:   readBool(&o, "announced"),
			Description: messages.ReadOpt(&o, "description"),
			Parent:      messages.ReadOwner(&o, "parentSubagentRunId"),
			ToolCallID:  messages.ReadOpt(&o, "parentToolCallId"),
			MessageID:   messages.ReadOpt(&o, "parentMessageId"),
			Status:      SubagentStatus(readName(&o, "status", subagentStatusNames[:])),
			Result:      o.OptAny("result"),
			InRun:       o.String("runId"),
		}
		if n.Announced {
			n.Name = o.String("name")
		}
		n.InterruptIDs = wire.OptList(&o, "interruptIds", wire.String)
		n.Err, _ = wire.OptField(&o, "error", func(r *wire.Reader, v state.Value) *SubagentError {
			o := r.Object(v)
			return &SubagentError{Message: o.String("message"), Code: messages.ReadOpt(&o, "code")}
		})
		depth := int(readInteger(&o, "depth"))
		if depth > len(path) {
			o.Reject("depth", "at most "+strconv.Itoa(len(path)), strconv.Itoa(depth))
			depth = len(path)
		}
		over := -1
		if depth > 0 {
			over = path[depth-1]
		}
		above, path = append(above, over), append(path[:depth], len(above))
		return n
	})
	if len(nodes) != len(above) { // one was not recognised
		return Subagents{}
	}
	return plant(nodes, above, runs)
}

// plant puts the nodes of a tree, which stand as Walk goes, in the order in which they became known, as far as
// that can be told: none later than the last run that it took part in, nor than its later siblings and those
// that it spawned. That tells apart the invocations of one id in several runs, of which the latest goes on.
func plant(nodes []*Subagent, above []int, runs []*Run) Subagents {
	runOf := make(map[string]int, len(runs))
	for i, run := range runs {
		runOf[run.ID] = i
	}
	known := make([]int, len(nodes))      // the run in which it was known at the latest
	earliest := make([]int, len(nodes)+1) // the least of known among its children so far; the root is at 0
	for i := range earliest {
		earliest[i] = len(runs)
	}
	order := make([]int, len(nodes))
	for i := len(nodes) - 1; i >= 0; i-- {
		order[i] = i
		known[i] = min(earliest[i+1], earliest[above[i]+1])
		if run, ok := runOf[nodes[i].InRun]; ok {
			known[i] = min(known[i], run)
		}
		earliest[above[i]+1] = known[i]
	}
	slices.SortStableFunc(order, func(a, b int) int { return known[a] - known[b] })
	places := make([]int, len(nodes))
	sorted := make([]*Subagent, len(nodes))
	for place, i := range order {
		places[i], sorted[place] = place, nodes[i]
	}
	for i, n := range nodes {
		n.index, n.above = places[i], -1
		if above[i] >= 0 {
			n.above = places[above[i]]
		}
	}
	return Subagents{messages.NewList(sorted...)}
}

// readPart reads v, at the reader's current place, as its type reads itself.
func readPart[T any, P interface {
	*T
	json.Unmarshaler
}](r *wire.Reader, v state.Value) T {
	var part T
	err := P(&part).UnmarshalJSON(v.AppendJSON(nil))
	if err == nil || r.Fault() != nil {
		return part
	}
	r.Malformed("what can be read", v)
	var inside *messages.MalformedError
	if errors.As(err, &inside) {
		f := r.Fault()
		f.Path, f.Want, f.Found = f.Path+inside.Path, inside.Want, inside.Found
	}
	return part
}

// readName returns the place, among names, of the one that the member key must be.
func readName(o *wire.Object, key string, names []string) int {
	return max(0, slices.Index(names, o.Enum(key, names...)))
}

// readInteger returns the non-negative integer that the member key must be.
func readInteger(o *wire.Object, key string) int64 {
	n, ok := o.OptInteger(key, 0)
	if !ok {
		o.Reject(key, "a non-negative integer up to 2^53-1", "nothing")
	}
	return n
}

// readBool returns the boolean that the member key must be.
func readBool(o *wire.Object, key string) bool {
	b, ok := o.OptBool(key)
	if !ok {
		o.Reject(key, "a boolean", "nothing")
	}
	return b
}

func isEmptyObject(v state.Value) bool { return v.Kind() == state.KindObject && v.Len() == 0 }
