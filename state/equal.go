package state

// Equal reports whether a and b are equal by RFC 6902 section 4.6: numbers by their value, exactly
// and at any size (1e2 equals 100), objects without regard to order, everything else as it is. An
// absent Value equals an absent one only. Parts that a and b share cost nothing.
func Equal(a, b Value) bool {
	if Same(a, b) {
		return true
	}
	if a.Kind() != b.Kind() || a.Len() != b.Len() {
		return false
	}
	switch a.Kind() {
	case KindNumber:
		return a.n.decimal() == b.n.decimal()
	case KindArray:
		for range diffElements(a, b, Equal) {
			return false
		}
		return true
	case KindObject:
		return diffMembers(a, b, func(_ string, x, y Value) bool {
			return x.Exists() && y.Exists() && Equal(x, y)
		})
	}
	return false
}
