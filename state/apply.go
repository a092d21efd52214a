package state

import "strings"

// DefaultMaxSize is the size, in bytes of JSON text before strings are escaped, that
// [Value.Apply] lets a document grow to; a larger one may still change, but not grow. It exists because copies share memory: a few dozen copy
// operations, each of which doubles the text, would cost nothing to apply and everything to encode.
const DefaultMaxSize = 64 << 20

// Apply returns v with patch applied by RFC 6902 (P-STA-3), or v itself and a [*PatchError]; there is
// no partial result. A nil patch is a no-op. The result shares with v all that no operation touches,
// and with the patch the values it adds; the cost of an operation grows with the depth of its path
// and the logarithm of the containers on it.
//
// Stricter readings than some: an index has no leading zeros or sign, - only appends, move into its
// own child fails, and so does removing the root. An absent v takes nothing but an add or replace of
// the root. The error matches [ErrOp] for a malformed operation, [ErrPath] for a place that is not
// there, [ErrTest] for a failed test, and [ErrLimit] if the document would grow beyond
// [DefaultMaxSize] or [DefaultMaxDepth], or further beyond them than it was.
func (v Value) Apply(patch Patch) (Value, error) {
	doc := v
	for i := range patch {
		op := &patch[i]
		changed, err := op.apply(doc)
		if err == nil {
			err = checkLimits(doc, changed)
		}
		if err != nil {
			return v, op.failed(i, err)
		}
		doc = changed
	}
	return doc, nil
}

func checkLimits(before, after Value) *fault {
	if n := after.size(); n > DefaultMaxSize && n > before.size() {
		return failf(ErrLimit, "the document would take %d bytes, more than %d", n, DefaultMaxSize)
	}
	if h := after.height(); h > DefaultMaxDepth && h > before.height() {
		return failf(ErrLimit, "the document would nest %d levels deep, more than %d", h, DefaultMaxDepth)
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
		if !Equal(found, op.Value) {
			return Value{}, failf(ErrTest, "the value there is %s, not %s", brief(found), brief(op.Value))
		}
		return doc, nil
	}
	return edit(doc, op.Path, op.Kind, op.Value)
}

// brief is v for an error message: scalars as they are if short, containers by their kind.
func brief(v Value) string {
	if v.Kind() >= KindArray {
		return "another " + v.Kind().String()
	}
	if v.size() > 60 {
		return "another long " + v.Kind().String()
	}
	return v.String()
}

// source returns the value that a move or copy takes.
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
		return Value{}, failf(ErrOp, "a value cannot move into itself")
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

// edit returns v with an add, remove or replace carried out at a valid pointer.
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

// editChild carries out the operation on what token names in v.
func editChild(v Value, token string, kind OpKind, val Value) (Value, *fault) {
	if kind == OpAdd {
		switch v.n.kind {
		case KindArray:
			return addElement(v, token, val)
		case KindObject:
			if !v.n.c.get(token).Exists() {
				token = strings.Clone(token) // the document must not hold on to the patch's text
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
