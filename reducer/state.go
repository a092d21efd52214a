package reducer

import (
	"errors"
	"strconv"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/state"
)

// patch applies a patch to the state or to the content of an activity. It limits their total size.
func (d *draft) patch(doc state.Value, patch state.Patch) (state.Value, error) {
	others := d.state.Size() + d.activityBytes - doc.Size()
	return doc.ApplyLimit(patch, d.maxPatched-others)
}

// stateSnapshot replaces the shared state (P-STA-1).
func (d *draft) stateSnapshot(e *event.StateSnapshot) {
	d.state, d.hasState = e.Snapshot, true
	d.change.Kind = StateReplaced
}

// stateDelta patches the shared state, or leaves it as it was and warns (P-STA-1).
func (d *draft) stateDelta(e *event.StateDelta) {
	patched, err := d.patch(d.state, e.Delta)
	if err != nil {
		path := "/delta"
		var failed *state.PatchError
		if errors.As(err, &failed) {
			path += "/" + strconv.Itoa(failed.Index)
		}
		d.in.warn("P-STA-1", path, "the patch does not apply: "+err.Error())
		return
	}
	d.state, d.hasState = patched, true
	d.change.Kind = StatePatched
}
