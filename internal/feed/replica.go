package feed

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// Replica makes snapshots of the events of a feed. After an error it is as it was before the event, and the reader should
// ask for a view. It must be used by one goroutine at a time. The zero Replica has seen nothing.
//
// A change costs what it changed: of a message, its length; of the runs, what the changed ones say; of the tree of
// subagents, a pass over it. What did not change is shared with the snapshot before.
type Replica struct {
	MaxBytes int // the largest view, as JSON; 0 means state.DefaultMaxSize

	token    string
	view     state.Value
	snapshot Snapshot
}

// Errors of [Replica.Event], besides those of the parts of a view.
var (
	ErrNoView = errors.New("the feed began with changes, not with a view")
	ErrToken  = errors.New("the event has no token of a feed")
)

// Token returns the token of the last event that was applied, "" before the first.
func (r *Replica) Token() string { return r.token }

// Snapshot returns the snapshot after the last event that was applied.
func (r *Replica) Snapshot() Snapshot { return r.snapshot }

// Event applies an event of a feed: its name, id and data.
func (r *Replica) Event(name, token string, data []byte) error {
	revision, ok := Revision(token)
	if !ok {
		return ErrToken
	}
	v, err := state.ParseDepth(data, depthOf+2)
	if err != nil {
		return err
	}
	next := *r
	if name == "view" {
		if max := r.maxBytes(); v.Size() > max {
			return fmt.Errorf("%w: the view has about %d bytes; the limit is %d", state.ErrLimit, v.Size(), max)
		}
		next.view = v
		err = next.rebuild(&dirty{all: true})
	} else if !r.view.Exists() {
		return ErrNoView
	} else {
		err = next.apply(v)
	}
	if err != nil {
		return err
	}
	th := *next.snapshot.Thread
	th.Revision = revision
	next.snapshot.Thread, next.token = &th, token
	*r = next
	return nil
}

func (r *Replica) maxBytes() int {
	if r.MaxBytes <= 0 {
		return state.DefaultMaxSize
	}
	return r.MaxBytes
}

// apply applies operations to the view, and brings the snapshot up to date.
func (r *Replica) apply(list state.Value) error {
	if list.Kind() != state.KindArray {
		return fmt.Errorf("changes are %w", &state.PatchError{Index: -1, Reason: "not an array", Err: state.ErrOp})
	}
	var d dirty
	copied := 0
	for i, item := range list.Elements() {
		op, err := r.operation(item, &copied)
		if err == nil {
			d.note(op, r.view)
			r.view, err = r.view.ApplyLimit(state.Patch{op}, r.maxBytes())
		}
		if err != nil {
			return fmt.Errorf("operation %d of the changes: %w", i, err)
		}
	}
	return r.rebuild(&d)
}

// maxCopied is how many times the largest view the appends of one event may copy. A feed appends to each text once an event.
const maxCopied = 4

// operation reads an operation; append becomes the replace that it stands for, and adds to copied what that copies.
func (r *Replica) operation(item state.Value, copied *int) (state.Op, error) {
	if kind, _ := item.Get("op").AsString(); kind == string(opAppend) {
		path, ok := item.Get("path").AsString()
		more, isText := item.Get("value").AsString()
		if !ok || !isText {
			return state.Op{}, &state.PatchError{Op: opAppend, Path: path, Reason: "it needs a path and a string", Err: state.ErrOp}
		}
		text, err := state.At[string](r.view, path)
		if err != nil {
			return state.Op{}, err
		}
		if *copied += len(text) + len(more); *copied/maxCopied > r.maxBytes() {
			return state.Op{}, fmt.Errorf("%w: the texts that one event appends to are longer than %d times the limit of %d bytes", state.ErrLimit, maxCopied, r.maxBytes())
		}
		return state.Op{Kind: state.OpReplace, Path: path, Value: state.String(text + more)}, nil
	}
	patch, err := state.ParsePatch(state.Array(item))
	if err != nil {
		return state.Op{}, err
	}
	return patch[0], nil
}

// dirty says which parts of a view differ from the snapshot.
type dirty struct {
	all      bool
	messages places
	runs     places
	members  map[string]bool
}

// places are the elements of a list that differ, and how its length changed, in order.
type places struct {
	all  bool
	at   []int
	edit []splice
}

// splice is one element that came to or went from a list.
type splice struct {
	at   int
	came bool
}

// note notes what an operation is about to change in a view.
func (d *dirty) note(op state.Op, view state.Value) {
	if op.Path == "" {
		d.all = true
		return
	}
	member, rest, deep := strings.Cut(op.Path[1:], "/")
	switch {
	case op.Kind == state.OpMove || op.Kind == state.OpCopy: // not ours, but legal
		d.all = true
	case member == "messages":
		d.messages.note(op.Kind, rest, deep, view.Get(member).Len())
	case member == "runs":
		d.runs.note(op.Kind, rest, deep, view.Get(member).Len())
	default:
		if d.members == nil {
			d.members = map[string]bool{}
		}
		d.members[member] = true
	}
}

// maxEdits is how many elements of a list may come and go in one event before the whole list is read again: places are shifted
// with each of them.
const maxEdits = 64

func (p *places) note(kind state.OpKind, rest string, deep bool, length int) {
	token, _, inside := strings.Cut(rest, "/")
	i, err := strconv.Atoi(token)
	if token == "-" {
		i, err = length, nil
	}
	if p.all || !deep || err != nil || len(p.edit) == maxEdits { // the whole list, or an operation that will fail
		p.all = true
		return
	}
	switch {
	case inside || kind == state.OpReplace:
	case kind == state.OpAdd:
		for k, j := range p.at {
			if j >= i {
				p.at[k]++
			}
		}
		p.edit = append(p.edit, splice{i, true})
	case kind == state.OpRemove:
		kept := p.at[:0]
		for _, j := range p.at {
			if j > i {
				kept = append(kept, j-1)
			} else if j < i {
				kept = append(kept, j)
			}
		}
		p.at, p.edit = kept, append(p.edit, splice{i, false})
		return
	}
	if n := len(p.at); n == 0 || p.at[n-1] != i {
		p.at = append(p.at, i)
	}
}

// update returns the list brought up to date with its value in the view.
func update[E any](list messages.List[E], v state.Value, p *places, all bool, read func(state.Value, string) (E, error), at string) (messages.List[E], error) {
	if all || p.all {
		if v.Kind() != state.KindArray {
			return list, malformed(at, "an array", v.Kind().String())
		}
		items := make([]E, 0, min(v.Len(), 1024))
		for i, item := range v.Elements() {
			e, err := read(item, element(at, i))
			if err != nil {
				return list, err
			}
			items = append(items, e)
		}
		return messages.NewList(items...), nil
	}
	var zero E
	for _, s := range p.edit {
		if s.came {
			list = list.Insert(s.at, zero)
		} else {
			list = list.Remove(s.at)
		}
	}
	for _, i := range p.at {
		e, err := read(v.Index(i), element(at, i))
		if err != nil {
			return list, err
		}
		list = list.Set(i, e)
	}
	return list, nil
}

// rebuild brings the snapshot up to date with the view.
func (r *Replica) rebuild(d *dirty) error {
	v, th := r.view, *r.snapshot.thread()
	if v.Kind() != state.KindObject {
		return malformed("", "an object", v.Kind().String())
	}
	changed := func(member string) bool { return d.all || d.members[member] }
	var err error
	if th.Messages, err = update(th.Messages, v.Get("messages"), &d.messages, d.all, readMessage, "/messages"); err != nil {
		return err
	}
	if th.Runs, err = update(th.Runs, v.Get("runs"), &d.runs, d.all, readRun, "/runs"); err != nil {
		return err
	}
	if changed("threadId") || changed("interrupts") {
		got, err := readThread(state.Member{Key: "threadId", Value: v.Get("threadId")}, state.Member{Key: "interrupts", Value: v.Get("interrupts")})
		if err != nil {
			return err
		}
		th.ID, th.Interrupts = got.ID, got.Interrupts
	}
	if changed("state") {
		if th.State = v.Get("state"); !th.State.Exists() {
			return malformed("/state", "a value", "nothing")
		}
	}
	if changed("subagents") {
		got, err := readThread(state.Member{Key: "subagents", Value: v.Get("subagents")}, state.Member{Key: "runs", Value: names(th.Runs)})
		if err != nil {
			return err
		}
		th.Subagents = got.Subagents
	}
	if changed("phase") {
		r.snapshot.Phase, _ = v.Get("phase").AsString()
	}
	if changed("queued") {
		queued, err := update(messages.List[*messages.Message]{}, v.Get("queued"), &places{}, true, readMessage, "/queued")
		if err != nil {
			return err
		}
		r.snapshot.Queued = queued.Slice()
	}
	r.snapshot.Thread = &th
	return nil
}

// names returns runs that have their names and nothing else: they place the subagents in the order of time.
func names(runs messages.List[*reducer.Run]) state.Value {
	list := make([]state.Value, 0, runs.Len())
	for _, run := range runs.All() {
		list = append(list, parse(appendJSON(nil, &reducer.Run{ID: run.ID, Status: reducer.Succeeded})))
	}
	return state.Array(list...)
}

// readThread reads a thread that has these members of a thread's JSON and none of the others.
func readThread(members ...state.Member) (*reducer.Thread, error) {
	v := parse(empty.AppendJSON(nil))
	for _, m := range members {
		v = v.With(m.Key, m.Value)
	}
	if runs := v.Get("runs"); runs.Len() > 0 {
		v = v.With("status", runs.Index(runs.Len()-1).Get("status"))
	}
	var th reducer.Thread
	if err := th.UnmarshalJSON(v.AppendJSON(nil)); err != nil {
		return nil, err
	}
	return &th, nil
}

func readRun(v state.Value, at string) (*reducer.Run, error) {
	th, err := readThread(state.Member{Key: "runs", Value: state.Array(v)})
	if err != nil {
		return nil, fmt.Errorf("%s of the view: %w", at, err)
	}
	if th.Runs.Len() != 1 {
		return nil, malformed(at, "a run", v.Kind().String())
	}
	return th.Runs.At(0), nil
}

func readMessage(v state.Value, at string) (*messages.Message, error) {
	var m *messages.Message
	verdict := codec.Decode(v, math.MaxInt, &m, codec.Described[*messages.Message]())
	for _, gone := range verdict.Removals {
		if gone.Rule != "P-ENF-2" { // more than a member that is not described, such as status
			return nil, malformed(at+gone.Path, "only what AG-UI "+event.ProtocolVersion+" describes", gone.Text)
		}
	}
	if f := verdict.Fault; f != nil {
		return nil, malformed(at+f.Path, f.Want, f.Found)
	}
	if verdict.Dropped {
		return nil, malformed(at, "a message", v.Kind().String())
	}
	status, _ := v.Get("status").AsString()
	m.Streaming, m.Cut = status == statusStreaming, status == statusCut
	for i, item := range v.Get("toolCalls").Elements() {
		if status, _ := item.Get("status").AsString(); i < m.ToolCalls.Len() {
			m.ToolCalls.At(i).Status = callStatuses[status] // nothing else holds it yet
		}
	}
	return m, nil
}

// callStatuses are the statuses of a call by their names.
var callStatuses = func() map[string]messages.ToolCallStatus {
	byName := map[string]messages.ToolCallStatus{}
	for s := messages.ToolCallComplete; s <= messages.ToolCallBroken; s++ {
		byName[s.String()] = s
	}
	return byName
}()

func malformed(path, want, found string) error {
	return &messages.MalformedError{Rule: "P-ENF-4", Type: "view", Path: path, Want: want, Found: found}
}
