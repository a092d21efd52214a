package feed

import (
	"bytes"
	"fmt"

	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// AppendDelta appends what leads from one snapshot of a conversation to another, one JSON object, and reports whether
// anything differs. Unlike [AppendChanges] it needs no view on either side, and it compares what the two do not share: the
// cost depends on that.
func AppendDelta(dst []byte, older, newer Snapshot) (_ []byte, differs bool) {
	a, b := older.thread(), newer.thread()
	c := b.ChangesSince(a)
	start := len(dst)
	dst = append(dst, '{')
	if a.ID != b.ID {
		dst = codec.AppendString(dst, "threadId", b.ID)
	}
	if a.Revision != b.Revision {
		dst = codec.AppendValue(dst, "revision", state.Int(int64(b.Revision)))
	}
	if older.Phase != newer.Phase {
		dst = codec.AppendString(dst, "phase", newer.Phase)
	}
	if !sameQueue(older.Queued, newer.Queued) {
		dst = codec.AppendValue(dst, "queued", queue(newer.Queued))
	}
	if c.Rows != (reducer.Splice{}) {
		dst = codec.AppendValue(dst, "rows", state.Array(state.Int(int64(c.Rows.At)), state.Int(int64(c.Rows.Removed))))
		dst = append(codec.AppendKey(dst, "inserted"), '[')
		for i := range c.Rows.Inserted {
			dst = appendMessage(separated(dst), b.Messages.At(c.Rows.At+i))
		}
		dst = append(dst, ']')
	}
	shift := c.Rows.Inserted - c.Rows.Removed
	dst = changedElements(dst, "messages", c.Messages, func(i int) (was, is []byte) {
		at := i
		if i >= c.Rows.At {
			at -= shift
		}
		return appendMessage(nil, a.Messages.At(at)), appendMessage(nil, b.Messages.At(i))
	})
	dst = appendState(dst, a.State, b.State, c.State)
	if c.RunsGone > 0 {
		dst = codec.AppendInteger(dst, "runsGone", int64(c.RunsGone))
	}
	dst = changedElements(dst, "runs", c.Runs, func(i int) (was, is []byte) {
		if i < a.Runs.Len() {
			was = appendJSON(nil, a.Runs.At(i))
		}
		return was, appendJSON(nil, b.Runs.At(i))
	})
	if len(c.Subagents) > 0 || c.SubagentsGone > 0 {
		if text := appendJSON(nil, b.Subagents); !bytes.Equal(text, appendJSON(nil, a.Subagents)) {
			dst = append(codec.AppendKey(dst, "subagents"), text...)
		}
	}
	if c.Interrupts {
		if is := head(b).Get("interrupts"); !is.Equal(head(a).Get("interrupts")) {
			dst = codec.AppendValue(dst, "interrupts", is)
		}
	}
	return append(dst, '}'), len(dst) > start+1
}

// appendState appends the state, or the patch that leads to it if that is shorter.
func appendState(dst []byte, older, newer state.Value, patch state.Patch) []byte {
	newer = orEmpty(newer)
	if len(patch) == 0 && (newer.Len() > 0 || newer.Equal(orEmpty(older))) {
		return dst
	}
	if text := appendJSON(nil, patch); len(patch) > 0 && len(text) < newer.Size() {
		return append(codec.AppendKey(dst, "patch"), text...)
	}
	return codec.AppendValue(dst, "state", newer)
}

// separated appends a comma unless a list begins.
func separated(dst []byte) []byte {
	if dst[len(dst)-1] == '[' {
		return dst
	}
	return append(dst, ',')
}

// changedElements appends the elements of a list whose texts differ, each with its place.
func changedElements(dst []byte, key string, places []int, texts func(i int) (was, is []byte)) []byte {
	begun := false
	for _, i := range places {
		was, is := texts(i)
		if bytes.Equal(was, is) {
			continue
		}
		if !begun {
			dst, begun = append(codec.AppendKey(dst, key), '['), true
		}
		dst = fmt.Appendf(separated(dst), "[%d,%s]", i, is)
	}
	if begun {
		dst = append(dst, ']')
	}
	return dst
}

// ApplyDelta returns the snapshot that a delta leads to from s, which it shares everything else with. An error says that
// the delta is malformed, or that it is not one of s.
func ApplyDelta(s Snapshot, delta []byte) (Snapshot, error) {
	v, err := state.ParseDepth(delta, depthOf+2)
	if err != nil {
		return s, err
	}
	if v.Kind() != state.KindObject {
		return s, malformed("", "an object", v.Kind().String())
	}
	th := *s.thread()
	if id, ok := v.Get("threadId").AsString(); ok {
		th.ID = id
	}
	if n, ok := v.Get("revision").AsInt(); ok {
		th.Revision = uint64(n)
	}
	if phase, ok := v.Get("phase").AsString(); ok {
		s.Phase = phase
	}
	if list := v.Get("queued"); list.Exists() {
		queued, err := update(messages.List[*messages.Message]{}, list, &places{}, true, readMessage, "/queued")
		if err != nil {
			return s, err
		}
		s.Queued = queued.Slice()
	}
	if th.Messages, err = rowsOf(th.Messages, v); err != nil {
		return s, err
	}
	if th.Messages, err = elementsOf(th.Messages, v.Get("messages"), th.Messages.Len(), readMessage, "/messages"); err != nil {
		return s, err
	}
	if th.State, err = stateOf(th.State, v); err != nil {
		return s, err
	}
	if gone, ok := v.Get("runsGone").AsInt(); ok {
		if gone < 0 || gone > int64(th.Runs.Len()) {
			return s, malformed("/runsGone", "runs that are there", fmt.Sprint(gone))
		}
		for range gone {
			th.Runs = th.Runs.Remove(th.Runs.Len() - 1)
		}
	}
	runs := v.Get("runs")
	if th.Runs, err = elementsOf(th.Runs, runs, th.Runs.Len()+runs.Len(), readRun, "/runs"); err != nil {
		return s, err
	}
	if list := v.Get("subagents"); list.Exists() {
		got, err := readThread(state.Member{Key: "subagents", Value: list}, state.Member{Key: "runs", Value: names(th.Runs)})
		if err != nil {
			return s, err
		}
		th.Subagents = got.Subagents
	}
	if list := v.Get("interrupts"); list.Exists() {
		got, err := readThread(state.Member{Key: "interrupts", Value: list})
		if err != nil {
			return s, err
		}
		th.Interrupts = got.Interrupts
	}
	s.Thread = &th
	return s, nil
}

// rowsOf returns the messages without those that went and with those that came.
func rowsOf(list messages.List[*messages.Message], v state.Value) (messages.List[*messages.Message], error) {
	rows := v.Get("rows")
	if !rows.Exists() {
		return list, nil
	}
	at, ok := rows.Index(0).AsInt()
	removed, ok2 := rows.Index(1).AsInt()
	if !ok || !ok2 || at < 0 || removed < 0 || at > int64(list.Len()) || removed > int64(list.Len())-at {
		return list, malformed("/rows", "places that are there", rows.String())
	}
	came, err := update(messages.List[*messages.Message]{}, v.Get("inserted"), &places{}, true, readMessage, "/inserted")
	if err != nil {
		return list, err
	}
	if int(at) == list.Len() {
		return list.Append(came.Slice()...), nil
	}
	all := list.Slice()
	rest := all[at+removed:]
	return messages.NewList(all[:at:at]...).Append(came.Slice()...).Append(rest...), nil
}

// elementsOf sets the elements of a list that a delta names, or appends them while the list is shorter than max.
func elementsOf[E any](list messages.List[E], v state.Value, max int, read func(state.Value, string) (E, error), at string) (messages.List[E], error) {
	for n, pair := range v.Elements() {
		i, ok := pair.Index(0).AsInt()
		if !ok || pair.Len() != 2 || i < 0 || i > int64(list.Len()) || i >= int64(max) {
			return list, malformed(element(at, n), "a place that is there", pair.Index(0).String())
		}
		e, err := read(pair.Index(1), element(at, n))
		switch {
		case err != nil:
			return list, err
		case int(i) == list.Len():
			list = list.Append(e)
		default:
			list = list.Set(int(i), e)
		}
	}
	return list, nil
}

// stateOf returns the state that a delta leads to.
func stateOf(v, delta state.Value) (state.Value, error) {
	if whole := delta.Get("state"); whole.Exists() {
		return whole, nil
	}
	list := delta.Get("patch")
	if !list.Exists() {
		return v, nil
	}
	patch, err := state.ParsePatch(list)
	if err != nil {
		return v, err
	}
	for i, op := range patch {
		if op.Kind == state.OpCopy { // a few of them could make a state that no memory holds
			return v, malformed(element("/patch", i), "what state.Diff makes", string(op.Kind))
		}
	}
	return orEmpty(v).Apply(patch)
}
