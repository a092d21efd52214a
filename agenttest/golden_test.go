package agenttest_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/agenttest"
	"github.com/agfold/agfold/lint"
)

func story(answer string) []agenttest.Line {
	return []agenttest.Line{
		agenttest.Call("weather", `{"city":"Oslo"}`), agenttest.Result(`{"celsius":4}`),
		agenttest.SetState(map[string]any{"city": "Oslo"}), agenttest.Say(answer),
	}
}

// A golden thread stays the same with other ids and in other pieces, and shows by path what is new.
func TestGolden(t *testing.T) {
	t.Chdir(t.TempDir())
	update := flag.Lookup("update")
	require.NotNil(t, update)
	require.NoError(t, update.Value.Set("false"))
	run := func(lines ...agenttest.Line) *agenttest.Conversation {
		return agenttest.Run(t, agenttest.Script(lines...), "How warm?")
	}
	missing := failure(t, func(r *recorder) { agenttest.Golden(r, "weather/oslo", run(story("4 °C.")...).Thread()) })
	assert.Contains(t, missing, "there is no "+filepath.FromSlash("testdata/weather/oslo.thread.json"))

	require.NoError(t, update.Value.Set("true"))
	run(story("4 °C.")...).Golden("weather/oslo")
	file := filepath.Join("testdata", "weather", "oslo.thread.json")
	written, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Contains(t, string(written), "\n  \"threadId\"", "for people, and line by line")
	run(agenttest.Chunked(agenttest.Pieces(1, story("4 °C.")...))).Golden("weather/oslo")
	again, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(written), string(again), "what is the same is not written again")

	require.NoError(t, update.Value.Set("false"))
	run(agenttest.Chunked(agenttest.Pieces(1, story("4 °C.")...))).Golden("weather/oslo")
	other := failure(t, func(r *recorder) { agenttest.Golden(r, "weather/oslo", run(story("5 °C.")...).Thread()) })
	assert.Contains(t, other, "now: \"5 °C.\"")
	assert.Contains(t, other, "file: \"4 °C.\"")

	require.NoError(t, os.WriteFile(file, []byte("{"), 0o644))
	broken := failure(t, func(r *recorder) { agenttest.Golden(r, "weather/oslo", run(story("4 °C.")...).Thread()) })
	assert.Contains(t, broken, "is not a thread")
}

func TestSameThread(t *testing.T) {
	run := func(lines ...agenttest.Line) *agenttest.Conversation {
		return agenttest.Run(t, agenttest.Script(lines...), "How warm?")
	}
	want := run(story("4 °C.")...).Thread()
	agenttest.SameThread(t, want, run(agenttest.Chunked(story("4 °C.")...)).Thread())
	assert.Contains(t, failure(t, func(r *recorder) { agenttest.SameThread(r, want, run(story("5 °C.")...).Thread()) }), "5 °C.")
}

func TestClean(t *testing.T) {
	agenttest.Run(t, agenttest.Script(story("4 °C.")...), "How warm?", "Really?").Clean(nil)
	agent := agenttest.Script(agenttest.Patch(`[{"op":"remove","path":"/a"}]`), agenttest.Say("Hello."))
	c := func(r *recorder) *agenttest.Conversation {
		return agenttest.Start(r, agent, ignoring()).Say("Hi")
	}
	said := failure(t, func(r *recorder) { c(r).Clean(nil) })
	assert.Contains(t, said, "the linter found:")
	assert.Contains(t, said, "patch")
	var codes []string
	for _, check := range lint.Checks() {
		codes = append(codes, check.Code)
	}
	c(new(recorder)).Clean(&lint.Options{Off: codes})
}
