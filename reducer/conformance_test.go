package reducer_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fixture is one stream of the protocol's corpus; its README tells what the keys assert.
type fixture struct {
	Stream []json.RawMessage `json:"stream"`
	Client json.RawMessage   `json:"client"`
	Input  state.Value       `json:"input"`
	Expect expectation       `json:"expect"`
}

type expectation struct {
	Outcome            string                 `json:"outcome"`
	ErrorContains      string                 `json:"errorContains"`
	RunError           state.Value            `json:"runError"`
	EventTypes         []string               `json:"eventTypes"`
	EventTypesAbsent   []string               `json:"eventTypesAbsent"`
	EventPaths         map[string]state.Value `json:"eventPaths"`
	EventAbsentPaths   []string               `json:"eventAbsentPaths"`
	Warnings           []string               `json:"warnings"`
	NoWarnings         bool                   `json:"noWarnings"`
	MessageCount       *int                   `json:"messageCount"`
	Messages           state.Value            `json:"messages"`
	State              state.Value            `json:"state"`
	Request            state.Value            `json:"request"`
	RequestAbsentPaths []string               `json:"requestAbsentPaths"`
}

// warningWords translates the official client's words where the corpus asks for more than a path, a type
// or a version.
var warningWords = map[string]string{
	"cannot interpret":            "/protocolVersion",
	"Failed to apply state patch": "/delta/1: the patch does not apply",
}

// deviations are the fixtures that assert what the specification calls wrong, with what we do instead.
var deviations = map[string]func(t *testing.T, th *reducer.Thread, warnings []event.Warning, err error){
	"unknown-enum-value-role-fatal": func(t *testing.T, th *reducer.Thread, warnings []event.Warning, err error) {
		require.NoError(t, err)
		require.Len(t, warnings, 1)
		assert.Equal(t, "/role", warnings[0].Path)
		assert.Equal(t, "assistant", string(th.Messages.At(0).Role))
	},
	"truncated-run-reported-as-completed": func(t *testing.T, th *reducer.Thread, warnings []event.Warning, err error) {
		require.ErrorIs(t, err, reducer.ErrTruncated)
		assert.Equal(t, reducer.Truncated, th.Status())
		assert.Equal(t, 1, th.Messages.Len())
	},
}

var rule = regexp.MustCompile(`\bP-[A-Z]+-\d+\b`)

func TestConformanceStreams(t *testing.T) {
	dir := os.Getenv("AGFOLD_CONFORMANCE")
	if dir == "" {
		t.Skip("AGFOLD_CONFORMANCE does not name the corpus")
	}
	files, err := filepath.Glob(filepath.Join(dir, "streams", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		var f fixture
		require.NoError(t, json.Unmarshal(data, &f))
		if f.Client != nil || f.Expect.Request.Exists() || f.Expect.RequestAbsentPaths != nil {
			continue // needs a client; package client runs these over HTTP
		}
		t.Run(name, func(t *testing.T) { checkFixture(t, name, f) })
	}
}

func checkFixture(t *testing.T, name string, f fixture) {
	var events []event.Event
	for _, data := range f.Stream {
		frame, err := event.NewFrame(data)
		require.NoError(t, err)
		events = append(events, frame)
	}
	var warnings []event.Warning
	r := reducer.New(&reducer.Options{OnWarning: func(w event.Warning) { warnings = append(warnings, w) }})
	var delivered []state.Value
	var failures []string
	var err error
	for ev := range event.Upgrade(reducer.Events(events...)) {
		var steps []reducer.Step
		steps, err = r.Apply(ev)
		for _, s := range steps {
			if s.Event == nil {
				continue
			}
			v, perr := state.Parse(s.Event.AppendJSON(nil))
			require.NoError(t, perr)
			delivered = append(delivered, v)
			if e, ok := s.Event.(*event.RunError); ok {
				failures = append(failures, e.Message)
			}
		}
		if err != nil {
			break
		}
	}
	th := r.End(nil)
	if err == nil {
		err = r.Err()
	}
	if check := deviations[name]; check != nil {
		check(t, th, warnings, err)
		return
	}
	want := f.Expect
	if want.Outcome == "failed" {
		require.Error(t, err)
		assert.Regexp(t, rule, err.Error())
		assert.Regexp(t, `[A-Z]+_[A-Z_]+`, err.Error(), "the error names the event's type")
		assert.True(t, errors.Is(err, reducer.ErrProtocol) || errors.Is(err, event.ErrMalformed))
		assert.Equal(t, reducer.Rejected, th.Status())
	} else {
		require.NoError(t, err)
	}
	if s, ok := want.RunError.AsString(); ok {
		require.NotEmpty(t, failures)
		assert.Contains(t, failures[len(failures)-1], s)
	}
	if want.EventTypes != nil {
		var got []string
		for _, v := range delivered {
			s, _ := v.Get("type").AsString()
			got = append(got, s)
		}
		assert.Equal(t, want.EventTypes, got)
	}
	for _, absent := range want.EventTypesAbsent {
		for _, v := range delivered {
			assert.NotEqual(t, state.String(absent).String(), v.Get("type").String())
		}
	}
	for path, v := range want.EventPaths {
		got := at(t, delivered, path)
		assert.True(t, subset(v, got), "%s: want %s, got %s", path, v, got)
	}
	for _, path := range want.EventAbsentPaths {
		assert.False(t, at(t, delivered, path).Exists(), path)
	}
	for _, w := range want.Warnings {
		if words, ok := warningWords[w]; ok {
			w = words
		}
		var lines []string
		for _, got := range warnings {
			lines = append(lines, got.String())
		}
		assert.Contains(t, strings.Join(lines, "\n"), w)
	}
	if want.NoWarnings {
		assert.Empty(t, warnings)
	}
	if want.MessageCount != nil {
		assert.Equal(t, *want.MessageCount, th.Messages.Len())
	}
	got, perr := state.Parse(th.AppendJSON(nil))
	require.NoError(t, perr)
	if want.Messages.Exists() {
		assert.True(t, subset(want.Messages, got.Get("messages")), "want %s\ngot %s", want.Messages, got.Get("messages"))
	}
	if want.State.Exists() {
		assert.True(t, subset(want.State, got.Get("state")), "want %s\ngot %s", want.State, got.Get("state"))
	}
}

// at returns the value at "<index>.<dotted path>" of the delivered events.
func at(t *testing.T, delivered []state.Value, path string) state.Value {
	keys := strings.Split(path, ".")
	i, err := strconv.Atoi(keys[0])
	require.NoError(t, err)
	require.Less(t, i, len(delivered))
	v := delivered[i]
	for _, key := range keys[1:] {
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
	return state.Equal(want, got)
}
