package state

import (
	"errors"
	"fmt"

	"github.com/agfold/agfold/internal/jsontext"
)

// OpKind is the kind of an operation (RFC 6902 section 4).
type OpKind string

// The operations that RFC 6902 defines.
const (
	OpAdd     OpKind = "add"
	OpRemove  OpKind = "remove"
	OpReplace OpKind = "replace"
	OpMove    OpKind = "move"
	OpCopy    OpKind = "copy"
	OpTest    OpKind = "test"
)

// Op is one operation of a [Patch].
type Op struct {
	Kind  OpKind
	Path  string // JSON pointer to the target
	From  string // JSON pointer to the source, for move and copy
	Value Value  // for add, replace and test; the other kinds encode it but do not use it
	Extra Value  // members that RFC 6902 does not define, as an object, or absent; only encoded
}

// Patch is a JSON patch (RFC 6902): operations that are applied in order, all of them or none.
type Patch []Op

// Errors that a [*PatchError] wraps, besides [ErrPath].
var (
	// ErrTest is the error for a test operation that found another value.
	ErrTest = errors.New("test failed")
	// ErrOp is the error for a malformed operation.
	ErrOp = errors.New("malformed operation")
	// ErrLimit is the error for a document that would become too large or too deep.
	ErrLimit = errors.New("document limit exceeded")
)

// PatchError is the error for a patch that is malformed or cannot be applied.
type PatchError struct {
	Index  int    // of the operation that failed, from 0; -1 if the patch is not a list of operations
	Op     OpKind // the operation's kind, as far as known
	Path   string // the operation's path, as far as known
	Reason string
	Err    error // [ErrPath], [ErrTest], [ErrOp] or [ErrLimit]
}

// Error implements error.
func (e *PatchError) Error() string {
	if e.Index < 0 {
		return "patch: " + e.Reason
	}
	return fmt.Sprintf("patch operation %d (%s %q): %s", e.Index, e.Op, e.Path, e.Reason)
}

// Unwrap returns Err.
func (e *PatchError) Unwrap() error { return e.Err }

// ParsePatch converts v to a Patch. v must be an array of objects with a known op, the members that the op
// needs, and valid JSON pointers. Members that RFC 6902 does not define go to Op.Extra, and so does a from
// that is not a string where the op needs none. The error is a [*PatchError] that wraps [ErrOp].
func ParsePatch(v Value) (Patch, error) {
	if v.Kind() != KindArray {
		return nil, &PatchError{Index: -1, Reason: "it must be an array of operations, not a value of kind " + v.Kind().String(), Err: ErrOp}
	}
	patch := make(Patch, 0, v.Len())
	for i, item := range v.Elements() {
		op, err := parseOp(item)
		if err == nil {
			err = op.check()
		}
		if err != nil {
			return nil, op.failed(i, err)
		}
		patch = append(patch, op)
	}
	return patch, nil
}

func parseOp(v Value) (op Op, err *fault) {
	if v.Kind() != KindObject {
		return op, failf(ErrOp, "it must be an object, not a value of kind %v", v.Kind())
	}
	kind, ok := v.Get("op").AsString()
	if !ok {
		return op, failf(ErrOp, "op must be a string")
	}
	op.Kind = OpKind(kind)
	if op.Path, ok = v.Get("path").AsString(); !ok {
		return op, failf(ErrOp, "path must be a string")
	}
	op.Value = v.Get("value")
	var extra []Member
	for key, m := range v.Members() {
		switch key {
		case "op", "path", "value":
			continue
		case "from":
			if op.From, ok = m.AsString(); ok {
				continue
			}
		}
		extra = append(extra, Member{key, m})
	}
	if op.hasSource() && v.Get("from").Kind() != KindString {
		return op, failf(ErrOp, "from must be a string")
	}
	if extra != nil {
		op.Extra = Object(extra...)
	}
	return op, nil
}

func (op *Op) hasSource() bool { return op.Kind == OpMove || op.Kind == OpCopy }

// check reports whether op itself is malformed.
func (op *Op) check() *fault {
	switch op.Kind {
	case OpAdd, OpReplace, OpTest:
		if !op.Value.Exists() {
			return failf(ErrOp, "value is missing")
		}
	case OpMove, OpCopy:
		if !jsontext.ValidPointer(op.From) {
			return failf(ErrOp, "from %q is not a JSON pointer", op.From)
		}
	case OpRemove:
	default:
		return failf(ErrOp, "unknown operation")
	}
	if !jsontext.ValidPointer(op.Path) {
		return failf(ErrOp, "path is not a JSON pointer")
	}
	return nil
}

func (op *Op) failed(i int, err *fault) *PatchError {
	return &PatchError{i, op.Kind, op.Path, err.reason, err.kind}
}

// Value returns p as JSON: for each operation op, path, from and value, then the extra members.
func (p Patch) Value() Value {
	ops := make([]Value, len(p))
	for i, op := range p {
		members := []Member{{"op", String(string(op.Kind))}, {"path", String(op.Path)}}
		if op.hasSource() || op.From != "" {
			members = append(members, Member{"from", String(op.From)})
		}
		members = append(members, Member{"value", op.Value})
		for key, m := range op.Extra.Members() {
			switch key {
			case "op", "path", "value":
				continue
			case "from":
				if op.hasSource() || op.From != "" {
					continue
				}
			}
			members = append(members, Member{key, m})
		}
		ops[i] = Object(members...)
	}
	return newArray(ops)
}

// MarshalJSON implements [json.Marshaler]. A nil patch becomes an empty array.
func (p Patch) MarshalJSON() ([]byte, error) { return p.Value().MarshalJSON() }

// UnmarshalJSON implements [json.Unmarshaler] with [ParsePatch].
func (p *Patch) UnmarshalJSON(data []byte) error {
	v, err := Parse(data)
	if err != nil {
		return err
	}
	parsed, err := ParsePatch(v)
	if err != nil {
		return err
	}
	*p = parsed
	return nil
}
