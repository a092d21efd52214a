package state

import (
	"encoding/json"
	"fmt"
	"math"
)

// At returns what pointer leads to in v as a T. For T a [Value], string, bool, int, int64, float64 or
// [json.Number] the value must be of that kind, numbers by value (1e2 is an int) and within range;
// for any other T it is what encoding/json makes of it. The error is a [*PointerError] that matches
// [ErrPath] if there is nothing, and [ErrType] or the error of encoding/json if it is no T.
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
		return fmt.Sprintf("the number %.40s is no %T", found.n.text, *new(T))
	}
	return fmt.Sprintf("a value of kind %v is no %T", found.Kind(), *new(T))
}
