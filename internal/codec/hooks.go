package codec

import "reflect"

// A package that owns a type describes it here, and packages above look the description up: no exported function may show
// that this package exists.
var described = map[reflect.Type]any{}

// Describe says how values of type T are walked. It is for init functions.
func Describe[T any](walk func(*T, *Codec)) { described[reflect.TypeFor[T]()] = walk }

// Described returns the walk of type T.
func Described[T any]() func(*T, *Codec) { return described[reflect.TypeFor[T]()].(func(*T, *Codec)) }
