package reducer_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/agfold/agfold/chunks"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stored returns the thread as it is once it was stored and loaded.
func stored(t testing.TB, th *reducer.Thread) *reducer.Thread {
	t.Helper()
	text := th.AppendJSON(nil)
	var loaded reducer.Thread
	require.NoError(t, loaded.UnmarshalJSON(text), "%s", text)
	require.Equal(t, string(text), string(loaded.AppendJSON(nil)))
	return &loaded
}

// checkStored continues with a thread and with the same thread once it was stored, and finds no difference. That
// somebody set the state to {} is not stored, so the thread forgets it too.
func checkStored(t testing.TB, th *reducer.Thread, rest []event.Event) {
	loaded := stored(t, th)
	checkThread(t, loaded)
	if th.State.String() == "{}" {
		th = &reducer.Thread{
			ID: th.ID, Revision: th.Revision, Messages: th.Messages, State: th.State, Runs: th.Runs,
			Subagents: th.Subagents, Interrupts: th.Interrupts,
		}
	}
	one := foldWith(rest, reducer.Options{Thread: th}, nil)
	other := foldWith(rest, reducer.Options{Thread: loaded}, nil)
	require.Equal(t, one.thread, other.thread)
	require.Equal(t, one.deliveries, other.deliveries)
	require.Equal(t, one.warnings, other.warnings)
	require.Equal(t, one.err, other.err)
}

func TestStoredGoldenThreads(t *testing.T) {
	files, err := filepath.Glob("../testdata/*.golden.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			var th reducer.Thread
			require.NoError(t, th.UnmarshalJSON(text))
			want, err := state.Parse(text)
			require.NoError(t, err)
			assert.Equal(t, want.Without("warnings").String(), string(th.AppendJSON(nil)))
			stored(t, &th)
		})
	}
}

func TestStoredThread(t *testing.T) {
	t.Run("the empty thread", func(t *testing.T) {
		th := stored(t, &reducer.Thread{})
		assert.Equal(t, reducer.Empty, th.Status())
		assert.Nil(t, th.Interrupts)
	})
	t.Run("all that a run can have", func(t *testing.T) {
		p := play(t, `run r + {"parentRunId":"","protocolVersion":"1.0","metadata":{"a":null}}`+
			` | step @s1 _ | endstep @s1 _ | step b | endstep b | call c1 f | args c1 {} | endcall c1 | call c2 f | endcall c2 | result t1 c1 ok`+
			` | done r + {"result":{"n":1e2},"usage":[{"model":"m","inputTokens":0}],"outcome":{"type":"success","pendingToolCallIds":["c2"]},"metadata":{"b":9007199254740993}}`, nil)
		require.NoError(t, p.err)
		th := stored(t, p.th)
		assert.Equal(t, p.th.Status(), th.Status())
		assert.Equal(t, []string{"c2"}, th.PendingToolCallIDs())
		assert.Equal(t, p.th.Usage(), th.Usage())
		assert.Equal(t, p.th.Revision, th.Revision)
		assert.Equal(t, show(p.th), show(th), "statuses of calls too")
		assert.Equal(t, p.th.LastRun().Steps.Slice(), th.LastRun().Steps.Slice())
	})
	t.Run("interrupts pend again", func(t *testing.T) {
		p := play(t, `run | done + {"outcome":{"type":"interrupt","interrupts":[{"id":"i1","reason":"ask","expiresAt":"2030-01-01","responseSchema":{},"subagentRunId":"s"}]}}`, nil)
		require.NoError(t, p.err)
		th := stored(t, p.th)
		assert.Equal(t, p.th.Interrupts, th.Interrupts)
		assert.Equal(t, p.th.LastRun().Outcome, th.LastRun().Outcome)
	})
	t.Run("P-TOL-5 P-TXT-3 what is unfinished", func(t *testing.T) {
		p := play(t, `run | text m1 | say m1 a | call c1 f m1 | args c1 {"a | call c2 f m1 | result t2 c2 ok | text m2 | endtext m2`, nil)
		th := stored(t, p.th)
		assert.Equal(t, `assistant m1 "a" [c1 f({"a) streaming] [c2 f() answered] | tool t2 ->c2 "ok" | assistant m2 ""`, show(th))
		assert.Equal(t, "m1", showStreaming(th), "a run that continues")
		assert.Contains(t, string(th.AppendJSON(nil)), `,"unfinished":[{"index":0,"messageId":"m1","text":"streaming","toolCalls":[{"index":0,"toolCallId":"c1","status":"streaming"}]}]}`)
		for _, ended := range []*reducer.Thread{stored(t, th.BreakOff(nil)), stored(t, p.r.End(nil))} {
			assert.Equal(t, `assistant m1 "a" [c1 f({"a) broken] [c2 f() answered] | tool t2 ->c2 "ok" | assistant m2 ""`, show(ended))
			assert.Equal(t, "m1", showCut(ended))
			assert.Contains(t, string(ended.AppendJSON(nil)), `,"unfinished":[{"index":0,"messageId":"m1","text":"cut","toolCalls":[{"index":0,"toolCallId":"c1","status":"broken"}]}]}`)
		}
	})
	t.Run("P-RUN-1 nothing is still arriving in a run that has ended", func(t *testing.T) {
		text := string(play(t, `run | text m1 | call c1 f m1`, nil).r.End(nil).AppendJSON(nil))
		text = strings.NewReplacer(`"cut"`, `"streaming"`, `"broken"`, `"streaming"`).Replace(text)
		var th reducer.Thread
		require.NoError(t, th.UnmarshalJSON([]byte(text)))
		assert.Equal(t, `assistant m1 "" [c1 f() broken]`, show(&th))
		assert.Equal(t, "m1", showCut(&th))
	})
	t.Run("P-RUN-1 how a run ended differs as a value", func(t *testing.T) {
		for _, r := range []struct {
			script string
			cause  error
			want   reducer.Status
			is     error
			text   string
		}{
			{"run", reducer.ErrStopped, reducer.Stopped, reducer.ErrStopped, "the run was stopped"},
			{"", reducer.ErrStopped, reducer.Stopped, reducer.ErrStopped, "the run was stopped"},
			{"run", fmt.Errorf("%w by the user", reducer.ErrStopped), reducer.Stopped, reducer.ErrStopped, "the run was stopped by the user"},
			{"", errors.New("401"), reducer.Unstarted, nil, "401"},
			{"run", errors.New("reset"), reducer.Truncated, reducer.ErrTruncated, "the stream ended before the run did: reset"},
		} {
			th := stored(t, play(t, r.script, nil).r.End(r.cause))
			assert.Equal(t, r.want, th.Status())
			assert.EqualError(t, th.Err(), r.text)
			for _, kind := range []error{reducer.ErrStopped, reducer.ErrTruncated} {
				assert.Equal(t, kind == r.is, errors.Is(th.Err(), kind), "%v", th.Err())
			}
		}
	})
	for _, r := range []struct{ name, before, want string }{
		{"D-7 a thread without state takes the input's", "run | done", `{"in":1}`},
		{"D-7 so does one whose agent set {}, which looks the same", "run | state {} | done", `{"in":1}`},
		{"D-7 a thread with a state keeps it", `run | state {"a":1} | done`, `{"a":1}`},
		{"D-7 null is a state", "run | state null | done", `null`},
	} {
		t.Run(r.name, func(t *testing.T) {
			next := reducer.New(&reducer.Options{Thread: stored(t, play(t, r.before, nil).th)})
			apply(t, next, parse(t, `run b + {"input":{"threadId":"t","runId":"b","messages":[],"state":{"in":1},"tools":[],"context":[]}}`)...)
			assert.Equal(t, r.want, next.Thread().State.String())
		})
	}
}

func TestStoredErrors(t *testing.T) {
	malformed := &messages.MalformedError{Rule: "P-PIPE-2", Path: "/a", Want: "x, found y", Found: "z"}
	for _, r := range []struct {
		name, script string
		end          error
		check        func(t *testing.T, err error)
	}{
		{"a run that failed", `run | fail no + {"code":""}`, nil, func(t *testing.T, err error) {
			assert.Equal(t, &reducer.AgentError{Message: "no", Code: messages.Some("")}, err)
		}},
		{"a violation", "run | say m1 x", nil, func(t *testing.T, err error) {
			var v *reducer.Violation
			require.ErrorAs(t, err, &v)
			assert.Equal(t, &reducer.Violation{
				Rule: "P-VER-2", Ordinal: 2, Type: event.TypeTextMessageContent, ID: "m1", Reason: `the text message "m1" is not open`,
			}, v)
		}},
		{"a violation that expansion found", `run | chunk`, nil, func(t *testing.T, err error) {
			require.ErrorAs(t, err, new(*reducer.Violation))
			var inside *chunks.Error
			assert.False(t, errors.As(err, &inside), "what lies further down is not stored")
		}},
		{"a malformed event", `run | {"type":"STEP_STARTED","stepName":null}`, nil, func(t *testing.T, err error) {
			require.ErrorAs(t, err, new(*messages.MalformedError))
			assert.Equal(t, &messages.MalformedError{
				Rule: "P-ENF-4", Ordinal: 2, Type: "STEP_STARTED", Path: "/stepName", Want: "a string", Found: "null",
			}, err)
		}},
		{"a stream that was cut off", "run", nil, func(t *testing.T, err error) {
			require.ErrorIs(t, err, reducer.ErrTruncated)
			assert.NotErrorAs(t, err, new(*messages.MalformedError))
		}},
		{"a stream that was cut off for a reason", "run", errors.New("connection reset"), func(t *testing.T, err error) {
			require.ErrorIs(t, err, reducer.ErrTruncated)
			assert.ErrorContains(t, err, "connection reset")
		}},
		{"a stream that was cut off at data that is not an event", "run", malformed, func(t *testing.T, err error) {
			require.ErrorIs(t, err, reducer.ErrTruncated)
			require.ErrorAs(t, err, new(*messages.MalformedError))
		}},
	} {
		t.Run(r.name, func(t *testing.T) {
			p := play(t, r.script, nil)
			th := p.r.End(r.end)
			require.Error(t, th.Err())
			once := stored(t, th)
			r.check(t, once.Err())
			assert.Equal(t, th.Err().Error(), once.Err().Error())
			assert.Equal(t, th.Err().Error(), stored(t, once).Err().Error())
			assert.Equal(t, th.Status(), once.Status())
		})
	}
}

func TestStoredSubagents(t *testing.T) {
	child := func(of string) string { return ` + {"parentSubagentRunId":"` + of + `"}` }
	suspend := func(id string) string { return "endsub " + id + ` + {"outcome":{"type":"suspended"}}` }
	p := play(t, "run | sub x n | "+suspend("x")+" | sub s n | endsub s | done"+
		" | run b | sub x n | sub s again"+child("x")+" | "+suspend("s")+" | "+suspend("x")+" | patch @tag [] | sub last n | failsub last no | done b", nil)
	require.NoError(t, p.err)
	th := stored(t, p.th)
	tree := "x n suspended b | .s again suspended b | s n succeeded r | tag ? succeeded b | last n failed b"
	require.Equal(t, tree, showTree(p.th))
	assert.Equal(t, tree, showTree(th))
	assert.Equal(t, "again", th.Subagents.Find(messages.SubagentOwner("s")).Name, "the later run's is the latest")
	var names []string
	for n := range th.Subagents.Children(th.Subagents.Find(messages.SubagentOwner("x"))) {
		names = append(names, n.Name)
	}
	assert.Equal(t, []string{"again"}, names)
	assert.Equal(t, &reducer.AgentError{Message: "no"}, th.Subagents.Find(messages.SubagentOwner("last")).Err)
	for _, from := range []*reducer.Thread{p.th, th} {
		next := play(t, "run c | sub s back", &reducer.Options{Thread: from})
		assert.Equal(t, strings.Replace(tree, ".s again suspended b", ".s back running c", 1), showTree(next.th), "it comes back where it was")
	}
}

func TestThreadMalformed(t *testing.T) {
	const whole = `{"threadId":"t","revision":3,"status":"succeeded","messages":[{"id":"m","role":"user","content":"hi"}],"state":{},` +
		`"runs":[{"runId":"r","status":"succeeded","outcome":{"type":"success"},"usage":[{"inputTokens":1}],"steps":[{"stepName":"s","finished":true}]}],` +
		`"subagents":[{"subagentRunId":"a","depth":0,"announced":false,"status":"succeeded","runId":"r"}],` +
		`"interrupts":[{"id":"i","reason":"ask"}],"pendingToolCallIds":[]}`
	var th reducer.Thread
	require.NoError(t, th.UnmarshalJSON([]byte(whole)))
	require.Equal(t, whole, string(th.AppendJSON(nil)))
	for _, r := range []struct{ name, old, new, rule, path, want, found string }{
		{"a member is missing", `"threadId":"t",`, ``, "P-ENF-4", "/threadId", "a string", "nothing"},
		{"a list is missing", `"subagents"`, `"others"`, "P-ENF-4", "/subagents", "an array", "nothing"},
		{"the state is missing", `"state":{},`, ``, "P-ENF-4", "/state", "any JSON value", "nothing"},
		{"the revision is missing", `"revision":3,`, ``, "P-ENF-4", "/revision", "a non-negative integer up to 2^53-1", "nothing"},
		{"the revision is negative", `"revision":3`, `"revision":-3`, "P-ENF-4", "/revision", "a non-negative integer up to 2^53-1 or no such member", "number -3"},
		{"the status is not the last run's", `3,"status":"succeeded"`, `3,"status":"failed"`, "P-ENF-4", "/status", `the status of the last run, "succeeded"`, `"failed"`},
		{"a run without a thread's status", `3,"status":"succeeded"`, `3,"status":"empty"`, "P-ENF-4", "/status", `the status of the last run, "succeeded"`, `"empty"`},
		{"a message is malformed", `"content":"hi"`, `"content":7`, "P-ENF-4", "/messages/0/content", "a string or an array of content parts", "number 7"},
		{"a message has an unknown role", `"user"`, `"narrator"`, "P-ENF-3", "/messages/0", "only what AG-UI 1.0 describes", `unrecognized material: /role is "narrator", which is not recognized`},
		{"a status is unknown", `"r","status":"succeeded"`, `"r","status":"paused"`, "P-ENF-5", "/runs/0", "only what AG-UI 1.0 describes", `unrecognized material: /status is "paused", which is not recognized`},
		{"an outcome is malformed", `{"type":"success"}`, `{"type":"success","pendingToolCallIds":[7]}`, "P-ENF-4", "/runs/0/outcome/pendingToolCallIds/0", "a string", "number 7"},
		{"an outcome is unknown", `{"type":"success"}`, `{"type":"paused"}`, "P-ENF-4", "/runs/0/outcome", "only what AG-UI 1.0 describes", `unrecognized material: /type is "paused", which is not recognized`},
		{"usage is malformed", `"inputTokens":1`, `"inputTokens":0.5`, "P-ENF-4", "/runs/0/usage/0/inputTokens", "a non-negative integer up to 2^53-1 or no such member", "number 0.5"},
		{"a step is malformed", `"finished":true`, `"finished":1`, "P-ENF-4", "/runs/0/steps/0/finished", "a boolean or no such member", "number 1"},
		{"a step lacks a member", `,"finished":true`, ``, "P-ENF-4", "/runs/0/steps/0/finished", "a boolean", "nothing"},
		{"an error of an unknown kind", `"outcome"`, `"error":{"kind":"odd","message":""},"outcome"`, "P-ENF-3", "/runs/0/error", "only what AG-UI 1.0 describes", `unrecognized material: /kind is "odd", which is not recognized`},
		{"an error without ordinal", `"outcome"`, `"error":{"kind":"protocol","message":"","rule":"","type":"","id":""},"outcome"`, "P-ENF-4", "/runs/0/error/ordinal", "a non-negative integer up to 2^53-1", "nothing"},
		{"a subagent hangs in the air", `"depth":0`, `"depth":1`, "P-ENF-4", "/subagents/0/depth", "at most 0", "1"},
		{"a subagent hangs higher than an int of 32 bits", `"depth":0`, `"depth":2147483648`, "P-ENF-4", "/subagents/0/depth", "at most 0", "2147483648"},
		{"an announced subagent has a name", `"announced":false`, `"announced":true`, "P-ENF-4", "/subagents/0/name", "a string", "nothing"},
		{"a subagent's status is unknown", `"announced":false,"status":"succeeded"`, `"announced":false,"status":"lost"`, "P-ENF-5", "/subagents/0", "only what AG-UI 1.0 describes", `unrecognized material: /status is "lost", which is not recognized`},
		{"an interrupt is malformed", `"reason":"ask"`, `"reason":null`, "P-ENF-4", "/interrupts/0/reason", "a string", "null"},
	} {
		t.Run(r.name, func(t *testing.T) {
			require.Equal(t, 1, strings.Count(whole, r.old))
			got := th
			err := got.UnmarshalJSON([]byte(strings.Replace(whole, r.old, r.new, 1)))
			assert.Equal(t, &messages.MalformedError{Rule: r.rule, Type: "Thread", Path: r.path, Want: r.want, Found: r.found}, err)
			assert.Equal(t, whole, string(got.AppendJSON(nil)), "the thread stays as it was")
		})
	}
	t.Run("an ordinal is not cut off", func(t *testing.T) {
		text := strings.Replace(whole, `"outcome"`, `"error":{"kind":"protocol","message":"","rule":"","ordinal":4294967297,"type":"","id":""},"outcome"`, 1)
		got := th
		err := got.UnmarshalJSON([]byte(text))
		if strconv.IntSize == 64 {
			require.NoError(t, err)
			return
		}
		assert.Equal(t, &messages.MalformedError{
			Rule: "P-ENF-4", Type: "Thread", Path: "/runs/0/error/ordinal", Want: "at most 2147483647", Found: "4294967297",
		}, err)
	})
	t.Run("it is not an object", func(t *testing.T) {
		err := new(reducer.Thread).UnmarshalJSON([]byte("null"))
		assert.Equal(t, &messages.MalformedError{Rule: "P-ENF-4", Type: "Thread", Want: "an object", Found: "null"}, err)
	})
	t.Run("it is not JSON", func(t *testing.T) {
		var syntax *state.SyntaxError
		assert.ErrorAs(t, new(reducer.Thread).UnmarshalJSON([]byte(whole[1:])), &syntax)
	})
	t.Run("members that are not known are left out", func(t *testing.T) {
		more := strings.ReplaceAll(whole, `{"`, `{"new":{"x":[]},"`)
		var got reducer.Thread
		require.NoError(t, got.UnmarshalJSON([]byte(more)))
		assert.Equal(t, whole, string(got.AppendJSON(nil)))
	})
	t.Run("an error that somebody else worded", func(t *testing.T) {
		text := strings.Replace(whole, `"outcome"`, `"error":{"kind":"malformed","message":"odd","rule":"P","ordinal":1,"type":"T","path":"/p"},"outcome"`, 1)
		var got reducer.Thread
		require.NoError(t, got.UnmarshalJSON([]byte(text)))
		assert.ErrorAs(t, got.Err(), new(*messages.MalformedError))
		assert.Equal(t, "P event 1 T /p: want odd, found ", got.Err().Error())
		assert.Equal(t, got.Err().Error(), stored(t, &got).Err().Error())
	})
	t.Run("of calls with one id all are answered", func(t *testing.T) {
		text := strings.Replace(whole, `{"id":"m","role":"user","content":"hi"}`,
			`{"id":"m","role":"assistant","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":""}},{"id":"d","type":"function","function":{"name":"f","arguments":""}}]},`+
				`{"id":"m2","role":"tool","toolCallId":"c","content":""}`, 1)
		var got reducer.Thread
		require.NoError(t, got.UnmarshalJSON([]byte(text)))
		calls := got.Messages.At(0).ToolCalls
		assert.Equal(t, messages.ToolCallAnswered, calls.At(0).Status)
		assert.Equal(t, messages.ToolCallComplete, calls.At(1).Status)
	})
}
