package conformance

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// Outcome is the outcome of a fixture.
type Outcome struct {
	Thread    *reducer.Thread
	Delivered []event.Event
	Warnings  []event.Warning
	// Err is the error that the stream was rejected or truncated with. A run that reported its own failure
	// is not an error.
	Err error
	// Request is the run input that was sent, absent if none was.
	Request state.Value
}

// warningWords translates the official client's words where the corpus asks for more than a path, a type
// or a version.
var warningWords = map[string]string{
	"cannot interpret":            "/protocolVersion",
	"Failed to apply state patch": "/delta/1: the patch does not apply",
	"DROPS non-text parts":        "the parts of message",
}

// deviations are the fixtures that assert what the specification calls wrong, with what we do instead.
var deviations = map[string]func(t *testing.T, got *Outcome){
	"unknown-enum-value-role-fatal": func(t *testing.T, got *Outcome) {
		require.NoError(t, got.Err)
		require.Len(t, got.Warnings, 1)
		assert.Equal(t, "/role", got.Warnings[0].Path)
		assert.Equal(t, "assistant", string(got.Thread.Messages.At(0).Role))
	},
	"truncated-run-reported-as-completed": func(t *testing.T, got *Outcome) {
		require.ErrorIs(t, got.Err, reducer.ErrTruncated)
		assert.Equal(t, reducer.Truncated, got.Thread.Status())
		assert.Equal(t, 1, got.Thread.Messages.Len())
	},
}

var ruleName = regexp.MustCompile(`\bP-[A-Z]+-\d+\b`)

// Check asserts all that the fixture expects.
func (f *Fixture) Check(t *testing.T, got *Outcome) {
	if check := deviations[f.Name]; check != nil {
		check(t, got)
		return
	}
	f.checkVerdict(t, got)
	f.checkEvents(t, got)
	f.checkWarnings(t, got)
	f.checkThread(t, got)
	f.checkRequest(t, got)
}

func (f *Fixture) checkVerdict(t *testing.T, got *Outcome) {
	if f.Expect.Outcome != "failed" {
		require.NoError(t, got.Err)
		return
	}
	require.Error(t, got.Err)
	assert.Regexp(t, ruleName, got.Err.Error())
	assert.Regexp(t, `[A-Z]+_[A-Z_]+`, got.Err.Error(), "the error names the event's type")
	_, violation := errors.AsType[*reducer.Violation](got.Err)
	_, malformed := errors.AsType[*messages.MalformedError](got.Err)
	assert.True(t, violation || malformed)
	assert.Equal(t, reducer.Rejected, got.Thread.Status())
}

func (f *Fixture) checkEvents(t *testing.T, got *Outcome) {
	var delivered []state.Value
	var types, failures []string
	for _, ev := range got.Delivered {
		v, err := state.Parse(event.Append(nil, ev))
		require.NoError(t, err)
		delivered = append(delivered, v)
		types = append(types, ev.Type().String())
		if e, ok := ev.(*event.RunError); ok {
			failures = append(failures, e.Message)
		}
	}
	want := f.Expect
	if part, ok := want.RunError.AsString(); ok {
		require.NotEmpty(t, failures)
		assert.Contains(t, failures[len(failures)-1], part)
	} else if failed, ok := want.RunError.AsBool(); ok {
		assert.Equal(t, failed, len(failures) > 0)
	}
	if want.EventTypes != nil {
		assert.Equal(t, want.EventTypes, types)
	}
	for _, absent := range want.EventTypesAbsent {
		assert.NotContains(t, types, absent)
	}
	for path, v := range want.EventPaths {
		there := eventAt(t, delivered, path)
		assert.True(t, subset(v, there), "%s: want %s, got %s", path, v, there)
	}
	for _, path := range want.EventAbsentPaths {
		assert.False(t, eventAt(t, delivered, path).Exists(), path)
	}
}

func (f *Fixture) checkWarnings(t *testing.T, got *Outcome) {
	var lines []string
	for _, w := range got.Warnings {
		lines = append(lines, w.String())
	}
	for _, w := range f.Expect.Warnings {
		if words, ok := warningWords[w]; ok {
			w = words
		}
		assert.Contains(t, strings.Join(lines, "\n"), w)
	}
	if f.Expect.NoWarnings {
		assert.Empty(t, lines)
	}
}

func (f *Fixture) checkThread(t *testing.T, got *Outcome) {
	if f.Expect.MessageCount != nil {
		assert.Equal(t, *f.Expect.MessageCount, got.Thread.Messages.Len())
	}
	v, err := state.Parse(got.Thread.AppendJSON(nil))
	require.NoError(t, err)
	checkSubset(t, f.Expect.Messages, v.Get("messages"))
	checkSubset(t, f.Expect.State, v.Get("state"))
}

func (f *Fixture) checkRequest(t *testing.T, got *Outcome) {
	checkSubset(t, f.Expect.Request, got.Request)
	for _, path := range f.Expect.RequestAbsentPaths {
		require.True(t, got.Request.Exists())
		assert.False(t, at(got.Request, strings.Split(path, ".")).Exists(), path)
	}
}

func checkSubset(t *testing.T, want, got state.Value) {
	if want.Exists() {
		assert.True(t, subset(want, got), "want %s\ngot %s", want, got)
	}
}

// eventAt returns the value at "<index>.<dotted path>" of the delivered events.
func eventAt(t *testing.T, delivered []state.Value, path string) state.Value {
	keys := strings.Split(path, ".")
	i, err := strconv.Atoi(keys[0])
	require.NoError(t, err)
	require.Less(t, i, len(delivered))
	return at(delivered[i], keys[1:])
}

func at(v state.Value, keys []string) state.Value {
	for _, key := range keys {
		if i, err := strconv.Atoi(key); err == nil && v.Kind() == state.KindArray {
			v = v.Index(i)
		} else {
			v = v.Get(key)
		}
	}
	return v
}

// subset reports whether got holds all that want names: arrays of equal length, objects on want's keys.
func subset(want, got state.Value) bool {
	switch want.Kind() {
	case state.KindObject:
		for key, v := range want.Members() {
			if !subset(v, got.Get(key)) {
				return false
			}
		}
		return got.Kind() == state.KindObject
	case state.KindArray:
		if got.Kind() != state.KindArray || got.Len() != want.Len() {
			return false
		}
		for i, v := range want.Elements() {
			if !subset(v, got.Index(i)) {
				return false
			}
		}
		return true
	}
	return want.Equal(got)
}
