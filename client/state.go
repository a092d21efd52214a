package client

import (
	"context"
	"errors"
	"math"

	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
	"github.com/agfold/agfold/subscribe"
)

// State is a typed place in the shared state of threads: the value at a path, as a T. It holds no value itself, so one
// variable serves all threads and sessions:
//
//	var weather = client.State[Weather]{Path: "/weather"}
//
// T is read and written by encoding/json, which ignores members of the state that T does not have; changes keep them. All
// methods may be called concurrently.
type State[T any] struct {
	// Path is a JSON pointer (RFC 6901) in the state; "" is all of it.
	Path string
}

// Get returns the value in a thread, or in the thread of a [Snapshot]. The error is a [*state.PointerError] that wraps
// [state.ErrPath] if the state has nothing there; otherwise it says why the value is not a T, see [state.At].
func (p State[T]) Get(th *reducer.Thread) (T, error) { return state.At[T](th.State, p.Path) }

// Reading is one value of [State.Watch], or why there is none.
type Reading[T any] struct {
	Value T
	// Err is that of [State.Get]: the state has nothing at the path, or something that is not a T. Later values may be
	// right again.
	Err error

	from state.Value
}

// Watch returns a channel of the value in a session: the one of now, and then each that differs from the one before, the
// newest if the receiver is slow. It decodes only what has changed. The channel is closed after the session's Close, or
// when ctx ends; a receiver that stops earlier must end ctx.
func (p State[T]) Watch(ctx context.Context, s *Session) <-chan Reading[T] {
	var last Reading[T]
	first := true
	read := func(snap Snapshot) Reading[T] {
		from, err := snap.State.Lookup(p.Path)
		if first || !state.Same(from, last.from) && !from.Equal(last.from) {
			first = false
			last = Reading[T]{Err: err, from: from}
			if err == nil {
				last.Value, last.Err = state.At[T](from, "")
			}
		}
		return last
	}
	same := func(a, b Reading[T]) bool { return state.Same(a.from, b.from) || a.from.Equal(b.from) }
	return subscribe.Select(ctx, s.Subscribe(ctx), read, same)
}

// Update calls change with the value and patches the state with what differs afterwards. Members of the state that T does
// not have stay, in lists too; so does everything that change left as it was. If the state has nothing at the path, change
// gets the zero T, and what it leaves is added. Like after [Session.PatchState], subscribers see the change at once, and the
// agent gets it with the next run. Other changes to the session wait meanwhile, so change must not make any. It is called a
// second time, on a fresh value, if a run that the agent had begun by itself must be stopped first.
//
// The state is as it was if Update returns an error: that of change; [ErrBusy] or [ErrClosed]; one of [State.Get] if the
// value is not a T; one of encoding/json if the new one cannot be encoded; a [*state.PatchError] if it is too large, see
// [SessionOptions.MaxPatchedBytes], or if the path leads through a value that is not an object.
func (p State[T]) Update(s *Session, change func(*T) error) error {
	return s.edit(func(th *reducer.Thread) (*reducer.Thread, error) {
		patch, err := p.Patch(th.State, change)
		if err != nil || len(patch) == 0 {
			return th, err
		}
		v, err := th.State.ApplyLimit(patch, s.patchLimit(th))
		if err != nil {
			return nil, err
		}
		return withState(th, v), nil
	})
}

// Patch returns what Update would change in a state: for an agent written in Go that sends it as STATE_DELTA. It does not
// change v. The patch is empty if change changes nothing.
func (p State[T]) Patch(v state.Value, change func(*T) error) (state.Patch, error) {
	if !v.Exists() {
		v = state.Object()
	}
	var before, after state.Value
	value, err := state.At[T](v, p.Path)
	if err == nil {
		before, err = state.Of(value)
	} else if errors.Is(err, state.ErrPath) {
		err = nil
	}
	if err != nil {
		return nil, err
	}
	if err := change(&value); err != nil {
		return nil, err
	}
	if after, err = state.Of(value); err != nil {
		return nil, err
	}
	held, _ := v.Lookup(p.Path)
	merged := merge(held, before, after)
	if state.Same(held, merged) {
		return nil, nil
	}
	changed, err := put(v, p.Path, merged)
	if err != nil {
		return nil, err
	}
	return state.Diff(v, changed), nil
}

// put returns v with the value at path, in new objects where there are none.
func put(v state.Value, path string, value state.Value) (state.Value, error) {
	var patch state.Patch
	for i := 1; i < len(path); i++ {
		if path[i] != '/' {
			continue
		}
		if _, err := v.Lookup(path[:i]); err != nil {
			patch = append(patch, state.Op{Kind: state.OpAdd, Path: path[:i], Value: state.Object()})
		}
	}
	return v.ApplyLimit(append(patch, state.Op{Kind: state.OpAdd, Path: path, Value: value}), math.MaxInt)
}

// merge returns held with what differs between before, which is how a T shows it, and after.
func merge(held, before, after state.Value) state.Value {
	switch {
	case before.Exists() && before.Equal(after):
		return held
	case held.Kind() == state.KindObject && before.Kind() == state.KindObject && after.Kind() == state.KindObject:
		for key := range before.Members() {
			if !after.Get(key).Exists() {
				held = held.Without(key)
			}
		}
		for key, v := range after.Members() {
			if was := before.Get(key); !was.Exists() || !was.Equal(v) {
				held = held.With(key, merge(held.Get(key), was, v))
			}
		}
		return held
	case held.Kind() == state.KindArray && before.Kind() == state.KindArray && after.Kind() == state.KindArray && held.Len() == before.Len():
		return mergeLists(held, before, after)
	}
	return after
}

// mergeLists merges lists: elements that stay, or that are changed where they are, keep what T does not know of them.
func mergeLists(held, before, after state.Value) state.Value {
	from, end, endAfter := 0, before.Len(), after.Len()
	for from < min(end, endAfter) && before.Index(from).Equal(after.Index(from)) {
		from++
	}
	for end > from && endAfter > from && before.Index(end-1).Equal(after.Index(endAfter-1)) {
		end--
		endAfter--
	}
	elements := make([]state.Value, 0, after.Len())
	for i := range from {
		elements = append(elements, held.Index(i))
	}
	next := from        // of before, to be found in after
	compares := 1 << 20 // then the rest of after is taken as it is
	for i := from; i < endAfter; i++ {
		v := after.Index(i)
		if end-from == endAfter-from {
			elements = append(elements, merge(held.Index(i), before.Index(i), v))
			continue
		}
		at := next
		for at < end && compares > 0 && !before.Index(at).Equal(v) {
			at++
			compares--
		}
		if at < end && compares > 0 {
			v, next = held.Index(at), at+1
		}
		elements = append(elements, v)
	}
	for i := end; i < before.Len(); i++ {
		elements = append(elements, held.Index(i))
	}
	return state.Array(elements...)
}
