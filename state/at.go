package state

import (
	"encoding/json"
	"fmt"
	"math"
)

// At returns the part of v that pointer (RFC 6901) leads to, as a T. If T is [Value], string, bool, int,
// int64, float64 or [json.Number], the value must be of that kind; for numbers only the value counts (1e2
// is an int), and it must be in range. Any other T is decoded by encoding/json. The error is a
// [*PointerError] that wraps [ErrPath] if the pointer leads to nothing, and [ErrType] or the error of
// encoding/json if the value is not a T.
func At[T any](v Value, pointer string) (T, error) {
	var out T
	found, err := v.Lookup(pointer)
	if err != nil {
		return out, err
	}
	ok := true
	switch p := any(&out).(type) {
	case *Value:
		*p = found
	case *string:
		*p, ok = found.AsString()
	case *bool:
		*p, ok = found.AsBool()
	case *float64:
		*p, ok = found.AsFloat()
	case *json.Number:
		*p, ok = found.AsNumber()
	case *int64:
		*p, ok = found.AsInt()
	case *int:
		var i int64
		if i, ok = found.AsInt(); ok {
			*p, ok = int(i), i >= math.MinInt && i <= math.MaxInt
		}
	default:
		if err := found.Unmarshal(&out); err != nil {
			var none T
			return none, &PointerError{pointer, err.Error(), err}
		}
	}
	if !ok {
		return out, &PointerError{pointer, mismatch[T](found), ErrType}
	}
	return out, nil
}

func mismatch[T any](found Value) string {
	if found.Kind() == KindNumber {
		return fmt.Sprintf("cannot convert the number %.40s to %T", found.n.text, *new(T))
	}
	return fmt.Sprintf("cannot convert %v to %T", found.Kind(), *new(T))
}
