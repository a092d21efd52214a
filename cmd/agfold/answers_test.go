package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/cmd/agfold/internal/demo"
)

// asking is a stage with a person at the terminal.
func asking() stage {
	st := counted()
	st.asks = true
	return st
}

const (
	askWeather = `{"type":"TOOL_CALL_START","toolCallId":"c1","toolCallName":"weather"}`
	ofOslo     = `{"type":"TOOL_CALL_ARGS","toolCallId":"c1","delta":"{\"city\":\"Oslo\"}"}`
	endWeather = `{"type":"TOOL_CALL_END","toolCallId":"c1"}`
)

// TestRunAnswersCalls is about calls of tools that agfold cannot call: the user answers them (P-RUN-2).
func TestRunAnswersCalls(t *testing.T) {
	calling := sseOf(began, askWeather, ofOslo, endWeather, finished)
	quiet := sseOf(began, finished)
	tools := write(t, "tools.json", `[{"name":"weather","description":"tells it"}]`)
	t.Run("without an answer the call is reported and further messages are not sent", func(t *testing.T) {
		url, inputs, _ := serving(t, calling, quiet)
		got := talk(t, counted(), "", "--url", url, "--message", "hello", "--message", "more", "--tools", tools)
		assert.Equal(t, exitOK, got.status)
		assert.Contains(t, got.stderr, "the call c1 of the tool weather waits for an answer")
		assert.Contains(t, got.stderr, "1 message was not sent, because the agent waits for an answer first")
		assert.NotContains(t, got.stderr, "--answer", "nothing knows the id any more")
		assert.Contains(t, got.stderr, "agfold: To answer, run it again with --record FILE, or with --yes / --no\n")
		assert.Contains(t, got.stdout, `weather · c1 {"city": "Oslo"}`)
		assert.Len(t, *inputs, 1)
	})
	for _, row := range []struct {
		name, stdin, content, failure string
		args                          []string
	}{
		{"asked", "4 degrees\n", "4 degrees", "", nil},
		{"asked, an empty line declines", "\n", "the user declined to answer", "the user declined to answer", nil},
		{"--answer with a text", "", "4 degrees", "", []string{"--answer", `c1="4 degrees"`}},
		{"--answer with JSON", "", `{"degrees":4}`, "", []string{"--answer", `c1={"degrees":4}`}},
		{"--answer that declines", "", "the user declined to answer", "the user declined to answer", []string{"--answer", "c1=decline"}},
		{"--no declines", "", "the user declined to answer", "the user declined to answer", []string{"--no"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			url, inputs, _ := serving(t, calling, quiet)
			got := talk(t, asking(), row.stdin, append([]string{"--url", url, "--message", "hello", "--message", "more", "--tools", tools}, row.args...)...)
			assert.Equal(t, exitOK, got.status, got.stderr)
			require.Len(t, *inputs, 3, "the answer goes out on its own, then the next message")
			msgs := (*inputs)[1].Get("messages")
			last := msgs.Index(msgs.Len() - 1)
			assert.Equal(t, "c1", at[string](t, last, "/toolCallId"))
			assert.Equal(t, row.content, at[string](t, last, "/content"))
			if row.failure != "" {
				assert.Equal(t, row.failure, at[string](t, last, "/error"))
			}
			if row.args == nil {
				assert.Contains(t, got.stderr, `weather · c1 {"city": "Oslo"}`, "it is asked with its arguments")
			}
		})
	}
	t.Run("the command line that continues a recording says everything but the headers' values", func(t *testing.T) {
		url, _, _ := serving(t, calling)
		file := filepath.Join(t.TempDir(), "talk.ndjson")
		got := talk(t, counted(), "", "--url", url, "--message", "hello", "--tools", tools, "--record", file, "--strict",
			"--clock", "--peer", "0.0.57", "--header", "Authorization: Bearer secret")
		assert.Contains(t, got.stderr, "agfold: To answer, continue:\n    agfold run --url "+url+" --header 'Authorization: …' --clock --peer 0.0.57 --strict --tools "+
			tools+" --continue "+file+" --record "+file+` --answer 'c1="..."'`+"\n")
		assert.NotContains(t, got.stderr, "secret")

		got = talk(t, counted(), "", "--url", url, "--tools", tools, "--continue", file)
		assert.Contains(t, got.stderr, "agfold run --url "+url+" --tools "+tools+" --continue "+file+` --answer 'c1="..."'`+"\n", "nothing was sent: the file knows the id")
	})
	t.Run("a continued thread needs the answer before another message", func(t *testing.T) {
		url, inputs, _ := serving(t, quiet)
		file := write(t, "talk.ndjson", ndjson(began, askWeather, ofOslo, endWeather, finished))
		got := talk(t, counted(), "", "--url", url, "--continue", file, "--message", "more", "--tools", tools)
		assert.Equal(t, exitOK, got.status)
		assert.Empty(t, *inputs)
		assert.Contains(t, got.stderr, "1 message was not sent, because the agent waits for an answer first")
		assert.Contains(t, got.stderr, "the call c1 of the tool weather waits")

		got = talk(t, counted(), "", "--url", url, "--continue", file, "--tools", tools, "--answer", `c1="4 degrees"`)
		assert.Equal(t, exitOK, got.status, got.stderr)
		assert.Len(t, *inputs, 1)
	})
	t.Run("a call that the agent says is pending needs one, whatever is offered", func(t *testing.T) {
		url, inputs, _ := serving(t, sseOf(began, askWeather, endWeather,
			`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"success","pendingToolCallIds":["c1"]}}`))
		got := talk(t, counted(), "", "--url", url, "--message", "hello", "--message", "more")
		assert.Len(t, *inputs, 1)
		assert.Contains(t, got.stderr, "the call c1 of the tool weather waits")
	})
	t.Run("a call of the agent's own tool without a result does not", func(t *testing.T) {
		url, inputs, _ := serving(t, calling, quiet)
		got := talk(t, counted(), "", "--url", url, "--message", "hello", "--message", "more")
		assert.Equal(t, exitOK, got.status)
		require.Len(t, *inputs, 2)
		assert.Equal(t, "warning: P-HIS-2 c1: the call \"c1\" of \"weather\" got a result for the agent: there is no tool \"weather\"\n", got.stderr)
	})
	t.Run("calls and interrupts are answered in one run", func(t *testing.T) {
		url, inputs, _ := serving(t, sseOf(began, askWeather, ofOslo, endWeather,
			`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"sure?"}]}}`), quiet)
		got := talk(t, asking(), "y\n4 degrees\n", "--url", url, "--message", "hello", "--tools", tools)
		assert.Equal(t, exitOK, got.status, got.stderr)
		require.Len(t, *inputs, 2)
		assert.Equal(t, "i", at[string](t, (*inputs)[1], "/resume/0/interruptId"))
		msgs := (*inputs)[1].Get("messages")
		assert.Equal(t, "4 degrees", at[string](t, msgs.Index(msgs.Len()-1), "/content"))
	})
	t.Run("an interrupt about a call is the only question about it", func(t *testing.T) {
		url, inputs, _ := serving(t, sseOf(began, askWeather, ofOslo, endWeather,
			`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"sure?","toolCallId":"c1"}]}}`), quiet)
		got := talk(t, asking(), "y\n", "--url", url, "--message", "hello", "--tools", tools)
		assert.Equal(t, exitOK, got.status, got.stderr)
		assert.Contains(t, got.stderr, `"Oslo"`, "the question shows the call's arguments")
		assert.Len(t, *inputs, 2)
	})
}

func TestAQuestionIsNeverAskedWithoutItsText(t *testing.T) {
	for name, interrupt := range map[string]string{
		"a message":           `{"id":"i","reason":"r","message":"Delete it all?"}`,
		"metadata":            `{"id":"i","reason":"r","metadata":{"question":"Delete it all?"}}`,
		"the call's argument": `{"id":"i","reason":"r","toolCallId":"c1"}`,
	} {
		t.Run(name, func(t *testing.T) {
			url, _, _ := serving(t, sseOf(began, `{"type":"TOOL_CALL_START","toolCallId":"c1","toolCallName":"ask"}`,
				`{"type":"TOOL_CALL_ARGS","toolCallId":"c1","delta":"{\"text\":\"Delete it all?\"}"}`, `{"type":"TOOL_CALL_END","toolCallId":"c1"}`,
				`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[`+interrupt+`]}}`))
			got := talk(t, asking(), "", "--url", url, "--message", "hello")
			assert.Contains(t, got.stderr, "Delete it all?")
		})
	}
	t.Run("a CUSTOM event", func(t *testing.T) {
		url, _, _ := serving(t, sseOf(began, `{"type":"CUSTOM","name":"on_interrupt","value":"Delete it all?"}`, finished))
		assert.Contains(t, talk(t, counted(), "", "--url", url, "--message", "hello").stdout, "Delete it all?")
	})
}

// TestAConversationFromEndToEnd talks to agfold serve-demo over HTTP: the user answers a tool call and an interrupt, goes
// away, continues from the recording, and sees the same thread replayed.
func TestAConversationFromEndToEnd(t *testing.T) {
	url, stop := serveDemoOn(t)
	defer stop()
	file := filepath.Join(t.TempDir(), "talk.ndjson")
	tools := write(t, "tools.json", `[{"name":"`+demo.ClockTool+`","description":"tells the time","parameters":{"type":"object"}}]`)
	person := asking()

	got := talk(t, person, "{\"time\":\"14:05\"}\nmaybe\ny\n", "--url", url, "--tools", tools, "--record", file, "--message", demo.DefaultMessage)
	require.Equal(t, exitOK, got.status, got.stderr)
	assert.Contains(t, got.stderr, demo.ClockTool)
	assert.Contains(t, got.stderr, "the tool's result (empty declines): ")
	assert.Contains(t, got.stderr, "Book Casa do Bairro for two nights, 214 EUR?")
	assert.Contains(t, got.stderr, "answer y or n")
	assert.Contains(t, got.stdout, "It is 14:05 where you are")
	assert.Contains(t, got.stdout, "confirmation LX-2140")

	got = talk(t, person, "", "--url", url, "--tools", tools, "--continue", file, "--record", file, "--message", "And Porto?", "--json")
	require.Equal(t, exitOK, got.status, got.stderr)
	live := threadOf(t, got)
	assert.Equal(t, 4, live.Get("runs").Len())
	assert.True(t, at[bool](t, live, "/state/trip/booked"))

	replayed := threadOf(t, agfold(t, "", "replay", "--json", file))
	for _, key := range []string{"threadId", "status", "messages", "state", "runs", "subagents", "interrupts", "pendingToolCallIds"} {
		assert.True(t, live.Get(key).Equal(replayed.Get(key)), "%s:\n%s\n%s", key, live.Get(key), replayed.Get(key))
	}
}

func TestAFailedRecordingIsAnError(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip("there is no full device here")
	}
	url, _, _ := serving(t, sseOf(began, finished))
	got := talk(t, counted(), "", "--url", url, "--message", "hello", "--record", full)
	assert.Equal(t, exitUnreadable, got.status)
	assert.Contains(t, got.stderr, "--record "+full+": the recording is incomplete")
	assert.Contains(t, got.stderr, "no space left on device")
}
