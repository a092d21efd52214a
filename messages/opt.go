package messages

import "encoding/json"

// Opt is an optional scalar: absent (the zero value) or present with a value, which may itself be the
// zero value of T. On the wire absent means that the member is missing, never null (P-VOC-4, P-NULL-1).
type Opt[T any] struct {
	value T
	set   bool
}

// Some returns a present v.
func Some[T any](v T) Opt[T] { return Opt[T]{value: v, set: true} }

// Get returns the value and whether it is present; the zero value of T when it is absent.
func (o Opt[T]) Get() (T, bool) { return o.value, o.set }

// Or returns the value, or def when it is absent.
func (o Opt[T]) Or(def T) T {
	if o.set {
		return o.value
	}
	return def
}

// IsSet reports whether the value is present.
func (o Opt[T]) IsSet() bool { return o.set }

// MarshalJSON returns the value as JSON, null when it is absent.
func (o Opt[T]) MarshalJSON() ([]byte, error) {
	if !o.set {
		return []byte("null"), nil
	}
	return json.Marshal(o.value)
}
