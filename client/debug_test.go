package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// debugged collects the lines of a debug log, one JSON object each.
type debugged struct {
	mu sync.Mutex
	bytes.Buffer
}

func (d *debugged) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.Buffer.Write(p)
}

func (d *debugged) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(d, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// lines returns what was logged in a category, each as its text and attributes.
func (d *debugged) lines(t *testing.T, c client.DebugCategory) (all []map[string]any) {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	for line := range bytes.Lines(d.Bytes()) {
		var one map[string]any
		require.NoError(t, json.Unmarshal(line, &one))
		assert.Equal(t, "DEBUG", one["level"])
		if one["category"] == string(c) {
			all = append(all, one)
		}
	}
	return all
}

// spoken returns the texts of lines with one attribute of each.
func spoken(lines []map[string]any, key string) (all []string) {
	for _, l := range lines {
		text, _ := l["msg"].(string)
		if v, ok := l[key].(string); ok {
			text += " " + v
		}
		all = append(all, text)
	}
	return all
}

const debugStream = `data: {"type":"RUN_STARTED","threadId":"t","runId":"r"}

data: {"type":"THINKING_START"}

data: {"type":"THINKING_END"}

data: {"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"Hello"}

data: {"type":"FUTURE"}

data: {"type":"RUN_FINISHED","threadId":"t","runId":"r"}

`

// debugRun runs one turn against a server that answers with stream.
func debugRun(t *testing.T, stream string, log *client.DebugLog, query string) error {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Set-Cookie", "sid=SECRET-cookie")
		io.WriteString(w, stream)
	}))
	defer server.Close()
	u := strings.Replace(server.URL, "//", "//ann:SECRET-password@", 1) + "/agent" + query
	agent := client.NewHTTP(u, &client.HTTPOptions{Debug: log, Header: http.Header{
		"Authorization": {"Bearer SECRET-bearer"}, "Cookie": {"sid=SECRET-sid"}, "X-Api-Key": {"SECRET-key"}, "X-Whatever": {"SECRET-whatever"}, "User-Agent": {"test"},
	}})
	s := client.NewSession(agent, &client.SessionOptions{ThreadID: "t", Debug: log, OnWarning: func(event.Warning) {}})
	defer s.Close()
	turn, err := s.Start(t.Context(), nil)
	require.NoError(t, err)
	res, err := turn.Wait(t.Context())
	require.NoError(t, turn.Stop(t.Context())) // the stream is closed, too
	require.Equal(t, res.Err, err)
	return err
}

func TestDebugLogByCategory(t *testing.T) {
	var out debugged
	require.NoError(t, debugRun(t, debugStream, client.NewDebugLog(out.logger()), "?token=SECRET-token&x"))
	lines := func(c client.DebugCategory, key string) []string { return spoken(out.lines(t, c), key) }
	assert.Equal(t, []string{"input t"}, lines(client.DebugInput, "thread"))
	assert.Equal(t, []string{"request", "answer", "end"}, lines(client.DebugTransport, ""))
	assert.Equal(t, []string{
		"frame RUN_STARTED", "frame THINKING_START", "frame THINKING_END", "frame TEXT_MESSAGE_CHUNK", "frame FUTURE", "frame RUN_FINISHED",
	}, lines(client.DebugFrames, "type"))
	assert.Equal(t, []string{"converted THINKING_START", "converted THINKING_END"}, lines(client.DebugUpgrade, "type"))
	assert.Equal(t, []string{"expanded TEXT_MESSAGE_START", "expanded TEXT_MESSAGE_CONTENT", "closed TEXT_MESSAGE_END"}, append(
		lines(client.DebugChunks, "into")[:2], spoken(out.lines(t, client.DebugChunks)[2:], "with")...))
	assert.Equal(t, []string{
		"accepted RUN_STARTED", "accepted REASONING_START", "accepted REASONING_END", "accepted TEXT_MESSAGE_START", "accepted TEXT_MESSAGE_CONTENT",
		"tolerated FUTURE", "dropped FUTURE", "accepted TEXT_MESSAGE_END", "accepted RUN_FINISHED",
	}, lines(client.DebugVerify, "type"))
	assert.Equal(t, []string{
		"changed runBegan", "changed unchanged", "changed unchanged", "changed messageAdded", "changed textAppended", "changed messageClosed", "changed runEnded",
	}, lines(client.DebugFold, "change"))
	assert.Equal(t, []string{"turn begins", "stream begins", "stream ends", "turn ends"}, sortedPairs(lines(client.DebugSession, "")))
	for _, l := range out.lines(t, client.DebugFold) {
		assert.Equal(t, "t", l["thread"])
	}
}

// sortedPairs puts the end of the turn last: it does not wait for that of the stream.
func sortedPairs(lines []string) []string {
	if i := slices.Index(lines, "turn ends"); i >= 0 {
		return append(slices.Delete(lines, i, i+1), "turn ends")
	}
	return lines
}

func TestDebugLogHasOnlyItsCategories(t *testing.T) {
	for _, c := range client.DebugCategories() {
		t.Run(string(c), func(t *testing.T) {
			var out debugged
			require.NoError(t, debugRun(t, debugStream, client.NewDebugLog(out.logger(), c), ""))
			assert.NotEmpty(t, out.lines(t, c))
			for _, other := range client.DebugCategories() {
				if other != c {
					assert.Empty(t, out.lines(t, other), "%s", other)
				}
			}
		})
	}
}

func TestDebugLogHidesSecrets(t *testing.T) {
	var out debugged
	require.NoError(t, debugRun(t, debugStream, client.NewDebugLog(out.logger()), "?token=SECRET-token&SECRET-alone&a=SECRET-a"))
	text := out.String()
	assert.NotContains(t, text, "SECRET")
	request := out.lines(t, client.DebugTransport)[0]
	assert.Regexp(t, `^http://\[redacted\]@127\.0\.0\.1:\d+/agent\?token=\[redacted\]&\[redacted\]&a=\[redacted\]$`, request["url"])
	header := request["header"].(map[string]any)
	assert.Equal(t, "[redacted]", header["Authorization"])
	assert.Equal(t, "[redacted]", header["X-Api-Key"])
	assert.Equal(t, "[redacted]", header["X-Whatever"])
	assert.Equal(t, "text/event-stream", header["Accept"])
	assert.Equal(t, "test", header["User-Agent"])
	answer := out.lines(t, client.DebugTransport)[1]
	assert.Equal(t, "[redacted]", answer["header"].(map[string]any)["Set-Cookie"])
	assert.Equal(t, 200.0, answer["status"])
}

// Errors that name where they come from do not name secrets either.
func TestDebugLogHidesSecretsInErrors(t *testing.T) {
	var out debugged
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "/login?next=SECRET-next")
		w.WriteHeader(http.StatusFound)
	}))
	defer server.Close()
	agent := client.NewHTTP(server.URL+"/?key=SECRET-key", &client.HTTPOptions{Debug: client.NewDebugLog(out.logger())})
	for _, err := range agent.Run(t.Context(), event.RunInput{ThreadID: "t", RunID: "r"}) {
		require.Error(t, err)
	}
	lines := out.lines(t, client.DebugTransport)
	require.Len(t, lines, 3)
	assert.Contains(t, lines[2]["error"], "302")
	assert.NotContains(t, out.String(), "SECRET")
}

func TestDebugLogShowsWhyAStreamIsRejected(t *testing.T) {
	var out debugged
	err := debugRun(t, "data: {\"type\":\"RUN_STARTED\",\"threadId\":\"t\",\"runId\":\"r\"}\n\ndata: {\"type\":\"TEXT_MESSAGE_END\",\"messageId\":\"m\"}\n\n", client.NewDebugLog(out.logger(), client.DebugVerify), "")
	require.ErrorIs(t, err, client.ErrRejected)
	lines := out.lines(t, client.DebugVerify)
	assert.Equal(t, []string{"accepted RUN_STARTED", "rejected TEXT_MESSAGE_END"}, spoken(lines, "type"))
	assert.Contains(t, lines[1]["error"], "P-VER-2")
}

// What an agent says cannot break a line of the log, and is cut.
func TestDebugLogOfHostileFrames(t *testing.T) {
	var out bytes.Buffer
	l := client.NewDebugLog(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})), client.DebugFrames)
	f, err := event.NewFrame([]byte("{\"type\":\"A\x7f\u202e\",\"x\":\"" + strings.Repeat("x", 10_000) + "\"}"))
	require.NoError(t, err)
	l.Frame(1, f)
	l.Frame(2, event.Undecodable([]byte("\x1b[2J\n\xff"), "why"))
	l.Frame(3, event.Notice())
	text := out.String()
	assert.Equal(t, 3, strings.Count(text, "\n"))
	assert.Less(t, len(text), 1500)
	assert.NotContains(t, text, "\x1b")
	assert.NotContains(t, text, "\u202e")
	assert.NotContains(t, text, "\x7f")
	assert.Contains(t, text, "P-PB-3")
}

func TestParseDebugCategories(t *testing.T) {
	for list, want := range map[string][]client.DebugCategory{
		"":                {},
		" chunks, verify": {client.DebugChunks, client.DebugVerify},
		"all":             client.DebugCategories(),
		"fold,all":        client.DebugCategories(),
	} {
		got, err := client.ParseDebugCategories(list)
		require.NoError(t, err)
		assert.ElementsMatch(t, want, got, list)
	}
	_, err := client.ParseDebugCategories("chunks,verfy")
	assert.EqualError(t, err, `"verfy" is not a category of the debug log; want all, or some of input, transport, frames, upgrade, chunks, verify, fold, session`)
}

// A log whose logger does not want lines of level Debug says nothing, and neither does none.
func TestDebugLogThatIsOff(t *testing.T) {
	var out debugged
	l := client.NewDebugLog(slog.New(slog.NewJSONHandler(&out, nil)))
	require.NoError(t, debugRun(t, debugStream, l, ""))
	require.NoError(t, debugRun(t, debugStream, nil, ""))
	assert.Empty(t, out.String())
	var none *client.DebugLog
	ev := &event.TextMessageContent{MessageID: "m"}
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		none.Frame(1, ev)
		none.Deliver(ev, reducer.Delivery{Event: ev}, nil)
	}))
}

// Tools are in the category session.
func TestDebugLogOfTools(t *testing.T) {
	var out debugged
	agent := client.Emit(func(_ context.Context, in event.RunInput, emit func(...event.Event) error) error {
		if len(in.Messages) > 1 {
			return emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID}, &event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID})
		}
		return emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID}, &event.ToolCallStart{ToolCallID: "c", ToolCallName: "f"},
			&event.ToolCallEnd{ToolCallID: "c"}, &event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID})
	})
	tool := client.NewTool("f", "", func(context.Context, struct{}) (any, error) { return nil, errors.New("no luck") })
	s := client.NewSession(agent, &client.SessionOptions{Tools: []client.Tool{tool}, Debug: client.NewDebugLog(out.logger(), client.DebugSession)})
	defer s.Close()
	_, err := s.Send(t.Context(), messages.UserText("go"))
	require.NoError(t, err)
	lines := out.lines(t, client.DebugSession)
	i := slices.IndexFunc(lines, func(l map[string]any) bool { return l["msg"] == "tool ends" })
	require.Positive(t, i)
	assert.Equal(t, "c", lines[i]["call"])
	assert.Equal(t, "no luck", lines[i]["error"])
	assert.Equal(t, "f", lines[slices.IndexFunc(lines, func(l map[string]any) bool { return l["msg"] == "tool begins" })]["name"])
}

// BenchmarkDebugLog folds a streamed text, one event an operation: without any mention of a debug log, with one that is off, which
// is to cost the same, and with one that is on and discarded.
func BenchmarkDebugLog(b *testing.B) {
	ev := &event.TextMessageContent{MessageID: "m", Delta: "token "}
	fold := func(b *testing.B, each func(d reducer.Delivery, err error)) {
		r := reducer.New(nil)
		for _, ev := range []event.Event{&event.RunStarted{ThreadID: "t", RunID: "r"}, &event.TextMessageStart{MessageID: "m"}} {
			require.NoError(b, r.Apply(ev))
		}
		b.ReportAllocs()
		for b.Loop() {
			for d, err := range r.Deliver(ev) {
				each(d, err)
			}
		}
	}
	on := client.NewDebugLog(slog.New(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelDebug})))
	var off *client.DebugLog
	b.Run("none", func(b *testing.B) { fold(b, func(reducer.Delivery, error) {}) })
	b.Run("off", func(b *testing.B) { fold(b, func(d reducer.Delivery, err error) { off.Deliver(ev, d, err) }) })
	b.Run("on", func(b *testing.B) { fold(b, func(d reducer.Delivery, err error) { on.Deliver(ev, d, err) }) })
}

// Errors of agents and tools lose what is secret in a URL, whichever category logs them.
func TestDebugLogOfErrorsWithURLs(t *testing.T) {
	var out debugged
	agent := client.AgentFunc(func(context.Context, event.RunInput) iter.Seq2[event.Event, error] {
		return func(yield func(event.Event, error) bool) {
			yield(nil, errors.New(`Get "https://ann:SECRET-password@host.example/x?key=SECRET-key": refused`))
		}
	})
	s := client.NewSession(agent, &client.SessionOptions{ThreadID: "t", Debug: client.NewDebugLog(out.logger()), OnWarning: func(event.Warning) {}})
	defer s.Close()
	_, err := s.Send(t.Context(), messages.UserText("Hello"))
	require.ErrorContains(t, err, "SECRET-key")
	out.mu.Lock()
	text := out.Buffer.String()
	out.mu.Unlock()
	assert.Contains(t, text, "host.example")
	assert.NotContains(t, text, "SECRET")
}
