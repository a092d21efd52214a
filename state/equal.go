package state

// Equal reports whether v and w are equal by RFC 6902 section 4.6: numbers by their value, exactly and at
// any size (1e2 equals 100), and objects without regard to the order of their members. An absent Value
// equals only an absent one. Parts that v and w share cost nothing.
func (v Value) Equal(w Value) bool {
	if Same(v, w) {
		return true
	}
	if v.Kind() != w.Kind() || v.Len() != w.Len() {
		return false
	}
	switch v.Kind() {
	case KindNumber:
		return v.n.decimal() == w.n.decimal()
	case KindArray:
		for range diffElements(v, w, Value.Equal) {
			return false
		}
		return true
	case KindObject:
		return diffMembers(v, w, func(_ string, x, y Value) bool {
			return x.Exists() && y.Exists() && x.Equal(y)
		})
	}
	return false
}

// Same reports whether a and b share storage, or are scalars of the same kind and text. It takes constant
// time for arrays and objects. If it returns true, a and b are equal; if false, they may still be.
func Same(a, b Value) bool {
	if a.n == b.n {
		return true
	}
	return a.n != nil && b.n != nil && a.n.kind == b.n.kind && a.n.kind < KindArray && a.n.text == b.n.text
}
