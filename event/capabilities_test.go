package event

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

const everyCapability = `{"identity":{"name":"n","type":"t","description":"d","version":"1.2.0","provider":"p","documentationUrl":"u","metadata":{"k":[1,null]}},` +
	`"transport":{"streaming":true,"websocket":false,"httpBinary":false,"pushNotifications":false,"resumable":false},` +
	`"tools":{"supported":true,"items":[{"name":"f","description":"d","parameters":{"type":"object"},"metadata":{}}],"parallelCalls":true,"clientProvided":true},` +
	`"output":{"structuredOutput":true,"supportedMimeTypes":["text/plain"]},` +
	`"state":{"snapshots":true,"deltas":true,"memory":false,"persistentState":true},` +
	`"multiAgent":{"supported":true,"delegation":true,"handoffs":false,"subagents":[{"name":"s","description":"d"},{"name":"u"}]},` +
	`"reasoning":{"supported":true,"streaming":true,"encrypted":false},` +
	`"multimodal":{"input":{"image":true,"audio":false,"video":false,"pdf":true,"file":false},"output":{"image":false,"audio":false}},` +
	`"execution":{"codeExecution":false,"sandboxed":false,"maxIterations":10,"maxExecutionTime":60000},` +
	`"humanInTheLoop":{"supported":true,"approvals":true,"interventions":false,"feedback":false,"interrupts":true,"approveWithEdits":false},` +
	`"custom":{"mine":null,"deep":{"a":1}}}`

func parsed(t *testing.T, text string) state.Value {
	t.Helper()
	v, err := state.Parse([]byte(text))
	require.NoError(t, err)
	return v
}

func TestCapabilitiesSurviveARoundTrip(t *testing.T) {
	for _, text := range []string{everyCapability, `{}`, `{"identity":{},"tools":{"items":[]},"custom":{}}`, `{"multimodal":{"input":{}}}`} {
		c, warnings, err := DecodeCapabilities(parsed(t, text), &DecodeOptions{Strict: true})
		require.NoError(t, err)
		assert.Empty(t, warnings)
		assert.Equal(t, text, string(c.AppendJSON(nil)))
		assert.NoError(t, c.Check())
		var again Capabilities
		require.NoError(t, again.UnmarshalJSON([]byte(text)))
		assert.Equal(t, text, string(again.AppendJSON(nil)))
	}
	var none *Capabilities
	assert.Equal(t, "null", string(none.AppendJSON(nil)))
	assert.NoError(t, none.Check())
}

func TestCapabilitiesThatAreMalformedCannotBeUsed(t *testing.T) {
	for text, path := range map[string]string{
		`1`:                                     "",
		`{"tools":{"supported":"yes"}}`:         "/tools/supported",
		`{"tools":null}`:                        "/tools",
		`{"tools":{"items":[{"name":"f"}]}}`:    "/tools/items/0/description",
		`{"multiAgent":{"subagents":[{}]}}`:     "/multiAgent/subagents/0/name",
		`{"multimodal":{"input":{"pdf":1}}}`:    "/multimodal/input/pdf",
		`{"execution":{"maxIterations":1.5}}`:   "/execution/maxIterations",
		`{"execution":{"maxExecutionTime":-1}}`: "/execution/maxExecutionTime",
		`{"output":{"supportedMimeTypes":[1]}}`: "/output/supportedMimeTypes/0",
		`{"identity":{"metadata":[]}}`:          "/identity/metadata",
		`{"custom":1}`:                          "/custom",
	} {
		c, _, err := DecodeCapabilities(parsed(t, text), nil)
		var bad *messages.MalformedError
		require.ErrorAs(t, err, &bad, text)
		assert.Equal(t, path, bad.Path, text)
		assert.Equal(t, "AgentCapabilities", bad.Type)
		assert.Nil(t, c)
	}
}

func TestCapabilitiesOfANewerAgentAreUsed(t *testing.T) {
	c, warnings, err := DecodeCapabilities(parsed(t, `{"telepathy":{"supported":true},"tools":{"supported":true,"speed":9},"custom":{"speed":9},"identity":{"metadata":{"x":1}}}`), nil)
	require.NoError(t, err)
	assert.Equal(t, `{"identity":{"metadata":{"x":1}},"tools":{"supported":true},"custom":{"speed":9}}`, string(c.AppendJSON(nil)))
	var paths []string
	for _, w := range warnings {
		paths = append(paths, w.Path)
	}
	assert.ElementsMatch(t, []string{"/telepathy", "/tools/speed"}, paths)
}

func TestCapabilitiesMerge(t *testing.T) {
	for _, tc := range []struct{ name, base, over, want string }{
		{"field by field", `{"tools":{"supported":true,"parallelCalls":true}}`, `{"tools":{"parallelCalls":false},"state":{"deltas":true}}`,
			`{"tools":{"supported":true,"parallelCalls":false},"state":{"deltas":true}}`},
		{"lists whole", `{"multiAgent":{"subagents":[{"name":"a"},{"name":"b"}]}}`, `{"multiAgent":{"subagents":[{"name":"c"}]}}`, `{"multiAgent":{"subagents":[{"name":"c"}]}}`},
		{"groups in groups", `{"multimodal":{"input":{"pdf":true}}}`, `{"multimodal":{"input":{"audio":false},"output":{}}}`, `{"multimodal":{"input":{"audio":false,"pdf":true},"output":{}}}`},
		{"open objects by key", `{"identity":{"metadata":{"a":{"x":1},"b":1}},"custom":{"a":{"x":1}}}`, `{"identity":{"metadata":{"a":{"y":1}}},"custom":{"a":{"y":1},"metadata":{"z":1}}}`,
			`{"identity":{"metadata":{"a":{"y":1},"b":1}},"custom":{"a":{"y":1},"metadata":{"z":1}}}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			base, _, _ := DecodeCapabilities(parsed(t, tc.base), nil)
			over, _, _ := DecodeCapabilities(parsed(t, tc.over), nil)
			got, err := base.Merge(over)
			require.NoError(t, err)
			assert.Equal(t, tc.want, string(got.AppendJSON(nil)))
			assert.Equal(t, tc.base, string(base.AppendJSON(nil)), "the base stays")
		})
	}
	var none *Capabilities
	got, err := none.Merge(nil)
	require.NoError(t, err)
	assert.Equal(t, "{}", string(got.AppendJSON(nil)))
	bad := &Capabilities{Execution: &ExecutionCapabilities{MaxIterations: messages.Some(int64(-1))}}
	_, err = none.Merge(bad)
	assert.ErrorAs(t, err, new(*messages.MalformedError))
	_, err = bad.Merge(nil)
	assert.ErrorAs(t, err, new(*messages.MalformedError))
}

func TestContradictions(t *testing.T) {
	no := messages.Some(false)
	c := &Capabilities{
		Tools: &ToolsCapabilities{Supported: no, ParallelCalls: no}, State: &StateCapabilities{Snapshots: no, Deltas: no},
		MultiAgent: &MultiAgentCapabilities{Supported: no, Delegation: no}, Reasoning: &ReasoningCapabilities{Supported: no, Streaming: no, Encrypted: no},
		HumanInTheLoop: &HumanInTheLoopCapabilities{Supported: no, Interrupts: no},
	}
	yes := &Capabilities{Tools: &ToolsCapabilities{Supported: messages.Some(true)}}
	x, silent, undeclared := c.Contradictions(), yes.Contradictions(), (*Capabilities)(nil).Contradictions()
	for _, row := range []struct {
		ev    Event
		paths []string
	}{
		{&RunStarted{}, nil},
		{&ToolCallStart{ToolCallID: "a"}, []string{"/tools/supported"}},
		{&ToolCallEnd{ToolCallID: "a"}, nil},
		{&ToolCallStart{ToolCallID: "b"}, nil},
		{&ToolCallStart{ToolCallID: "c"}, []string{"/tools/parallelCalls"}},
		{&StateSnapshot{}, []string{"/state/snapshots"}},
		{&StateDelta{}, []string{"/state/deltas"}},
		{&SubagentStarted{}, []string{"/multiAgent/supported", "/multiAgent/delegation"}},
		{&ReasoningStart{}, []string{"/reasoning/supported"}},
		{&ReasoningMessageContent{MessageID: "r"}, nil},
		{&ReasoningMessageEnd{MessageID: "r"}, nil},
		{&ReasoningMessageContent{MessageID: "r"}, nil},
		{&ReasoningMessageContent{MessageID: "r"}, []string{"/reasoning/streaming"}},
		{&ReasoningEncryptedValue{}, []string{"/reasoning/encrypted"}},
		{&RunFinished{Outcome: Outcome{Type: OutcomeSuccess}}, nil},
		{&RunFinished{Outcome: Outcome{Type: OutcomeInterrupt}}, []string{"/humanInTheLoop/supported", "/humanInTheLoop/interrupts"}},
		{&RunStarted{}, nil},
		{&StateDelta{}, []string{"/state/deltas"}}, // each run anew
	} {
		var paths []string
		for _, w := range x.Of(row.ev) {
			assert.Equal(t, "P-CAP-2", w.Rule)
			assert.Equal(t, row.ev.Type().String(), w.Type)
			paths = append(paths, w.Path)
		}
		assert.Equal(t, row.paths, paths, "%T", row.ev)
		assert.Empty(t, silent.Of(row.ev))
		assert.Empty(t, undeclared.Of(row.ev))
	}
}

func FuzzCapabilities(f *testing.F) {
	f.Add(everyCapability)
	f.Add(`{"tools":{"supported":"yes"}}`)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := state.Parse([]byte(text))
		if err != nil {
			return
		}
		c, _, err := DecodeCapabilities(v, nil)
		if err != nil {
			return
		}
		require.NoError(t, c.Check())
		again, warnings, err := DecodeCapabilities(parsed(t, string(c.AppendJSON(nil))), &DecodeOptions{Strict: true})
		require.NoError(t, err)
		require.Empty(t, warnings)
		require.Equal(t, string(c.AppendJSON(nil)), string(again.AppendJSON(nil)))
		merged, err := c.Merge(c)
		require.NoError(t, err)
		require.True(t, merged.value().Equal(c.value()), "merging with itself changes nothing")
	})
}
