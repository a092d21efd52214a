package agenttest_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/agenttest"
	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// told returns the types of the events of one run of agent, and the error that it ends with.
func told(t *testing.T, agent client.Agent) ([]string, error) {
	t.Helper()
	var types []string
	for ev, err := range agent.Run(t.Context(), event.RunInput{ThreadID: "t", RunID: "r"}) {
		if err != nil {
			return types, err
		}
		types = append(types, ev.Type().String())
	}
	return types, nil
}

func TestScriptTellsEachLine(t *testing.T) {
	for _, test := range []struct {
		name string
		line agenttest.Line
		want []string // between RUN_STARTED and RUN_FINISHED
	}{
		{"text, a delta a word", agenttest.Say("two words"),
			[]string{"TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"}},
		{"an empty text", agenttest.Say(""), []string{"TEXT_MESSAGE_START", "TEXT_MESSAGE_END"}},
		{"an empty text in chunks", agenttest.Chunked(agenttest.Say("")), []string{"TEXT_MESSAGE_CHUNK"}},
		{"text in chunks", agenttest.Chunked(agenttest.Say("two words")), []string{"TEXT_MESSAGE_CHUNK", "TEXT_MESSAGE_CHUNK"}},
		{"text in pieces", agenttest.Pieces(4, agenttest.Say("äöüßé")),
			[]string{"TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"}},
		{"reasoning", agenttest.Think("hm"), []string{"REASONING_START", "REASONING_MESSAGE_START",
			"REASONING_MESSAGE_CONTENT", "REASONING_MESSAGE_END", "REASONING_END"}},
		{"reasoning in chunks", agenttest.Chunked(agenttest.Think("hm")),
			[]string{"REASONING_START", "REASONING_MESSAGE_CHUNK", "REASONING_END"}},
		{"a call", agenttest.Call("f", map[string]int{"a": 1}), []string{"TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END"}},
		{"a call in chunks", agenttest.Chunked(agenttest.Call("f", "{}")), []string{"TOOL_CALL_CHUNK"}},
		{"a state", agenttest.SetState(1), []string{"STATE_SNAPSHOT"}},
		{"an activity", agenttest.Activity("PLAN", map[string]any{}), []string{"ACTIVITY_SNAPSHOT"}},
		{"a step", agenttest.Step("s", agenttest.SetState(1)), []string{"STEP_STARTED", "STATE_SNAPSHOT", "STEP_FINISHED"}},
		{"a subagent", agenttest.Subagent("a", agenttest.SetState(1)),
			[]string{"SUBAGENT_STARTED", "STATE_SNAPSHOT", "SUBAGENT_FINISHED"}},
		{"lines at the same time", agenttest.Together(agenttest.Say("a"), agenttest.Step("s")),
			[]string{"TEXT_MESSAGE_START", "STEP_STARTED", "TEXT_MESSAGE_CONTENT", "STEP_FINISHED", "TEXT_MESSAGE_END"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := told(t, agenttest.Script(test.line))
			require.NoError(t, err)
			want := append([]string{"RUN_STARTED"}, append(test.want, "RUN_FINISHED")...)
			assert.Equal(t, want, got)
		})
	}
}

func TestScriptEndsAsItsLastLineSays(t *testing.T) {
	cut := errors.New("cut")
	for _, test := range []struct {
		name string
		line agenttest.Line
		want []string
		err  string
	}{
		{"an interrupt", agenttest.Interrupt(event.Interrupt{Reason: "sure?"}), []string{"RUN_STARTED", "RUN_FINISHED"}, ""},
		{"a failure", agenttest.Fail("no"), []string{"RUN_STARTED", "RUN_ERROR"}, ""},
		{"a cancellation", agenttest.Cancel(), []string{"RUN_STARTED", "RUN_FINISHED"}, ""},
		{"a break with an error", agenttest.Break(cut), nil, "cut"},
		{"a break without one", agenttest.Break(nil), nil, ""},
		{"a run of its own events", agenttest.Events(&event.RunStarted{ThreadID: "t", RunID: "r"}), []string{"RUN_STARTED", "RUN_FINISHED"}, ""},
		{"a result without a call", agenttest.Result("1"), nil, "agenttest: Result: every call of the script has its result already"},
		{"a patch that is none", agenttest.Patch("{"), nil, "agenttest: Patch: "},
		{"a break in one of several lines", agenttest.Together(agenttest.Break(cut), agenttest.Say("never")), nil, "cut"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := told(t, agenttest.Script(test.line))
			if test.err == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, test.err)
			}
			assert.Equal(t, test.want, got)
		})
	}
}

// Whatever the form, the thread is the same.
func TestScriptMakesTheSameThreadInEachForm(t *testing.T) {
	lines := []agenttest.Line{
		agenttest.Think("Weather, so a tool."),
		agenttest.Call("weather", `{"city":"Oslo"}`),
		agenttest.Call("weather", `{"city":"Rome"}`),
		agenttest.Result(`{"celsius":4}`),
		agenttest.Result(`{"celsius":20}`),
		agenttest.Subagent("critic", agenttest.Say("Too short."), agenttest.Subagent("editor", agenttest.Say("Fine."))),
		agenttest.SetState(map[string]any{"city": "Oslo"}),
		agenttest.Patch(`[{"op":"replace","path":"/city","value":"Rome"}]`),
		agenttest.Activity("PLAN", map[string]any{"done": 1}),
		agenttest.Say("4 °C and 20 °C."),
	}
	for name, form := range map[string][]agenttest.Line{
		"as it is": lines, "chunked": {agenttest.Chunked(lines...)}, "in single characters": {agenttest.Pieces(1, lines...)},
	} {
		t.Run(name, func(t *testing.T) {
			c := agenttest.Run(t, agenttest.Script(form...), "Weather?")
			c.Thought("Weather, so a tool.").Said("Too short.", "Fine.", "4 °C and 20 °C.").
				Calls("weather", "weather").State("", map[string]any{"city": "Rome"}).
				Subagents("critic succeeded", "  editor succeeded").Ended(reducer.Succeeded)
			c.Call("weather").Arg("/city", "Rome").ResultAt("/celsius", 20.0).Status(messages.ToolCallAnswered)
		})
	}
}

func TestScriptBranchesOnItsInput(t *testing.T) {
	agent := agenttest.Script(agenttest.Branch(func(in event.RunInput) []agenttest.Line {
		if len(in.Resume) > 0 {
			return []agenttest.Line{agenttest.Say("Done.")}
		}
		return []agenttest.Line{agenttest.Interrupt(event.Interrupt{Reason: "sure?"})}
	}))
	agenttest.Run(t, agent, "Go").Ended(reducer.Interrupted).Answer(true).Said("Done.").Ended(reducer.Succeeded)
}

func TestScriptPausesOnFakeTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		agenttest.Run(t, agenttest.Script(agenttest.Pause(time.Hour), agenttest.Say("Late.")), "Hi").Said("Late.")
		assert.Equal(t, time.Hour, time.Since(begin))
	})
}

func TestScriptAwaitsWhatTheTestDoes(t *testing.T) {
	ready := make(chan struct{})
	close(ready)
	agenttest.Run(t, agenttest.Script(agenttest.Await(ready), agenttest.Say("Now.")), "Hi").Said("Now.")
}
