package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/serve"
	"github.com/agfold/agfold/state"
)

// official is what the official client ended a run with.
type official struct {
	Types    []string
	Failed   *string
	RunError *struct{ Message, Code string }
	Messages []struct {
		ID, Role  string
		Content   any
		ToolCalls []struct {
			ID       string
			Function struct{ Name, Arguments string }
		}
	}
	State json.RawMessage
}

// talkOfficially has the official client in the folder dir say these texts to an agent.
func talkOfficially(t *testing.T, dir string, agent client.Agent, texts ...string) []official {
	server := httptest.NewServer(serve.Agent(agent, &serve.AgentOptions{Logger: quiet}))
	defer server.Close()
	script, err := os.ReadFile("testdata/official.mjs")
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), "node", append([]string{"--input-type=module", "-e", string(script), server.URL}, texts...)...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	var all []official
	for list := json.NewDecoder(bytes.NewReader(out)); ; {
		var one official
		if err := list.Decode(&one); err == io.EOF {
			break
		} else {
			require.NoError(t, err)
		}
		all = append(all, one)
	}
	require.Len(t, all, len(texts))
	return all
}

// The test client is the official one, of today and of before 1.0.
func TestOracleTalksToAnAgent(t *testing.T) {
	for name, variable := range map[string]string{"1.0": "AGFOLD_ORACLE", "0.0.59": "AGFOLD_ORACLE_OLD"} {
		t.Run(name, func(t *testing.T) {
			dir := os.Getenv(variable)
			if dir == "" {
				t.Skip(variable + " does not name a folder with the official client in its node_modules")
			}
			talk(t, dir)
		})
	}
}

func talk(t *testing.T, dir string) {
	var inputs []event.RunInput
	agent := client.Emit(func(_ context.Context, in event.RunInput, emit func(...event.Event) error) error {
		inputs = append(inputs, in)
		id := in.RunID + "-answer"
		if err := emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID, ProtocolVersion: messages.Some(event.ProtocolVersion)}); err != nil {
			return err
		}
		switch in.Messages[len(in.Messages)-1].Text() {
		case "break":
			return emit(&event.TextMessageStart{MessageID: id}, &event.TextMessageStart{MessageID: id})
		case "die":
			panic("oh no")
		}
		return emit(
			&event.TextMessageStart{MessageID: id}, &event.TextMessageContent{MessageID: id, Delta: "Hello, "}, &event.TextMessageContent{MessageID: id, Delta: "wörld"},
			&event.TextMessageEnd{MessageID: id},
			frame(t, "{\"type\":\"STATE_SNAPSHOT\",\n\"snapshot\":{\"a\":[1]}}"),
			&event.StateDelta{Delta: state.Patch{{Kind: state.OpAdd, Path: "/a/-", Value: state.Int(2)}}},
			&event.ToolCallStart{ToolCallID: id + "-call", ToolCallName: "local_time", ParentMessageID: messages.Some(id)},
			&event.ToolCallArgs{ToolCallID: id + "-call", Delta: `{"zone":"Local"}`}, &event.ToolCallEnd{ToolCallID: id + "-call"},
			&event.ToolCallStart{ToolCallID: id + "-own", ToolCallName: "own", ParentMessageID: messages.Some(id)}, &event.ToolCallEnd{ToolCallID: id + "-own"},
			&event.ToolCallResult{MessageID: id + "-result", ToolCallID: id + "-own", Content: messages.Text("done")},
			frame(t, `{"type":"SUBAGENT_STARTED","subagentRunId":"s-`+in.RunID+`","name":"n"}`), frame(t, `{"type":"SUBAGENT_FINISHED","subagentRunId":"s-`+in.RunID+`"}`),
			&event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID, Outcome: event.Outcome{
				Type: event.OutcomeSuccess, PendingToolCallIDs: []string{id + "-call"},
			}},
		)
	})
	got := talkOfficially(t, dir, agent, "Hi", "break", "die")
	hello := got[0]
	require.Nil(t, hello.Failed, "%v", hello.Failed)
	assert.Nil(t, hello.RunError)
	assert.Equal(t, "RUN_FINISHED", hello.Types[len(hello.Types)-1])
	require.Len(t, hello.Messages, 3)
	assert.Equal(t, "Hello, wörld", hello.Messages[1].Content)
	require.Len(t, hello.Messages[1].ToolCalls, 2)
	assert.JSONEq(t, `{"zone":"Local"}`, hello.Messages[1].ToolCalls[0].Function.Arguments)
	assert.Equal(t, "done", hello.Messages[2].Content)
	assert.JSONEq(t, `{"a":[1,2]}`, string(hello.State))
	for i, want := range []struct{ message, code string }{1: {"is already open", "invalid_event"}, 2: {"the agent failed", "agent_failed"}} {
		if i == 0 {
			continue
		}
		require.NotNil(t, got[i].RunError, "the mistake is told in a stream that is in order: %+v", got[i])
		assert.Contains(t, got[i].RunError.Message, want.message)
		assert.Equal(t, want.code, got[i].RunError.Code)
		assert.Equal(t, "RUN_ERROR", got[i].Types[len(got[i].Types)-1])
	}
	require.Len(t, inputs, 3)
	assert.Equal(t, "t", inputs[0].ThreadID)
	assert.Equal(t, "local_time", inputs[0].Tools[0].Name)
	assert.Equal(t, "Hello, wörld", inputs[1].Messages[1].Text())
}
