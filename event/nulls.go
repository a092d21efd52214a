package event

import (
	"bytes"
	"errors"
	"math"
	"slices"

	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// WithoutNulls returns f without the optional members that are explicitly null, where decoding would reject them
// (P-NULL-1), and the paths of those, as JSON pointers in f. Nulls in open values and in required members stay. If
// there is nothing to remove, it returns f itself and no paths.
func (f Frame) WithoutNulls() (Frame, []string) {
	if !mayHoldNulls(f.p) {
		return f, nil
	}
	v := f.Value()
	paths := codec.Nulls(v, newEvent(f.p.typ), walkEvent)
	if len(paths) == 0 {
		return f, nil
	}
	removals := make(state.Patch, len(paths))
	for i, path := range paths {
		removals[i] = state.Op{Kind: state.OpRemove, Path: path}
	}
	v, err := v.ApplyLimit(removals, math.MaxInt)
	if err != nil {
		return f, nil // decoding has found each of them
	}
	return f.edited(v), paths
}

// mayHoldNulls reports whether the event may have to be looked into for nulls: whether some member is null, or its type
// has members that are objects or lists, whose members may be.
func mayHoldNulls(p *frame) bool {
	if p == nil || p.name == "" || p.typ == TypeUnknown {
		return false
	}
	if p.found.nulls || p.value.Exists() {
		return true
	}
	switch p.typ {
	case TypeRunStarted, TypeRunFinished, TypeRunError, TypeMessagesSnapshot, TypeToolCallResult, TypeSubagentFinished:
		return bytes.Contains(p.data, []byte("null"))
	}
	return false
}

// hint adds to err, the error of decoding f, the name of the repair that would help, if there is one.
func hint(err error, f Frame) {
	e, ok := errors.AsType[*messages.MalformedError](err)
	if !ok || e.Rule != "P-ENF-4" {
		return
	}
	if role, _ := f.text("role"); f.Type() == TypeReasoningMessageStart && e.Path == "/role" && role == string(messages.RoleAssistant) {
		e.Hint = "lenient.ReasoningRole, of package client/lenient, accepts this role"
		return
	}
	if _, paths := f.WithoutNulls(); slices.Contains(paths, e.Path) {
		e.Hint = "lenient.Nulls, of package client/lenient, takes such nulls for absent members"
	}
}
