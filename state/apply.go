package state

import "strings"

// DefaultMaxSize is the largest [Value.Size] that [Value.Apply] lets a document grow to. It exists because
// copies share storage: a few dozen copy operations, each of which doubles the document, cost next to
// nothing to apply, and fill the memory when the document is encoded.
const DefaultMaxSize = 64 << 20

// Apply returns v with patch applied as RFC 6902 says (P-STA-3). On an error it returns v itself and a
// [*PatchError]; no operation has an effect then. The result shares everything that no operation touches
// with v, and the values that were added with the patch. The cost of an operation grows with the depth of
// its path and the logarithm of the size of the containers on it.
//
// Apply is strict where some libraries are not: an array index has no sign and no leading zeros, "-" can
// only append, a value cannot move into its own child, and the root cannot be removed. If v is absent, only
// the root can be added or replaced. The error wraps [ErrOp] if an operation is malformed, [ErrPath] if a
// place does not exist, [ErrTest] if a test fails, and [ErrLimit] if an operation would make the document
// grow beyond [DefaultMaxSize] or [DefaultMaxDepth]. A document that is larger already may still change, as
// long as it does not grow.
func (v Value) Apply(patch Patch) (Value, error) { return v.ApplyLimit(patch, DefaultMaxSize) }

// ApplyLimit is like [Value.Apply], with maxSize in place of DefaultMaxSize.
func (v Value) ApplyLimit(patch Patch, maxSize int) (Value, error) {
	doc := v
	for i := range patch {
		op := &patch[i]
		changed, err := op.apply(doc)
		if err == nil {
			err = checkLimits(doc, changed, maxSize)
		}
		if err != nil {
			return v, op.failed(i, err)
		}
		doc = changed
	}
	return doc, nil
}

func checkLimits(before, after Value, maxSize int) *fault {
	if n := after.size(); n > before.size() && n > maxSize || n < 0 {
		return failf(ErrLimit, "the document would grow from %d to %d bytes; the limit is %d", before.size(), n, max(maxSize, 0))
	}
	if h := after.height(); h > DefaultMaxDepth && h > before.height() {
		return failf(ErrLimit, "the document would nest %d levels deep; the limit is %d", h, DefaultMaxDepth)
	}
	return nil
}

func (op *Op) apply(doc Value) (Value, *fault) {
	if err := op.check(); err != nil {
		return Value{}, err
	}
	switch op.Kind {
	case OpMove:
		return op.move(doc)
	case OpCopy:
		source, err := op.source(doc)
		if err != nil {
			return Value{}, err
		}
		return edit(doc, op.Path, OpAdd, source)
	case OpTest:
		found, err := doc.lookup(op.Path)
		if err != nil {
			return Value{}, err
		}
		if !found.Equal(op.Value) {
			return Value{}, failf(ErrTest, "the value there is %s, not %s", brief(found), brief(op.Value))
		}
		return doc, nil
	}
	return edit(doc, op.Path, op.Kind, op.Value)
}

// brief returns v for an error message: a short scalar as it is, other values by their kind.
func brief(v Value) string {
	if v.Kind() >= KindArray {
		return "another " + v.Kind().String()
	}
	if v.size() > 60 {
		return "another long " + v.Kind().String()
	}
	return v.String()
}

// source returns the value that a move or copy reads.
func (op *Op) source(doc Value) (Value, *fault) {
	v, err := doc.lookup(op.From)
	if err != nil {
		err.reason = "from " + op.From + ": " + err.reason
	}
	return v, err
}

func (op *Op) move(doc Value) (Value, *fault) {
	source, err := op.source(doc)
	if err != nil {
		return Value{}, err
	}
	if op.From == op.Path {
		return doc, nil
	}
	if strings.HasPrefix(op.Path, op.From+"/") {
		return Value{}, failf(ErrOp, "a value cannot move into its own child")
	}
	if op.Path == "" {
		return source, nil
	}
	rest, err := edit(doc, op.From, OpRemove, Value{})
	if err != nil {
		return Value{}, err
	}
	return edit(rest, op.Path, OpAdd, source)
}

// edit returns v after an add, remove or replace at a valid pointer.
func edit(v Value, pointer string, kind OpKind, val Value) (Value, *fault) {
	if pointer == "" {
		if kind == OpRemove {
			return Value{}, failf(ErrPath, "the root cannot be removed")
		}
		return val, nil
	}
	if !v.Exists() {
		return Value{}, failf(ErrPath, "the document is absent")
	}
	token, rest := cutToken(pointer)
	if rest == "" {
		return editChild(v, token, kind, val)
	}
	old, err := v.child(token)
	if err != nil {
		return Value{}, err
	}
	changed, err := edit(old, rest, kind, val)
	if err != nil {
		return Value{}, err
	}
	if v.n.kind == KindArray {
		i, _ := parseIndex(token)
		return v.setElement(i, old, changed), nil
	}
	return v.withMember(token, changed), nil
}

// editChild carries out the operation on the child of v that token names.
func editChild(v Value, token string, kind OpKind, val Value) (Value, *fault) {
	if kind == OpAdd {
		switch v.n.kind {
		case KindArray:
			return addElement(v, token, val)
		case KindObject:
			if !v.n.c.get(token).Exists() {
				token = strings.Clone(token) // so that the document does not keep the patch's text alive
			}
			return v.withMember(token, val), nil
		}
	}
	old, err := v.child(token)
	if err != nil {
		return Value{}, err
	}
	if v.n.kind == KindArray {
		i, _ := parseIndex(token)
		if kind == OpRemove {
			return v.removeElement(i), nil
		}
		return v.setElement(i, old, val), nil
	}
	if kind == OpRemove {
		return v.withoutMember(token), nil
	}
	return v.withMember(token, val), nil
}

func addElement(v Value, token string, val Value) (Value, *fault) {
	if i, ok := parseIndex(token); token == "-" || ok && i == v.Len() {
		return v.insertElement(v.Len(), val), nil
	}
	i, err := v.index(token)
	if err != nil {
		return Value{}, err
	}
	return v.insertElement(i, val), nil
}
