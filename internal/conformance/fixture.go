package conformance

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/state"
)

// Fixture is one stream of the corpus and what is expected of who consumes it.
type Fixture struct {
	Name   string            // of its file
	Stream []json.RawMessage `json:"stream"`
	Client *struct {
		MaxProtocolVersion string `json:"maxProtocolVersion"`
	} `json:"client"` // nil if any client will do
	Input struct {
		Messages state.Value `json:"messages"`
		Tools    state.Value `json:"tools"`
	} `json:"input"`
	Expect    Expectation `json:"expect"`
	Overrides struct {
		TypeScript json.RawMessage `json:"typescript"`
	} `json:"expectOverrides"` // of Expect, key by key
}

// Expectation is what a fixture asserts.
type Expectation struct {
	Outcome            string                 `json:"outcome"`
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

// NeedsClient reports whether the fixture is about the exchange with the agent and not only about its stream.
func (f *Fixture) NeedsClient() bool {
	return f.Client != nil || f.Expect.Request.Exists() || f.Expect.RequestAbsentPaths != nil
}

// Load returns all fixtures, or skips the test if there is no corpus.
func Load(t *testing.T) []*Fixture {
	t.Helper()
	dir := os.Getenv("AGFOLD_CONFORMANCE")
	if dir == "" {
		t.Skip("AGFOLD_CONFORMANCE does not name the corpus")
	}
	files, err := filepath.Glob(filepath.Join(dir, "streams", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	fixtures := make([]*Fixture, len(files))
	for i, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		f := &Fixture{}
		require.NoError(t, json.Unmarshal(data, f), file)
		if f.Overrides.TypeScript != nil {
			require.NoError(t, json.Unmarshal(f.Overrides.TypeScript, &f.Expect), file)
		}
		f.Name = strings.TrimSuffix(filepath.Base(file), ".json")
		fixtures[i] = f
	}
	return fixtures
}
