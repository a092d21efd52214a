package emit

import (
	"fmt"
	"strings"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/state"
)

// A Document is a JSON value that agent and client share: the state of the thread, or the content of an activity. What is
// changed here is changed there, by patches that are known to apply. It may be used from several goroutines.
type Document struct {
	scope    *Scope
	value    *state.Value // needs the mutex
	delta    func(state.Patch) event.Event
	snapshot func(state.Value) event.Event
	object   bool // it must be one
	open     func() bool
}

// State returns the shared state of the thread. It begins as what the input brought, {} if that is nothing (P-STA-2). What a subagent's scope
// changes is attributed to the subagent.
func (s *Scope) State() *Document {
	return &Document{
		scope: s, value: &s.r.state, open: func() bool { return !s.closed },
		delta:    func(p state.Patch) event.Event { return &event.StateDelta{Attribution: s.by(), Delta: p} },
		snapshot: func(v state.Value) event.Event { return &event.StateSnapshot{Attribution: s.by(), Snapshot: v} },
	}
}

// Value returns the document as it is now.
func (d *Document) Value() state.Value {
	d.scope.r.mu.Lock()
	defer d.scope.r.mu.Unlock()
	return *d.value
}

// Set sets the value at path, a JSON pointer such as "/plan/0/done" (see [state.Pointer]), to v, any value that can be encoded as JSON. Objects that are missing on the
// way are made; "-" as the last part appends to an array. "" sets the whole document, like [Document.Replace].
func (d *Document) Set(path string, v any) error {
	value, err := state.Of(v)
	if err != nil {
		return err
	}
	if path == "" {
		return d.Replace(value)
	}
	return d.change(func(old state.Value) (state.Patch, error) { return setting(old, path, value), nil })
}

// setting returns a patch that sets the value at path.
func setting(old state.Value, path string, v state.Value) state.Patch {
	if _, err := old.Lookup(path); err == nil {
		return state.Patch{{Kind: state.OpReplace, Path: path, Value: v}}
	}
	for cut := strings.LastIndexByte(path, '/'); cut > 0; cut = strings.LastIndexByte(path, '/') {
		if _, err := old.Lookup(path[:cut]); err == nil {
			break
		}
		v = state.Object(state.Member{Key: unescape(path[cut+1:]), Value: v})
		path = path[:cut]
	}
	return state.Patch{{Kind: state.OpAdd, Path: path, Value: v}}
}

// unescape returns the token that a part of a JSON pointer stands for (RFC 6901).
func unescape(part string) string {
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
}

// Apply applies a patch. On an error, a [*state.PatchError], nothing is sent.
func (d *Document) Apply(p state.Patch) error {
	return d.change(func(state.Value) (state.Patch, error) { return p, nil })
}

// Update changes the document to what f makes of it, by the patch that [state.Diff] finds, or by a snapshot if nothing of it stays. If
// f returns an equal value, nothing is sent. f is called again if another goroutine has changed the document meanwhile, so it must only compute.
func (d *Document) Update(f func(old state.Value) state.Value) error {
	for {
		old := d.Value()
		next := f(old)
		again := false
		err := d.change(func(now state.Value) (state.Patch, error) {
			if again = !state.Same(now, old); again {
				return nil, nil
			}
			return state.Diff(old, next), nil
		})
		if !again {
			return err
		}
	}
}

// change applies the patch that find makes of the document, and sends it.
func (d *Document) change(find func(state.Value) (state.Patch, error)) error {
	r := d.scope.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if !d.open() {
		return r.over(nil)
	}
	patch, err := find(*d.value)
	if err != nil || len(patch) == 0 {
		return err
	}
	others := r.patched - d.value.Size()
	next, err := d.value.ApplyLimit(patch, max(state.DefaultMaxSize-others, 1))
	switch {
	case err != nil:
		return err
	case d.object && next.Kind() != state.KindObject:
		return fmt.Errorf("emit: the content of an activity must be an object, not %s", next.Kind())
	}
	ev := d.delta(patch)
	if len(patch) == 1 && patch[0].Path == "" { // which says what it is
		ev = d.snapshot(next)
	}
	return d.become(next, ev)
}

// become sends the event that makes the document a value.
func (d *Document) become(next state.Value, ev event.Event) error {
	if err := d.scope.r.emit(ev); err != nil {
		return err
	}
	d.scope.r.patched += next.Size() - d.value.Size()
	*d.value = next
	return nil
}

// Replace makes v, any value that can be encoded as JSON, the whole document, and sends a snapshot.
func (d *Document) Replace(v any) error {
	next, err := state.Of(v)
	if err != nil {
		return err
	}
	r := d.scope.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if !d.open() {
		return r.over(nil)
	}
	if d.object && next.Kind() != state.KindObject {
		return fmt.Errorf("emit: the content of an activity must be an object, not %s", next.Kind())
	}
	return d.become(next, d.snapshot(next))
}
