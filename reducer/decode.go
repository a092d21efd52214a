package reducer

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// threadName is the name of a stored thread in errors.
const threadName = "Thread"

// UnmarshalJSON reads what [Thread.AppendJSON] wrote, so that a conversation can be stored and continued: a reducer
// or a session continues from the result as it would from the thread that was stored, and the result encodes to the
// same bytes. Unknown members are ignored, and so are error and pendingToolCallIds, which the last run has too.
//
// The JSON does not hold everything. A tool call that is not among the unfinished ones is complete if it pends, answered if
// a tool message answers it, and complete otherwise. A state of {} counts as
// not set, so the next RUN_STARTED.input may bring one (D-7). The errors of runs have the types that [Run.Err]
// names, but not their causes. Subagents of one run at different places of the tree may have another order in
// [Subagents.All].
//
// Malformed material, or a message, a status or anything else of an unknown kind, is a [*messages.MalformedError] with
// its path (P-ENF-4). Text that is not JSON is a [*state.SyntaxError]. On an error t stays as it was.
func (t *Thread) UnmarshalJSON(data []byte) error {
	v, err := state.ParseDepth(data, state.DefaultMaxDepth+8) // an activity is deeper here than in its event
	if err != nil {
		return err
	}
	var got Thread
	verdict := codec.Decode(v, math.MaxInt, &got, walkThread)
	for _, gone := range verdict.Removals {
		if gone.Rule != "P-ENF-2" { // more than a member that is not described
			return &messages.MalformedError{
				Rule: gone.Rule, Type: threadName, Path: gone.Path,
				Want: "only what AG-UI " + event.ProtocolVersion + " describes", Found: "unrecognized material: " + gone.Text,
			}
		}
	}
	if f := verdict.Fault; f != nil {
		return &messages.MalformedError{Rule: "P-ENF-4", Type: threadName, Path: f.Path, Want: f.Want, Found: f.Found}
	}
	*t = got
	return nil
}

func walkThread(t *Thread, c *codec.Codec) { codec.Object(c, t, (*Thread).members) }

func (t *Thread) members(c *codec.Codec) {
	c.String("threadId", &t.ID)
	t.Revision = uint64(readInteger(c, "revision"))
	status := Status(readName(c, "status", statusNames[:]))
	var msgs []*messages.Message
	codec.List(c, "messages", &msgs, codec.Described[*messages.Message]())
	c.Any("state", &t.State)
	t.hasState = !isEmptyObject(t.State)
	var runs []*Run
	codec.List(c, "runs", &runs, walkRun)
	t.Runs = messages.NewList(runs...)
	settle(msgs, t.PendingToolCallIDs())
	readUnfinished(c, msgs, t.Status() == Running)
	t.Messages = messages.NewList(msgs...)
	t.Subagents = readSubagents(c, runs)
	codec.List(c, "interrupts", &t.Interrupts, walkPart)
	if len(t.Interrupts) == 0 {
		t.Interrupts = nil
	}
	if status != t.Status() {
		c.Reject("status", "the status of the last run, "+quote(t.Status().String()), quote(status.String()))
	}
}

// settle sets the statuses of the calls of messages that are not shared yet. If several calls share an id, answers
// belong to the first.
func settle(msgs []*messages.Message, pending []string) {
	answered := make(map[string]bool)
	for _, m := range msgs {
		if m.Role == messages.RoleTool {
			answered[m.ToolCallID] = true
		}
	}
	for _, id := range pending {
		answered[id] = false
	}
	for _, m := range msgs {
		for _, c := range m.ToolCalls.All() {
			if answered[c.ID] {
				c.Status = messages.ToolCallAnswered
			}
			answered[c.ID] = false
		}
	}
}

func walkRun(run **Run, c *codec.Codec) {
	*run = &Run{}
	codec.Object(c, *run, (*Run).members)
}

func (run *Run) members(c *codec.Codec) {
	c.String("runId", &run.ID)
	run.ParentRunID = readOpt(c, "parentRunId")
	run.ProtocolVersion = readOpt(c, "protocolVersion")
	run.Status = Status(readName(c, "status", statusNames[:]))
	codec.OptField(c, "error", &run.Err, false, walkError)
	if run.Status == Truncated && run.Err != nil && !errors.Is(run.Err, ErrTruncated) {
		run.Err = &truncation{run.Err} // its cause is what the JSON says
	}
	codec.OptField(c, "outcome", &run.Outcome, false, walkPart)
	c.OptAny("result", &run.Result)
	codec.OptList(c, "usage", &run.Usage, walkPart)
	var steps []Step
	codec.Objects(c, "steps", &steps, func(s *Step, c *codec.Codec) {
		c.String("stepName", &s.Name)
		s.Owner = readOwner(c, "subagentRunId")
		s.Finished = readBool(c, "finished")
	})
	run.Steps = messages.NewList(steps...)
	codec.OptStrings(c, "pendingToolCallIds", &run.PendingToolCallIDs)
	codec.OptList(c, "retiredInterrupts", &run.RetiredInterrupts, walkPart)
	var metadata state.Value
	c.OptOpen("metadata", &metadata)
	run.Metadata, _ = messages.NewMetadata(metadata)
}

// walkError reads what appendError wrote.
func walkError(err *error, c *codec.Codec) { codec.Object(c, err, readError) }

func readError(err *error, c *codec.Codec) {
	message, kind := readString(c, "message"), ""
	codec.Tag(c, "kind", &kind, []string{"run", "protocol", "malformed", "truncated", "stopped", "unstarted"})
	switch kind {
	case "run":
		*err = &AgentError{Message: message, Code: readOpt(c, "code")}
		return
	case "protocol":
		typ, _ := event.ParseType(readString(c, "type"))
		*err = &Violation{
			Rule: readString(c, "rule"), Ordinal: readInt(c, "ordinal"), Type: typ, ID: readString(c, "id"), Reason: message,
		}
	case "malformed":
		e := &messages.MalformedError{
			Rule: readString(c, "rule"), Ordinal: readInt(c, "ordinal"), Type: readString(c, "type"), Path: readString(c, "path"),
		}
		e.Want, e.Found = wantAndFound(e, message)
		if hint := readOpt(c, "hint").Or(""); hint != "" {
			e.Found, e.Hint = strings.TrimSuffix(e.Found, "; "+hint), hint
		}
		*err = e
	case "stopped":
		if *err = stoppedAs(message); message == ErrStopped.Error() {
			*err = ErrStopped
		}
	case "unstarted":
		*err = unstartedAs(message)
	default:
		*err = truncatedAs(message)
	}
	var failed *AgentError
	if codec.OptField(c, "run", &failed, false, walkAgentError); failed != nil {
		*err = &failedBefore{*err, failed}
	}
}

func walkAgentError(p **AgentError, c *codec.Codec) {
	*p = &AgentError{}
	codec.Object(c, *p, func(e *AgentError, c *codec.Codec) {
		e.Message, e.Code = readString(c, "message"), readOpt(c, "code")
	})
}

// wantAndFound returns what a malformed error wanted and found, from its text and its other fields.
func wantAndFound(e *messages.MalformedError, text string) (want, found string) {
	const between = ", found "
	if rest, ok := strings.CutPrefix(text, strings.TrimSuffix(e.Error(), between)); ok {
		if want, found, ok = strings.Cut(rest, between); ok {
			return want, found
		}
	}
	return text, "" // this package did not write it
}

// truncatedAs returns the error of a run that was cut off, from its text.
type truncatedAs string

func (t truncatedAs) Error() string { return string(t) }
func (truncatedAs) Unwrap() error   { return ErrTruncated }

// stoppedAs returns the error of a run that was stopped, from its text.
type stoppedAs string

func (s stoppedAs) Error() string { return string(s) }
func (stoppedAs) Unwrap() error   { return ErrStopped }

// unstartedAs is the error of a run that was not started, from its text.
type unstartedAs string

func (u unstartedAs) Error() string { return string(u) }

// readSubagents reads the tree, which was written in the order of Walk, each invocation with its depth.
func readSubagents(c *codec.Codec, runs []*Run) Subagents {
	var above, path []int // the place above each one; the places from the root to the one before
	var nodes []*Subagent
	codec.List(c, "subagents", &nodes, func(p **Subagent, c *codec.Codec) {
		*p = &Subagent{}
		codec.Object(c, *p, func(n *Subagent, c *codec.Codec) {
			n.members(c)
			depth := len(path)
			if d := readInteger(c, "depth"); d > int64(depth) {
				c.Reject("depth", "at most "+strconv.Itoa(depth), strconv.FormatInt(d, 10))
			} else {
				depth = int(d)
			}
			over := -1
			if depth > 0 {
				over = path[depth-1]
			}
			above, path = append(above, over), append(path[:depth], len(above))
		})
	})
	if len(nodes) != len(above) { // one was not recognized
		return Subagents{}
	}
	return plant(nodes, above, runs)
}

func (n *Subagent) members(c *codec.Codec) {
	n.Owner = messages.SubagentOwner(readString(c, "subagentRunId"))
	n.Announced = readBool(c, "announced")
	n.Description = readOpt(c, "description")
	n.Parent = readOwner(c, "parentSubagentRunId")
	n.ToolCallID = readOpt(c, "parentToolCallId")
	n.MessageID = readOpt(c, "parentMessageId")
	n.Status = SubagentStatus(readName(c, "status", subagentStatusNames[:]))
	c.OptAny("result", &n.Result)
	n.RunID = readString(c, "runId")
	if n.Announced {
		n.Name = readString(c, "name")
	}
	codec.OptStrings(c, "interruptIds", &n.InterruptIDs)
	codec.OptField(c, "error", &n.Err, false, walkAgentError)
}

// plant sorts the nodes of a tree, which are in the order of Walk, by when they became known, as far as the JSON says
// it: a node was known by the last run that it took part in, and before its later siblings and its children. So the
// latest of several invocations with one id is found, which is the one that continues.
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
		if run, ok := runOf[nodes[i].RunID]; ok {
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

// walkPart reads the value at the current place with the codec of its type.
func walkPart[T any, P interface {
	*T
	json.Unmarshaler
}](part P, c *codec.Codec) {
	err := part.UnmarshalJSON(c.Value().AppendJSON(nil))
	if inside, ok := errors.AsType[*messages.MalformedError](err); ok {
		c.RejectInside(inside.Path, inside.Want, inside.Found)
	} else if err != nil {
		c.Malformed("what can be read")
	}
}

// readName returns the place, among names, of the one that the member key must be.
func readName(c *codec.Codec, key string, names []string) int {
	var name string
	codec.Enum(c, key, &name, names)
	return max(0, slices.Index(names, name))
}

// readInteger returns the non-negative integer that the member key must be.
func readInteger(c *codec.Codec, key string) int64 {
	n, ok := c.OptInteger(key, 0, false, 0)
	if !ok {
		c.Reject(key, "a non-negative integer up to 2^53-1", "nothing")
	}
	return n
}

// readInt is readInteger for what must be an int.
func readInt(c *codec.Codec, key string) int {
	n := readInteger(c, key)
	if n > math.MaxInt {
		c.Reject(key, "at most "+strconv.Itoa(math.MaxInt), strconv.FormatInt(n, 10))
		return 0
	}
	return int(n)
}

// readBool returns the boolean that the member key must be.
func readBool(c *codec.Codec, key string) bool {
	b, ok := c.OptBool(key, false, false)
	if !ok {
		c.Reject(key, "a boolean", "nothing")
	}
	return b
}

func readString(c *codec.Codec, key string) (s string) {
	c.String(key, &s)
	return s
}

func readOpt(c *codec.Codec, key string) messages.Opt[string] {
	if s, ok := c.OptString(key, "", false); ok {
		return messages.Some(s)
	}
	return messages.Opt[string]{}
}

func readOwner(c *codec.Codec, key string) messages.Owner {
	if id, ok := c.OptString(key, "", false); ok {
		return messages.SubagentOwner(id)
	}
	return messages.Owner{}
}

func isEmptyObject(v state.Value) bool { return v.Kind() == state.KindObject && v.Len() == 0 }
