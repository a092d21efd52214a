package state_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/state"
)

func TestAt(t *testing.T) {
	doc := parse(`{"s":"x","b":true,"i":1e2,"f":2.5,"big":9007199254740993,"null":null,"list":["a","b"],"o":{"Name":"n"},"huge":1e400}`)
	at(t, doc, "/s", "x")
	at(t, doc, "/b", true)
	at(t, doc, "/i", 100)
	at(t, doc, "/i", int64(100))
	at(t, doc, "/f", 2.5)
	at(t, doc, "/big", json.Number("9007199254740993"))
	at(t, doc, "/big", int64(9007199254740993))
	at(t, doc, "/big", uint64(9007199254740993))
	at(t, doc, "/list", []string{"a", "b"})
	at(t, doc, "/o", struct{ Name string }{"n"})
	at(t, doc, "/null", (*string)(nil))
	at(t, doc, "/s", doc.Get("s"))

	fails[string](t, doc, "/none", state.ErrPath)
	fails[string](t, doc, "/i", state.ErrType)
	fails[string](t, doc, "/null", state.ErrType)
	fails[bool](t, doc, "/s", state.ErrType)
	fails[int](t, doc, "/f", state.ErrType)
	fails[int64](t, doc, "/huge", state.ErrType)
	fails[float64](t, doc, "/huge", state.ErrType)
	fails[json.Number](t, doc, "/s", state.ErrType)
	_, err := state.At[[]int](doc, "/list")
	var mismatch *json.UnmarshalTypeError
	assert.ErrorAs(t, err, &mismatch, "the error of encoding/json")
	assert.EqualError(t, second(state.At[int](doc, "/f")), `pointer "/f": cannot convert the number 2.5 to int`)
	assert.EqualError(t, second(state.At[string](doc, "/o")), `pointer "/o": cannot convert object to string`)
}

func second[T any](_ T, err error) error { return err }

func at[T any](t *testing.T, doc state.Value, pointer string, want T) {
	t.Helper()
	got, err := state.At[T](doc, pointer)
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

func fails[T any](t *testing.T, doc state.Value, pointer string, want error) {
	t.Helper()
	_, err := state.At[T](doc, pointer)
	require.ErrorIs(t, err, want)
	var detail *state.PointerError
	require.ErrorAs(t, err, &detail)
	assert.Equal(t, pointer, detail.Pointer)
}
