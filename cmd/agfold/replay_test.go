package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/state"
)

const (
	began    = `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`
	finished = `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`
)

// ndjson joins events, one a line.
func ndjson(events ...string) string { return strings.Join(events, "\n") + "\n" }

// write puts a file into a folder of the test's own.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

func TestExitStatus(t *testing.T) {
	for _, row := range []struct {
		name   string
		stdin  string
		args   []string
		want   int
		status string // of the thread; "" if none is printed
		stderr string
	}{
		{"a run that succeeded", ndjson(began, finished), nil, exitOK, "succeeded", ""},
		{"a run that was interrupted", ndjson(began, `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"ask"}]}}`), nil, exitOK, "interrupted", ""},
		{"a run that was cancelled", ndjson(began, `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"cancelled"}}`), nil, exitOK, "cancelled", ""},
		{"a run that failed", ndjson(began, `{"type":"RUN_ERROR","message":"no more tokens"}`), nil, exitFailed, "failed", "no more tokens"},
		{"a run that failed after it finished (P-RUN-1)", ndjson(began, finished, `{"type":"RUN_ERROR","message":"late"}`), nil, exitFailed, "failed", "late"},
		{"the last of two runs counts", ndjson(began, `{"type":"RUN_ERROR","message":"first"}`, began, finished), nil, exitOK, "succeeded", ""},
		{"a violation (P-VER-1)", ndjson(began, began), nil, exitRejected, "rejected", "P-VER-1"},
		{"a malformed event (P-ENF-4)", ndjson(began, `{"type":"TEXT_MESSAGE_START","messageId":7}`), nil, exitRejected, "rejected", "/messageId"},
		{"an unknown type is a warning (P-ENF-1)", ndjson(began, `{"type":"NEW"}`, finished), nil, exitOK, "succeeded", "P-ENF-1 event 2 NEW"},
		{"an unknown type with --strict (P-ENF-7)", ndjson(began, `{"type":"NEW"}`, finished), []string{"--strict"}, exitRejected, "rejected", "P-ENF-7"},
		{"nulls for absent members (P-NULL-1)", ndjson(nulls, finished), nil, exitRejected, "rejected", "lenient.Nulls"},
		{"nulls for absent members, with --lenient", ndjson(nulls, finished), []string{"--lenient"}, exitOK, "succeeded", "P-NULL-1 event 1 RUN_STARTED"},
		{"an interrupt as CUSTOM, with --lenient", ndjson(began, `{"type":"CUSTOM","name":"on_interrupt","value":"Sure?"}`, finished), []string{"--lenient"}, exitOK, "interrupted", "lenient.OnInterrupt"},
		{"a stream that ends before the run does (D-10)", ndjson(began), nil, exitTruncated, "truncated", "ended before"},
		{"a line that ends in its middle", began + "\n" + finished[:20], nil, exitTruncated, "truncated", "line 2"},
		{"a cut line after the end of the run", ndjson(began, finished) + began[:20], nil, exitOK, "succeeded", "line 3"},
		{"a run that never began", `{"stream":[],"input":{"threadId":"t","runId":"r","messages":[]}}`, nil, exitTruncated, "truncated", "ended before"},
		{"nothing at all", "", nil, exitTruncated, "empty", "it holds no run"},
		{"--at in the middle of a run", ndjson(began, finished), []string{"--at", "1"}, exitOK, "running", ""},
		{"--at before the first event", ndjson(began, finished), []string{"--at", "0"}, exitOK, "empty", ""},
		{"--at the last event of a stream that is cut there", ndjson(began), []string{"--at", "1"}, exitOK, "running", ""},
		{"--at after the last event", ndjson(began), []string{"--at", "5"}, exitTruncated, "truncated", "it holds only 1 event\n"},
		{"--at a violation", ndjson(began, began, finished), []string{"--at", "2"}, exitRejected, "rejected", "P-VER-1"},
		{"--at before a violation", ndjson(began, began, finished), []string{"--at", "1"}, exitOK, "running", ""},
		{"a file that is not a recording", "dear diary\n", nil, exitUnreadable, "", "not a recording"},
		{"data that is not an event", ndjson(began, "dear diary"), nil, exitRejected, "rejected", "P-PIPE-2 event 2"},
		{"data that is not an event after the run", ndjson(began, finished, "dear diary"), nil, exitOK, "succeeded", "P-PIPE-2 event 3"},
		{"an event without a type (P-PIPE-2)", ndjson(began, `{"delta":"x"}`), nil, exitRejected, "rejected", "P-PIPE-2"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := agfold(t, row.stdin, append([]string{"replay", "-", "--json"}, row.args...)...)
			assert.Equal(t, row.want, got.status)
			if row.stderr == "" {
				assert.Empty(t, got.stderr)
			} else {
				assert.Contains(t, got.stderr, row.stderr)
			}
			if row.status == "" {
				assert.Empty(t, got.stdout)
				return
			}
			var thread struct{ Status string }
			require.NoError(t, json.Unmarshal([]byte(got.stdout), &thread))
			assert.Equal(t, row.status, thread.Status)
		})
	}
}

func TestFormsGiveTheSameThread(t *testing.T) {
	for _, row := range runs {
		t.Run(row.file, func(t *testing.T) {
			frames, input := events(t, filepath.Join(recordings, row.file))
			lines := texts(frames)
			object := fmt.Appendf(nil, `{"stream":[%s]}`, bytes.Join(lines, []byte(",")))
			forms := map[string]string{
				"lines":        string(bytes.Join(lines, []byte("\n"))),
				"array":        "[\n" + string(bytes.Join(lines, []byte(",\n"))) + "\n]",
				"object":       string(object),
				"sse":          ": hello\n\ndata: " + string(bytes.Join(lines, []byte("\n\ndata: "))) + "\n\n",
				"pasted lines": "data: " + string(bytes.Join(lines, []byte("\ndata: "))) + "\n",
				"agfold":       `{"agfold":"recording/1"}` + "\n" + string(wrapped(lines)),
			}
			want := agfold(t, forms["lines"], "replay", "--json", "-")
			for name, text := range forms {
				got := agfold(t, text, "replay", "--json", "-")
				assert.Equal(t, want, got, name)
				assert.Equal(t, 1, strings.Count(got.stdout, "\n"), "%s: one line and nothing else", name)
			}
			if input == nil {
				cut := row.file == "cut-off.sse"
				file := agfold(t, "", "replay", "--json", filepath.Join(recordings, row.file))
				assert.Equal(t, cut, want.stdout != file.stdout, "only the cut is reported")
			}
		})
	}
}

func wrapped(lines [][]byte) []byte {
	var out []byte
	for i, line := range lines {
		out = fmt.Appendf(out, `{"at":%d,"event":%s}`+"\n", i, line)
	}
	return out
}

func TestInputOfAnObject(t *testing.T) {
	got := agfold(t, `{"stream":[`+began+`,{"type":"STATE_DELTA","delta":[{"op":"add","path":"/b","value":2}]},`+finished+`],
		"input":{"messages":[{"id":"u","role":"user","content":"hi"}],"state":{"a":1}}}`, "replay", "-", "--json")
	assert.Equal(t, exitOK, got.status, got.stderr)
	assert.Contains(t, got.stdout, `"messages":[{"id":"u","role":"user","content":"hi"}],"state":{"a":1,"b":2}`)
}

func TestSeveralFiles(t *testing.T) {
	good := write(t, "good.ndjson", ndjson(began, finished))
	failed := write(t, "failed.ndjson", ndjson(began, `{"type":"RUN_ERROR","message":"no"}`))
	missing := filepath.Join(t.TempDir(), "missing.ndjson")
	for _, row := range []struct {
		name  string
		files []string
		want  int
	}{
		{"all is well", []string{good, good}, exitOK},
		{"the highest status counts, wherever it comes", []string{failed, good}, exitFailed},
		{"a missing file does not keep the others from being read", []string{missing, failed, good}, exitUnreadable},
		{"a folder is not a recording", []string{t.TempDir(), good}, exitUnreadable},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := agfold(t, "", append([]string{"replay", "--json"}, row.files...)...)
			assert.Equal(t, row.want, got.status)
			want := 0
			for _, f := range row.files {
				if f == good || f == failed {
					want++
				}
			}
			assert.Equal(t, want, strings.Count(got.stdout, "\n"), "one line for each file that can be read")
		})
	}
	got := agfold(t, "", "replay", good, missing, failed)
	assert.Contains(t, got.stdout, "==> "+good+" <==\nthread t")
	assert.Contains(t, got.stdout, "\n\n==> "+failed+" <==\nthread t")
	assert.Equal(t, "agfold: "+missing+": no such file or directory\nagfold: "+failed+": agent failed: no\n", got.stderr, "each error begins with the file")
	folder := t.TempDir()
	assert.Equal(t, "agfold: "+folder+": is a directory\n", agfold(t, "", "replay", folder).stderr)
	assert.NotContains(t, agfold(t, "", "replay", good).stdout, "==>", "one file needs no title")
}

func TestEachFileIsAThreadOfItsOwn(t *testing.T) {
	said := write(t, "said.ndjson", ndjson(began, `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"hi"}`, finished))
	got := agfold(t, "", "replay", "--json", said, said)
	first, second, _ := strings.Cut(got.stdout, "\n")
	assert.Equal(t, first+"\n", second)
}

func TestEvents(t *testing.T) {
	in := ndjson(began, `{"type":"NEW"}`,
		`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"hi \u001b[2J"}`,
		`{"type":"STATE_DELTA","delta":[{"op":"add","path":"/a","value":1}],"subagentRunId":"s"}`, finished)
	got := agfold(t, in, "replay", "-", "--events")
	assert.Equal(t, exitOK, got.status)
	assert.Equal(t, strings.Join([]string{
		"     1 RUN_STARTED               t r",
		"     3 TEXT_MESSAGE_START        m assistant",
		`     3 TEXT_MESSAGE_CONTENT      m "hi \u001b[2J"`,
		`     4 STATE_DELTA               [s] [{"op": "add", "path": "/a", "value": 1}]`,
		"     5 TEXT_MESSAGE_END          m",
		"     5 RUN_FINISHED              r",
		"",
	}, "\n"), got.stdout)
	assert.Equal(t, "-: warning: P-ENF-1 event 2 NEW: dropped: AG-UI 1.0 knows no event of this type\n", got.stderr)

	asJSON := agfold(t, in, "replay", "-", "--events", "--json")
	lines := strings.Split(strings.TrimSuffix(asJSON.stdout, "\n"), "\n")
	require.Len(t, lines, 6, "what was dropped was not delivered")
	assert.Equal(t, `{"ordinal":3,"event":{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"},"change":{"kind":"messageAdded","messageId":"m","index":0}}`, lines[1])
	assert.Equal(t, got.stderr, asJSON.stderr)
}

func TestEventsUpToTheOneThatIsAskedFor(t *testing.T) {
	got := agfold(t, ndjson(began, `{"type":"CUSTOM","name":"a","value":1}`, finished), "replay", "-", "--events", "--at", "2")
	assert.Equal(t, exitOK, got.status)
	assert.Equal(t, 2, strings.Count(got.stdout, "\n"))
}

func TestEventsBeforeAViolationAreDelivered(t *testing.T) {
	got := agfold(t, ndjson(began, `{"type":"TEXT_MESSAGE_END","messageId":"m"}`, finished), "replay", "-", "--events")
	assert.Equal(t, exitRejected, got.status)
	assert.Equal(t, 1, strings.Count(got.stdout, "\n"))
	assert.Contains(t, got.stderr, "rejected: P-VER-2 event 2")
}

func TestAtGivesTheThreadAsItWas(t *testing.T) {
	file := filepath.Join(recordings, "shared-state.json")
	title := func(n int) string {
		return agfold(t, "", "replay", file, "--state", "--json", "--at", fmt.Sprint(n)).stdout
	}
	assert.Equal(t, "{}\n", title(1))
	assert.Contains(t, title(2), `"title":""`)
	assert.Contains(t, title(4), `"title":"Tom"`)
	assert.Contains(t, title(6), `"title":"Tomato soup"`)
}

func TestState(t *testing.T) {
	for _, row := range []struct{ snapshot, text string }{
		{`{"a":[1,2.50],"b":"\u009b1m"}`, `{"a": [1, 2.50], "b": "\u009b1m"}`},
		{`null`, `null`},
		{`false`, `false`},
		{`9007199254740993`, `9007199254740993`},
	} {
		in := ndjson(began, `{"type":"STATE_SNAPSHOT","snapshot":`+row.snapshot+`}`, finished)
		assert.Equal(t, result{exitOK, row.text + "\n", ""}, agfold(t, in, "replay", "-", "--state"))
		assert.Equal(t, result{exitOK, row.snapshot + "\n", ""}, agfold(t, in, "replay", "-", "--state", "--json"))
	}
}

func TestStateIsNeverShortened(t *testing.T) {
	long := `["` + strings.Repeat(`word`, 5000) + `"` + strings.Repeat(`,1`, 5000) + `]`
	got := agfold(t, ndjson(began, `{"type":"STATE_SNAPSHOT","snapshot":`+long+`}`, finished), "replay", "-", "--state")
	printed, err := state.Parse([]byte(got.stdout))
	require.NoError(t, err)
	want, err := state.Parse([]byte(long))
	require.NoError(t, err)
	assert.True(t, want.Equal(printed))
}

func TestLongThingsAreShortenedUnlessFull(t *testing.T) {
	in := ndjson(began, `{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"dump"}`,
		`{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"`+strings.Repeat(`line\n`, 100)+`the end"}`, finished)
	assert.Contains(t, agfold(t, in, "replay", "-").stdout, "left out")
	full := agfold(t, in, "replay", "-", "--full").stdout
	assert.NotContains(t, full, "left out")
	assert.Contains(t, full, "the end")
}

func TestWarningsOfTheInputAreReported(t *testing.T) {
	got := agfold(t, `{"stream":[`+began+`,`+finished+`],"input":{"messages":[],"mood":"good"}}`, "replay", "-", "--json")
	assert.Equal(t, exitOK, got.status)
	assert.Contains(t, got.stderr, "P-ENF-2")
	assert.Contains(t, got.stdout, `"warnings":[{"rule":"P-ENF-2","ordinal":0,`)
}

func FuzzReplay(f *testing.F) {
	for _, row := range runs {
		text, err := os.ReadFile(filepath.Join(recordings, row.file))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		want := -1
		for _, args := range [][]string{{"--json"}, {}, {"--events"}, {"--state", "--strict"}} {
			got := agfold(t, text, append([]string{"replay", "-"}, args...)...)
			require.Contains(t, []int{exitOK, exitFailed, exitRejected, exitTruncated, exitUnreadable}, got.status)
			if len(args) < 2 {
				require.Contains(t, []int{-1, got.status}, want, "what is printed does not change the verdict")
				want = got.status
			}
			for _, r := range got.stdout + got.stderr {
				require.False(t, r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0, "%q got through", r)
			}
		}
	})
}

func TestWhatTheAgentSaidBeforeTheStreamWasRejectedIsShown(t *testing.T) {
	got := agfold(t, ndjson(began, `{"type":"RUN_ERROR","message":"model overloaded"}`, `{"type":"TEXT_MESSAGE_END","messageId":"x"}`), "replay", "-")
	assert.Equal(t, exitRejected, got.status)
	for _, text := range []string{got.stdout, got.stderr} {
		assert.Contains(t, text, "P-VER-1")
		assert.Contains(t, text, "model overloaded")
	}
}

func TestReplaySaysWhatAFileIs(t *testing.T) {
	thread := agfold(t, ndjson(began, finished), "replay", "-", "--json").stdout
	for name, row := range map[string]struct{ text, want string }{
		"the JSON of a thread": {thread, "this is the JSON of a thread"},
		"another object":       {`{"a":1}`, "the object has neither a type nor a stream"},
		"text":                 {"module x\n", "want server-sent events or JSON"},
	} {
		got := agfold(t, row.text, "replay", "-")
		assert.Equal(t, exitUnreadable, got.status, name)
		assert.Contains(t, got.stderr, row.want, name)
	}
}

// nulls is what some servers send first.
const nulls = `{"type":"RUN_STARTED","threadId":"t","runId":"r","parentRunId":null,"input":null,"timestamp":null,"rawEvent":null,"metadata":null}`
