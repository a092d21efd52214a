package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/cmd/agfold/internal/demo"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// counted returns a stage whose ids are counted: id1, id2 …
func counted() stage {
	n := 0
	return stage{newID: func() string { n++; return fmt.Sprintf("id%d", n) }}
}

// talk runs agfold run without pauses, at five past two in UTC.
func talk(t *testing.T, st stage, stdin string, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	on := newTerminal(strings.NewReader(stdin), &stdout, &stderr)
	on.now = func() time.Time { return time.Date(2026, 5, 4, 14, 5, 0, 0, time.UTC) }
	if !slices.Contains(args, "--url") {
		args = append([]string{"--pace", "0"}, args...)
	}
	status := runOn(t.Context(), args, on, st)
	return result{status, stdout.String(), stderr.String()}
}

// runOn runs agfold run on a stage.
func runOn(ctx context.Context, args []string, on *terminal, st stage) int {
	on.stage = st
	return run(ctx, append([]string{"run"}, args...), on)
}

// serving starts an agent that answers each run with the next of these bodies, and keeps the inputs.
func serving(t *testing.T, bodies ...string) (url string, inputs *[]state.Value, headers *[]http.Header) {
	inputs, headers = new([]state.Value), new([]http.Header)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		assert.NoError(t, err)
		in, err := state.Parse(body)
		assert.NoError(t, err)
		*inputs, *headers = append(*inputs, in), append(*headers, req.Header)
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, bodies[min(len(*inputs), len(bodies))-1])
	}))
	t.Cleanup(server.Close)
	return server.URL, inputs, headers
}

// sseOf writes events as an agent sends them.
func sseOf(events ...string) string {
	var b strings.Builder
	for _, ev := range events {
		b.WriteString("data: " + ev + "\n\n")
	}
	return b.String()
}

func threadOf(t *testing.T, got result) state.Value {
	t.Helper()
	require.Equal(t, 1, strings.Count(got.stdout, "\n"), "one object on one line")
	v, err := state.Parse([]byte(got.stdout))
	require.NoError(t, err)
	return v
}

func at[T any](t *testing.T, v state.Value, path string) T {
	t.Helper()
	got, err := state.At[T](v, path)
	require.NoError(t, err)
	return got
}

func TestRunGoldens(t *testing.T) {
	for name, args := range map[string][]string{
		"run-plain":  {"--yes", "--strict"},
		"run-events": {"--no", "--strict", "--events"},
	} {
		t.Run(name, func(t *testing.T) {
			got := talk(t, counted(), "", args...)
			assert.Equal(t, exitOK, got.status)
			assert.Empty(t, got.stderr)
			assert.NotContains(t, got.stdout, "\x1b")
			golden(t, filepath.Join("testdata", name+".golden.txt"), got.stdout)
		})
	}
	t.Run("help", func(t *testing.T) {
		for _, name := range []string{"run", "serve-demo"} {
			got := agfold(t, "", name, "--help")
			assert.Equal(t, exitOK, got.status)
			golden(t, filepath.Join("testdata", name+"-help.golden.txt"), got.stdout)
		}
	})
}

func TestRunJSON(t *testing.T) {
	th := threadOf(t, talk(t, counted(), "", "--json", "--yes", "--strict"))
	assert.Equal(t, "succeeded", at[string](t, th, "/status"))
	assert.True(t, at[bool](t, th, "/state/trip/booked"))
	assert.Equal(t, 3, th.Get("runs").Len())
	assert.Equal(t, 0, th.Get("warnings").Len())

	t.Run("--events --json prints steps", func(t *testing.T) {
		got := talk(t, counted(), "", "--json", "--events", "--yes")
		lines := strings.Split(strings.TrimSuffix(got.stdout, "\n"), "\n")
		require.Greater(t, len(lines), 100)
		for _, line := range lines {
			var step struct {
				Ordinal int
				Event   struct{ Type string }
				Change  struct{ Kind string }
			}
			require.NoError(t, json.Unmarshal([]byte(line), &step))
			require.NotEmpty(t, step.Event.Type)
			require.NotEmpty(t, step.Change.Kind)
		}
	})
}

func TestRunRecords(t *testing.T) {
	file := filepath.Join(t.TempDir(), "talk.ndjson")
	require.NoError(t, os.WriteFile(file, []byte("what was there is replaced"), 0o644))
	live := threadOf(t, talk(t, counted(), "", "--json", "--yes", "--record", file, "--message", "hello", "--message", "more"))
	replayed := threadOf(t, agfold(t, "", "replay", "--json", file))
	for _, key := range []string{"threadId", "status", "messages", "state", "runs", "subagents", "interrupts", "pendingToolCallIds", "warnings"} {
		assert.True(t, live.Get(key).Equal(replayed.Get(key)), key)
	}
	assert.Equal(t, 4, live.Get("runs").Len())
}

func TestRunAnswersInterrupts(t *testing.T) {
	booked := func(t *testing.T, got result) bool {
		t.Helper()
		require.Equal(t, exitOK, got.status, got.stderr)
		return at[bool](t, threadOf(t, got), "/state/trip/booked")
	}
	asking := counted
	t.Run("--yes", func(t *testing.T) { assert.True(t, booked(t, talk(t, counted(), "", "--json", "--yes"))) })
	t.Run("--no", func(t *testing.T) { assert.False(t, booked(t, talk(t, counted(), "", "--json", "--no"))) })
	// The run with the interrupt is the fifth id: thread, message, run, answer of the clock, run.
	t.Run("--answer", func(t *testing.T) {
		assert.True(t, booked(t, talk(t, counted(), "", "--json", "--answer", `id5-approve={"approved":true}`)))
	})
	t.Run("--answer goes before --yes", func(t *testing.T) {
		assert.False(t, booked(t, talk(t, counted(), "", "--json", "--yes", "--answer", "id5-approve=decline")))
	})
	t.Run("asked, and again until it fits", func(t *testing.T) {
		st := asking()
		st.asks = true
		got := talk(t, st, "maybe\nY\n", "--json")
		assert.True(t, booked(t, got))
		assert.Contains(t, got.stderr, "Book Casa do Bairro for two nights, 214 EUR?")
		assert.Contains(t, got.stderr, "answer y or n")
	})
	t.Run("asked, an empty line declines", func(t *testing.T) {
		st := asking()
		st.asks = true
		assert.False(t, booked(t, talk(t, st, "\n", "--json")))
	})
	t.Run("asked, but not answered", func(t *testing.T) {
		st := asking()
		st.asks = true
		got := talk(t, st, "", "--json")
		assert.Equal(t, exitOK, got.status)
		assert.Equal(t, "interrupted", at[string](t, threadOf(t, got), "/status"))
	})
	t.Run("without an answer it says how to continue, and that command works", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "talk.ndjson")
		got := talk(t, counted(), "", "--record", file, "--message", "hello", "--message", "never said")
		assert.Equal(t, exitOK, got.status)
		assert.Contains(t, got.stderr, "1 message was not sent, because the agent waits for an answer first")
		assert.Contains(t, got.stderr, `--continue `+file+` --record `+file+` --answer 'id5-approve={"approved":true}'`)

		n := 100
		again := stage{newID: func() string { n++; return fmt.Sprintf("id%d", n) }}
		got = talk(t, again, "", "--json", "--continue", file, "--record", file, "--answer", `id5-approve={"approved":true}`)
		assert.True(t, booked(t, got))
		assert.True(t, at[bool](t, threadOf(t, agfold(t, "", "replay", "--json", file)), "/state/trip/booked"))
		assert.Equal(t, 3, threadOf(t, got).Get("runs").Len())
	})
	t.Run("an --answer to no question is reported", func(t *testing.T) {
		got := talk(t, counted(), "", "--json", "--yes", "--answer", "other=1")
		assert.Equal(t, exitOK, got.status)
		assert.Contains(t, got.stderr, "no such interrupt")
	})
	t.Run("an id that comes twice is asked for and answered once", func(t *testing.T) {
		twice := sseOf(began, `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"dup","reason":"a"},{"id":"dup","reason":"b"},{"id":"other","reason":"c"}]}}`)
		url, _, _ := serving(t, twice)
		got := talk(t, counted(), "", "--url", url, "--message", "x", "--record", filepath.Join(t.TempDir(), "talk.ndjson"))
		assert.Contains(t, got.stderr, "--answer dup=true --answer other=true\n")

		url, inputs, _ := serving(t, twice, sseOf(`{"type":"RUN_STARTED","threadId":"t","runId":"r2"}`, `{"type":"RUN_FINISHED","threadId":"t","runId":"r2"}`))
		got = talk(t, counted(), "", "--url", url, "--message", "x", "--yes")
		assert.Equal(t, exitOK, got.status, got.stderr)
		require.Len(t, *inputs, 2)
		assert.Equal(t, "dup", at[string](t, (*inputs)[1], "/resume/0/interruptId"))
		assert.Equal(t, "other", at[string](t, (*inputs)[1], "/resume/1/interruptId"))
		assert.Equal(t, 2, (*inputs)[1].Get("resume").Len())
	})
	t.Run("an agent that interrupts forever is answered a bounded number of times", func(t *testing.T) {
		url, inputs, _ := serving(t, sseOf(`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`,
			`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"again"}]}}`))
		got := talk(t, counted(), "", "--url", url, "--message", "x", "--yes")
		assert.Equal(t, exitOK, got.status)
		assert.Len(t, *inputs, maxUnasked+1)
	})
}

// interruption is the answer of an agent that asks with the given interrupts.
func interruption(interrupts string) string {
	return sseOf(began, `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[`+interrupts+`]}}`)
}

func TestNoQuestionControlsTheTerminal(t *testing.T) {
	const evil = `\u001b]52;c;cHduZWQ=\u0007\u001b[2J\u009b31m\r\u0008\u202e\u007f`
	for name, schema := range map[string]string{
		"no schema":         `{"description":"` + evil + `"}`,
		"a choice":          `{"enum":["a` + evil + `","b"]}`,
		"a choice of JSON":  `{"enum":[{"` + evil + `":"` + evil + `"},"b"]}`,
		"a wrapped choice":  `{"type":"object","properties":{"` + evil + `":{"enum":["` + evil + `"]}}}`,
		"a wrong pattern":   `{"type":"string","pattern":"^` + evil + `$"}`,
		"a wrong constant":  `{"type":"object","properties":{"a":{"const":"` + evil + `"},"b":{}}}`,
		"a title that lies": `{"title":"` + evil + `","type":"object"}`,
	} {
		t.Run(name, func(t *testing.T) {
			url, _, _ := serving(t, interruption(`{"id":"i`+evil+`","reason":"`+evil+`","message":"`+evil+`","toolCallId":"`+evil+
				`","expiresAt":"`+evil+`","metadata":{"`+evil+`":"`+evil+`"},"responseSchema":`+schema+`}`))
			st := counted()
			st.asks = true
			got := talk(t, st, "{\"a\":1}\nwrong\n", "--url", url, "--message", "x")
			assert.Contains(t, got.stderr, "(empty declines)")
			for _, r := range got.stdout + got.stderr {
				if r < 0x20 && r != '\n' || r >= 0x7f && r < 0xa0 || r == 0x202e {
					t.Fatalf("%q got through:\n%q", r, got.stdout+got.stderr)
				}
			}
		})
	}
}

func TestRunAsksForJSONIfTheSchemaCannotBeShown(t *testing.T) {
	ask := interruption(`{"id":"i","reason":"r","responseSchema":{"type":"boolean","$ref":"#"}}`)
	url, inputs, _ := serving(t, ask, sseOf(began, finished))
	st := counted()
	st.asks = true
	got := talk(t, st, "{\"sure\":1}\n", "--url", url, "--message", "x")
	assert.Equal(t, exitOK, got.status)
	assert.Contains(t, got.stderr, "JSON that fits the schema (empty declines): ")
	require.Len(t, *inputs, 2)
	assert.Equal(t, `{"sure":1}`, (*inputs)[1].Get("resume").Index(0).Get("payload").String())

	url, _, _ = serving(t, ask)
	got = talk(t, counted(), "", "--url", url, "--message", "x", "--yes", "--record", filepath.Join(t.TempDir(), "talk.ndjson"))
	assert.Contains(t, got.stderr, "--answer i=JSON", "--yes does not answer it")
}

func TestRunAgainstOtherAgents(t *testing.T) {
	answer := func(status int, contentType, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			w.WriteHeader(status)
			io.WriteString(w, body)
		}
	}
	const events = "text/event-stream"
	for _, row := range []struct {
		name    string
		handler http.HandlerFunc
		status  int
		stderr  string
	}{
		{"a run that succeeds", answer(200, events, sseOf(began, finished)), exitOK, ""},
		{"a run that fails", answer(200, events, sseOf(began, `{"type":"RUN_ERROR","message":"no more tokens"}`)), exitFailed, "no more tokens"},
		{"a stream that breaks the protocol", answer(200, events, sseOf(began, began)), exitRejected, "P-VER-1"},
		{"a malformed event", answer(200, events, sseOf(began, `{"type":"RUN_FINISHED"}`)), exitRejected, "P-ENF-4"},
		{"an unknown type is a warning", answer(200, events, sseOf(began, `{"type":"NEW"}`, finished)), exitOK, "P-ENF-1"},
		{"a stream that ends early", answer(200, events, sseOf(began)), exitTruncated, "ended before"},
		{"a stream that is cut", answer(200, events, sseOf(began)+`data: {"type":"RUN_FIN`), exitTruncated, "middle of an event"},
		{"a connection that is lost", func(w http.ResponseWriter, req *http.Request) {
			answer(200, events, sseOf(began))(w, req)
			http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, exitTruncated, "unexpected EOF"},
		{"an empty answer", answer(200, events, ""), exitTruncated, "no event"},
		{"500 with JSON", answer(500, "application/json", `{"error":{"message":"the model is away"}}`), exitUnreadable, "500 Internal Server Error: the model is away"},
		{"HTML", answer(200, "text/html", "<html><body>Welcome</body></html>"), exitUnreadable, "Welcome"},
	} {
		t.Run(row.name, func(t *testing.T) {
			server := httptest.NewServer(row.handler)
			defer server.Close()
			got := talk(t, counted(), "", "--url", server.URL, "--message", "hello")
			assert.Equal(t, row.status, got.status, got.stderr)
			assert.Contains(t, got.stderr, row.stderr)
			assert.Contains(t, got.stdout, "hello")
		})
	}
	t.Run("the connection is refused", func(t *testing.T) {
		server := httptest.NewServer(nil)
		server.Close()
		got := talk(t, counted(), "", "--url", server.URL, "--message", "hello", "--json")
		assert.Equal(t, exitUnreadable, got.status)
		assert.Contains(t, got.stderr, "refused")
		assert.Equal(t, "unstarted", at[string](t, threadOf(t, got), "/status"))
	})
	t.Run("--strict", func(t *testing.T) {
		url, _, _ := serving(t, sseOf(began, `{"type":"NEW"}`, finished))
		got := talk(t, counted(), "", "--url", url, "--message", "hello", "--strict")
		assert.Equal(t, exitRejected, got.status)
		assert.Contains(t, got.stderr, "P-ENF-7")
	})
	t.Run("--lenient", func(t *testing.T) {
		url, inputs, _ := serving(t, sseOf(nulls, `{"type":"CUSTOM","name":"on_interrupt","value":"Sure?"}`, finished), sseOf(began, finished))
		file := filepath.Join(t.TempDir(), "r")
		got := talk(t, counted(), "", "--url", url, "--message", "hello", "--lenient", "--record", file)
		assert.Equal(t, exitOK, got.status)
		assert.Contains(t, got.stderr, "P-NULL-1 event 1 RUN_STARTED")
		assert.Contains(t, got.stderr, " --lenient ", "the printed command that answers")
		got = talk(t, counted(), "", "--url", url, "--lenient", "--continue", file, "--yes")
		assert.Equal(t, exitOK, got.status, got.stderr)
		require.Len(t, *inputs, 2)
		assert.True(t, at[bool](t, (*inputs)[1], "/forwardedProps/command/resume"))
	})
}

func TestRunSends(t *testing.T) {
	t.Run("what the flags say", func(t *testing.T) {
		url, inputs, headers := serving(t, sseOf(began, finished))
		tools := write(t, "tools.json", `[{"name":"weather","description":"tells it","parameters":{"type":"object"}}]`)
		st := write(t, "state.json", `{"a":1}`)
		got := talk(t, counted(), "", "--url", url, "--message", "hello", "--header", "X-Key: one", "--header", "X-Key:two",
			"--thread", "t-9", "--state", "@"+st, "--tools", tools, "--clock")
		require.Equal(t, exitOK, got.status, got.stderr)
		in := (*inputs)[0]
		assert.Equal(t, "t-9", at[string](t, in, "/threadId"))
		assert.Equal(t, "hello", at[string](t, in, "/messages/0/content"))
		assert.Equal(t, 1, at[int](t, in, "/state/a"))
		assert.Equal(t, "weather", at[string](t, in, "/tools/0/name"))
		assert.Equal(t, demo.ClockTool, at[string](t, in, "/tools/1/name"))
		assert.Equal(t, event.ProtocolVersion, at[string](t, in, "/protocolVersion"))
		assert.Equal(t, []string{"one", "two"}, (*headers)[0].Values("X-Key"))
	})
	t.Run("what --input says, upgraded", func(t *testing.T) {
		url, inputs, _ := serving(t, sseOf(began, finished))
		file := write(t, "input.json", `{"threadId":"t-1","runId":"old","state":{"b":2},"forwardedProps":{"c":3},"extra":1,
			"context":[{"description":"d","value":"v"}],"tools":[{"name":"n","description":"d","parameters":null}],
			"messages":[{"id":"m1","role":"user","content":[{"type":"binary","mimeType":"image/png","url":"https://x/y"}]}]}`)
		got := talk(t, counted(), "", "--url", url, "--input", file, "--message", "more", "--json")
		require.Equal(t, exitOK, got.status, got.stderr)
		in := (*inputs)[0]
		assert.Equal(t, "t-1", at[string](t, in, "/threadId"))
		assert.NotEqual(t, "old", at[string](t, in, "/runId"))
		assert.Equal(t, "image", at[string](t, in, "/messages/0/content/0/type"))
		assert.Equal(t, "more", at[string](t, in, "/messages/1/content"))
		assert.Equal(t, 2, at[int](t, in, "/state/b"))
		assert.Equal(t, 3, at[int](t, in, "/forwardedProps/c"))
		assert.Equal(t, "v", at[string](t, in, "/context/0/value"))
		assert.Equal(t, 3, threadOf(t, got).Get("warnings").Len()) // a null, a binary part, an unknown member
		assert.Contains(t, got.stderr, "/extra")
	})
	t.Run("--input from standard input, with answers to interrupts", func(t *testing.T) {
		url, inputs, _ := serving(t, sseOf(began, finished))
		got := talk(t, counted(), `{"threadId":"t","runId":"r","messages":[],"resume":[{"interruptId":"i","status":"resolved","payload":true}]}`,
			"--url", url, "--input", "-")
		require.Equal(t, exitOK, got.status, got.stderr)
		assert.Equal(t, "i", at[string](t, (*inputs)[0], "/resume/0/interruptId"))
		assert.True(t, at[bool](t, (*inputs)[0], "/resume/0/payload"))
	})
	t.Run("--input with answers to interrupts sends its messages too", func(t *testing.T) {
		url, inputs, _ := serving(t, sseOf(began, finished))
		file := write(t, "resume.json", `{"threadId":"t","runId":"r","resume":[{"interruptId":"i","status":"cancelled"}],
			"messages":[{"id":"u","role":"user","content":"Book it"},{"id":"a","role":"assistant","content":"May I?"}]}`)
		got := talk(t, counted(), "", "--url", url, "--input", file, "--json")
		require.Equal(t, exitOK, got.status, got.stderr)
		assert.Equal(t, "u", at[string](t, (*inputs)[0], "/messages/0/id"))
		assert.Equal(t, "May I?", at[string](t, (*inputs)[0], "/messages/1/content"))
		assert.Equal(t, 2, threadOf(t, got).Get("messages").Len())
	})
	t.Run("--input without any message is a run", func(t *testing.T) {
		url, inputs, _ := serving(t, sseOf(began, finished))
		file := write(t, "empty.json", `{"threadId":"t","runId":"r","messages":[],"state":{"a":1}}`)
		got := talk(t, counted(), "", "--url", url, "--input", file)
		require.Equal(t, exitOK, got.status, got.stderr)
		require.Len(t, *inputs, 1)
		assert.Equal(t, 0, (*inputs)[0].Get("messages").Len())
		assert.Equal(t, 1, at[int](t, (*inputs)[0], "/state/a"))
	})
	t.Run("--input needs no ids", func(t *testing.T) {
		url, inputs, _ := serving(t, sseOf(began, finished))
		got := talk(t, counted(), "", "--url", url, "--input", write(t, "no-ids.json", `{"messages":[{"id":"u","role":"user","content":"hi"}]}`))
		require.Equal(t, exitOK, got.status, got.stderr)
		assert.Equal(t, "id1", at[string](t, (*inputs)[0], "/threadId"))
		assert.Equal(t, "id2", at[string](t, (*inputs)[0], "/runId"))
	})
	t.Run("each message gets its own run, as long as they succeed", func(t *testing.T) {
		url, inputs, _ := serving(t, sseOf(began, finished), sseOf(began, `{"type":"RUN_ERROR","message":"tired"}`))
		got := talk(t, counted(), "", "--url", url, "--message", "one", "--message", "two", "--message", "three")
		assert.Equal(t, exitFailed, got.status)
		assert.Len(t, *inputs, 2)
		assert.Contains(t, got.stderr, "1 message was not sent\n")
	})
	t.Run("what --unanswered says of calls without a result", func(t *testing.T) {
		const arguments = "/messages/0/toolCalls/0/function/arguments"
		for flag, want := range map[string]string{"": "{}", "settle": "{}", "decline": "{}", "keep": `{"word": "li`} {
			url, inputs, _ := serving(t, sseOf(began, finished))
			args := []string{"--url", url, "--continue", filepath.Join("..", "..", "testdata", "cut-off.sse"), "--message", "hello"}
			if flag != "" {
				args = append(args, "--unanswered", flag)
			}
			got := talk(t, counted(), "", args...)
			require.Equal(t, exitOK, got.status, got.stderr)
			assert.Equal(t, want, at[string](t, (*inputs)[0], arguments), flag)
		}
	})
	t.Run("no protocolVersion to an older --peer", func(t *testing.T) {
		url, inputs, _ := serving(t, sseOf(began, finished))
		got := talk(t, counted(), "", "--url", url, "--message", "hello", "--peer", "0.0.57")
		require.Equal(t, exitOK, got.status, got.stderr)
		assert.False(t, (*inputs)[0].Get("protocolVersion").Exists())
	})
}

func TestRunContinuesOnlyARecordingThatCanBeReadAgain(t *testing.T) {
	url, inputs, _ := serving(t, sseOf(`{"type":"RUN_STARTED","threadId":"t","runId":"r2"}`, `{"type":"RUN_FINISHED","threadId":"t","runId":"r2"}`))
	const head = `{"agfold":"recording/1","input":{"threadId":"t","runId":"r","messages":[]}}` + "\n"
	whole := head + `{"at":1,"event":` + began + "}\n" + `{"at":2,"event":` + finished + "}\n"
	again := func(t *testing.T, file string) result {
		return talk(t, counted(), "", "--url", url, "--continue", file, "--record", file, "--message", "more")
	}
	runs := func(t *testing.T, file string) int {
		return threadOf(t, agfold(t, "", "replay", "--json", file)).Get("runs").Len()
	}
	t.Run("one that agfold wrote", func(t *testing.T) {
		file := write(t, "whole.ndjson", whole)
		got := again(t, file)
		require.Equal(t, exitOK, got.status, got.stderr)
		assert.Equal(t, 2, runs(t, file))
	})
	t.Run("one that was cut off in its last line", func(t *testing.T) {
		file := write(t, "cut.ndjson", whole+`{"agfold":"recording/1"}`+"\n"+`{"at":1,"event":`+began+"}\n"+`{"at":1,"event":{"type":"CUST`)
		got := again(t, file)
		require.Equal(t, exitOK, got.status, got.stderr)
		assert.Contains(t, got.stderr, "cut off", "what could not be read is said")
		assert.Equal(t, 3, runs(t, file))
	})
	t.Run("one that is damaged in the middle", func(t *testing.T) {
		file := write(t, "damaged.ndjson", head+`{"at":1,"event":`+began+"}\n"+"\x00\x00garbage\n"+whole)
		got := again(t, file)
		require.Equal(t, exitOK, got.status, got.stderr)
		assert.Contains(t, got.stderr, "--continue "+file, "what could not be read is said")
		assert.Equal(t, 3, runs(t, file), "the damaged run, the one after it, and the new one")
	})
	t.Run("not another form: nothing is sent and the file stays", func(t *testing.T) {
		for _, text := range []string{ndjson(began, finished), sseOf(began, finished), "[" + began + "," + finished + "]"} {
			file, before := write(t, "other", text), len(*inputs)
			got := again(t, file)
			assert.Equal(t, exitUsage, got.status)
			assert.Contains(t, got.stderr, "no run can be appended to a recording of the form")
			assert.Len(t, *inputs, before)
			kept, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Equal(t, text, string(kept))
		}
	})
	t.Run("from standard input that is the same file", func(t *testing.T) {
		name := write(t, "stdin.ndjson", whole)
		file, err := os.Open(name)
		require.NoError(t, err)
		defer file.Close()
		var stdout, stderr bytes.Buffer
		status := runOn(t.Context(), []string{"--url", url, "--continue", "-", "--record", name, "--message", "more"},
			newTerminal(file, &stdout, &stderr), counted())
		require.Equal(t, exitOK, status, stderr.String())
		assert.Equal(t, 2, runs(t, name))
	})
}

func TestFilesAreReadInBounds(t *testing.T) {
	for _, args := range [][]string{{"--input", "-"}, {"--tools", "-"}, {"--state", "@-"}, {"--input", "/dev/zero"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			if args[1] == "/dev/zero" {
				if _, err := os.Stat(args[1]); err != nil {
					t.Skip("there is no endless file here")
				}
			}
			var stdout, stderr bytes.Buffer
			status := runOn(t.Context(), args, newTerminal(endless{}, &stdout, &stderr), counted())
			assert.Equal(t, exitUsage, status)
			assert.Contains(t, stderr.String(), args[0])
			assert.Contains(t, stderr.String(), "holds more than 64 MiB")
		})
	}
}

// endless is a file without an end.
type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

func TestRunWrongUsage(t *testing.T) {
	notInput := write(t, "a.json", `{"threadId":7}`)
	notJSON := write(t, "b.json", `{`)
	nameless := write(t, "n.json", `[{"description":"has no name"}]`)
	thread := write(t, "t.json", talk(t, counted(), "", "--json", "--yes").stdout)
	empty := write(t, "empty", "")
	_, err := os.Open(notJSON + "x")
	missing := unnamed(err).Error()
	for _, row := range []struct {
		name string
		args []string
		says string
	}{
		{"an argument", []string{"hello"}, "unexpected argument hello: to send a message, use --message hello"},
		{"an empty URL", []string{"--url", ""}, "--url is empty"},
		{"an empty URL, written with =", []string{"--url="}, "--url is empty"},
		{"an empty message", []string{"--message", "x", "--message", ""}, "--message is empty"},
		{"an empty file name", []string{"--record", ""}, "--record is empty"},
		{"--pace of another agent", []string{"--url", "http://localhost/", "--pace", "2"}, "--pace is about the demo agent"},
		{"an empty recording", []string{"--continue", empty, "--message", "hi"}, "--continue " + empty + ": the recording has no run"},
		{"a thread for a recording", []string{"--continue", thread}, "which has no events; use the recording that agfold run --record FILE writes"},
		{"a recording that is not there", []string{"--continue", notJSON + "x"}, "--continue " + notJSON + "x: " + missing},
		{"tools that are not there", []string{"--tools", notJSON + "x"}, "--tools " + notJSON + "x: " + missing},
		{"a tool without a name", []string{"--tools", nameless}, "--tools " + nameless + ": P-ENF-4 tools /0/name: want a string"},
		{"an unknown flag", []string{"--color"}, "color"},
		{"no URL", []string{"--url", "localhost:80"}, "not an http or https URL"},
		{"nothing to say", []string{"--url", "http://localhost/"}, "nothing to send"},
		{"--yes and --no", []string{"--yes", "--no"}, "--yes and --no can't be used together"},
		{"--input and --continue", []string{"--input", "a", "--continue", "b"}, "cannot be combined"},
		{"standard input twice", []string{"--input", "-", "--tools", "-"}, "only once"},
		{"a negative pace", []string{"--pace", "-1"}, "negative"},
		{"a negative time-out", []string{"--timeout", "-1s"}, "negative"},
		{"a header without a name", []string{"--header", ": x"}, "Name: value"},
		{"a header that would be two", []string{"--header", "A: x\r\nB: y"}, "Name: value"},
		{"a peer that is not a version", []string{"--peer", "new"}, "not a version"},
		{"an answer without an id", []string{"--answer", "yes"}, "ID=JSON"},
		{"an answer that is not JSON", []string{"--answer", "i=maybe"}, "ID=JSON"},
		{"a state that is not JSON", []string{"--state", "{"}, "--state"},
		{"a state that is not there", []string{"--state", "@" + notJSON + "x"}, "--state"},
		{"an input that is not there", []string{"--input", notJSON + "x"}, "--input"},
		{"an input that is not JSON", []string{"--input", notJSON}, "invalid JSON"},
		{"an input that is malformed", []string{"--input", notInput}, "/threadId"},
		{"invalid tools", []string{"--tools", notInput}, "P-ENF-4 tools: want an array"},
		{"a file that is not a recording", []string{"--continue", notJSON}, "--continue"},
		{"a recording that cannot be written", []string{"--record", t.TempDir()}, "--record"},
		{"a recording over the input", []string{"--input", notInput, "--record", notInput}, "--input and --record name the same file"},
		{"a recording over the state", []string{"--state", "@" + notInput, "--record", notInput}, "--state and --record name the same file"},
		{"a recording over the tools", []string{"--tools", notInput, "--record", notInput}, "--tools and --record name the same file"},
		{"another thread than the recording's", []string{"--continue", write(t, "c", ndjson(began, finished)), "--thread", "x"}, `is "t"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := talk(t, counted(), "", row.args...)
			assert.Equal(t, exitUsage, got.status)
			assert.Contains(t, got.stderr, row.says)
			assert.Empty(t, got.stdout)
		})
	}
}

// trigger calls a function when a text is written.
type trigger struct {
	bytes.Buffer
	text string
	call func()
}

func (w *trigger) Write(b []byte) (int, error) {
	n, err := w.Buffer.Write(b)
	if w.call != nil && strings.Contains(w.String(), w.text) {
		w.call()
		w.call = nil
	}
	return n, err
}

func TestRunStops(t *testing.T) {
	stop := func(t *testing.T, st stage, args ...string) (int, string, string) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		stdout := &trigger{text: "A weekend", call: cancel}
		var stderr bytes.Buffer
		status := runOn(ctx, args, newTerminal(strings.NewReader(""), stdout, &stderr), st)
		return status, stdout.String(), stderr.String()
	}
	t.Run("Ctrl-C ends a run and keeps what came", func(t *testing.T) {
		status, stdout, stderr := stop(t, counted())
		assert.Equal(t, exitInterrupted, status)
		assert.Contains(t, stdout, "! id3 · truncated")
		assert.Contains(t, stderr, "stopped after")
		assert.Contains(t, stderr, "truncated")
	})
	t.Run("Ctrl-C ends a live view and restores the terminal", func(t *testing.T) {
		st := counted()
		st.size = func() (int, int) { return 80, 24 }
		status, stdout, _ := stop(t, st)
		assert.Equal(t, exitInterrupted, status)
		_, rest, cleared := strings.Cut(stdout, "\x1b[?25h")
		require.True(t, cleared)
		assert.NotContains(t, rest, "\x1b")
		assert.Contains(t, rest, "A weekend")
		assert.Contains(t, rest, "truncated")
	})
	t.Run("--timeout", func(t *testing.T) {
		var stderr bytes.Buffer
		status := runOn(t.Context(), []string{"--timeout", "50ms"}, newTerminal(strings.NewReader(""), io.Discard, &stderr), counted())
		assert.Equal(t, exitTruncated, status)
		assert.Contains(t, stderr.String(), "--timeout")
	})
	t.Run("the reader of the output is gone", func(t *testing.T) {
		var stderr bytes.Buffer
		status := runOn(t.Context(), nil, newTerminal(strings.NewReader(""), brokenPipe{}, &stderr), counted())
		assert.Equal(t, exitBrokenPipe, status)
		assert.Empty(t, stderr.String())
	})
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, syscall.EPIPE }

func TestRunLive(t *testing.T) {
	st := counted()
	st.size = func() (int, int) { return 100, 30 }
	got := talk(t, st, "", "--yes")
	require.Equal(t, exitOK, got.status, got.stderr)
	assert.Equal(t, strings.Count(got.stdout, "\x1b[?25l"), strings.Count(got.stdout, "\x1b[?25h"))
	assert.Contains(t, got.stdout, "\x1b[?25l")
	tail := got.stdout[strings.LastIndex(got.stdout, "\x1b[?25h"):]
	assert.Contains(t, tail, "LX-2140")
	assert.Contains(t, tail, "✓ id6 · succeeded")

	t.Run("warnings wait until the view is gone", func(t *testing.T) {
		url, _, _ := serving(t, sseOf(began, `{"type":"NEW"}`, `{"type":"NEWER"}`, finished))
		got := talk(t, st, "", "--url", url, "--message", "hello")
		assert.Equal(t, exitOK, got.status)
		assert.Equal(t, 2, strings.Count(got.stderr, "P-ENF-1"))
	})
	t.Run("--json and --events are never drawn", func(t *testing.T) {
		for _, flag := range []string{"--json", "--events"} {
			assert.NotContains(t, talk(t, st, "", "--yes", flag).stdout, "\x1b")
		}
	})
}

func TestClockTool(t *testing.T) {
	tool := clockTool(func() time.Time { return time.Date(2026, 5, 4, 14, 5, 0, 0, time.FixedZone("HERE", 3600)) })
	ask := func(args string) (any, error) {
		return tool.Call(t.Context(), &messages.ToolCall{Name: tool.Name, Arguments: args})
	}
	got, err := ask(`{"zone":"Local"}`)
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"time": "14:05", "day": "Monday 2026-05-04", "zone": "HERE"}, got)
	got, err = ask(`{"zone":"UTC"}`)
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"time": "13:05", "day": "Monday 2026-05-04", "zone": "UTC"}, got)
	_, err = ask(`{"zone":"Moon/Base"}`)
	assert.ErrorContains(t, err, `no time zone "Moon/Base"`)
}

// serveDemoOn starts agfold serve-demo and returns its URL, and a function that stops it and returns what it said.
func serveDemoOn(t *testing.T) (url string, stop func() (status int, stderr string)) {
	ctx, cancel := context.WithCancel(t.Context())
	out, stdout := io.Pipe()
	var stderr bytes.Buffer
	done := make(chan int, 1)
	go func() {
		done <- run(ctx, []string{"serve-demo", "--addr", "127.0.0.1:0", "--pace", "0"}, newTerminal(strings.NewReader(""), stdout, &stderr))
	}()
	buf := make([]byte, 100)
	n, err := out.Read(buf)
	require.NoError(t, err)
	return strings.TrimSpace(string(buf[:n])), func() (int, string) {
		cancel()
		return <-done, stderr.String()
	}
}

func TestServeDemo(t *testing.T) {
	url, stop := serveDemoOn(t)
	got := talk(t, counted(), "", "--url", url, "--clock", "--message", "hello", "--json", "--yes", "--strict")
	assert.Equal(t, exitOK, got.status, got.stderr)
	assert.Equal(t, 3, threadOf(t, got).Get("runs").Len())
	status, stderr := stop()
	assert.Equal(t, exitOK, status)
	assert.Contains(t, stderr, ": complete")

	t.Run("an address that is taken", func(t *testing.T) {
		taken := httptest.NewServer(nil)
		defer taken.Close()
		got := agfold(t, "", "serve-demo", "--addr", taken.Listener.Addr().String())
		assert.Equal(t, exitUnreadable, got.status)
	})
	t.Run("wrong usage", func(t *testing.T) {
		for _, args := range [][]string{{"x"}, {"--pace", "-1"}, {"--port", "1"}} {
			assert.Equal(t, exitUsage, agfold(t, "", append([]string{"serve-demo"}, args...)...).status)
		}
	})
}

func TestRunPrintsEachDeliveryWithItsThread(t *testing.T) {
	for name, row := range map[string]struct{ chunk, want string }{
		"text":      {`{"type":"TEXT_MESSAGE_CHUNK","messageId":"a","delta":"x"}`, "assistant · a\n  x\n"},
		"a call":    {`{"type":"TOOL_CALL_CHUNK","toolCallId":"a","toolCallName":"f","delta":"{}"}`, ""},
		"reasoning": {`{"type":"REASONING_MESSAGE_CHUNK","messageId":"a","delta":"x"}`, "reasoning · a"},
	} {
		t.Run(name, func(t *testing.T) {
			url, _, _ := serving(t, sseOf(began, row.chunk, `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"b","role":"reasoning","content":""}]}`, finished))
			for _, flags := range [][]string{{}, {"--events"}, {"--json"}, {"--json", "--events"}} {
				got := talk(t, counted(), "", append([]string{"--url", url, "--message", "hi"}, flags...)...)
				assert.Equal(t, exitOK, got.status, got.stderr)
				if len(flags) == 0 {
					assert.Contains(t, got.stdout, row.want)
				}
			}
		})
	}
}
