package reducer_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRunStatus(t *testing.T) {
	const interrupted = `done + {"outcome":{"type":"interrupt","interrupts":[{"id":"i1","reason":"ask"}]}}`
	for _, r := range []struct {
		name, script string
		want         reducer.Status
	}{
		{"P-RUN-1 no run", "", reducer.Empty},
		{"P-RUN-1 running", "run", reducer.Running},
		{"P-RUN-1 succeeded without outcome", "run | done", reducer.Succeeded},
		{"P-RUN-1 succeeded with outcome", `run | done + {"outcome":{"type":"success"}}`, reducer.Succeeded},
		{"P-RUN-1 interrupted", "run | " + interrupted, reducer.Interrupted},
		{"P-RUN-1 cancelled", `run | done + {"outcome":{"type":"cancelled"}}`, reducer.Cancelled},
		{"P-RUN-1 failed", "run | fail x", reducer.Failed},
		{"P-RUN-1 failed after RUN_FINISHED", "run | done | fail x", reducer.Failed},
		{"P-RUN-1 failed after an interrupt", "run | " + interrupted + " | fail x", reducer.Failed},
		{"P-RUN-1 failed before RUN_STARTED", "fail x", reducer.Failed},
		{"P-RUN-1 rejected by a violation", "run | run", reducer.Rejected},
		{"P-RUN-1 rejected by a malformed event", "run | {\"type\":\"CUSTOM\"}", reducer.Rejected},
		{"P-RUN-1 rejected before RUN_STARTED", "custom n", reducer.Rejected},
		{"P-RUN-1 rejected after RUN_FINISHED", "run | done | custom n", reducer.Rejected},
		{"P-ENF-3 an unrecognized outcome is success", `run | done + {"outcome":{"type":"new"}}`, reducer.Succeeded},
	} {
		t.Run(r.name, func(t *testing.T) {
			p := play(t, r.script, nil)
			assert.Equal(t, r.want, p.th.Status())
			th := p.r.End(nil)
			if r.want == reducer.Running {
				assert.Equal(t, reducer.Truncated, th.Status(), "D-10")
				assert.ErrorIs(t, th.Err(), reducer.ErrTruncated)
				assert.Empty(t, th.LastRun().Outcome.Type)
			} else {
				assert.Equal(t, r.want, th.Status())
			}
		})
	}
}

func TestRunRecord(t *testing.T) {
	p := play(t, `run r1 + {"parentRunId":"r0","protocolVersion":"1.0"} | call c1 f | endcall c1 | step a | endstep a | done r1 + {"result":{"n":1},"usage":[{"model":"m","inputTokens":3}],"outcome":{"type":"success"}} | fail late + {"code":"E9"}`, nil)
	require.NoError(t, p.err)
	run := p.th.LastRun()
	assert.Equal(t, "r1", run.ID)
	assert.Equal(t, messages.Some("r0"), run.ParentRunID)
	assert.Equal(t, messages.Some("1.0"), run.ProtocolVersion)
	assert.Equal(t, `{"n":1}`, run.Result.String(), "P-RUN-1 a late RUN_ERROR keeps the result")
	assert.Equal(t, event.OutcomeSuccess, run.Outcome.Type, "and the outcome")
	assert.Len(t, run.Usage, 1, "and the usage, if it has none itself")
	assert.Equal(t, []string{"c1"}, run.PendingToolCallIDs)
	assert.Equal(t, 1, run.Steps.Len())
	assert.Equal(t, &reducer.AgentError{Message: "late", Code: messages.Some("E9")}, run.Err)
	assert.Equal(t, run.Err, p.th.Err())
	assert.EqualError(t, run.Err, "agent failed: late (E9)")

	t.Run("P-RUN-1 usage of RUN_ERROR", func(t *testing.T) {
		p := play(t, `run | fail x + {"usage":[{"model":"m","inputTokens":5}]} | run b | done b + {"usage":[{"model":"m","inputTokens":2}]}`, nil)
		usage := p.th.Usage()
		require.Len(t, usage, 1)
		assert.Equal(t, messages.Some(int64(7)), usage[0].InputTokens)
	})
	t.Run("P-RUN-1 a run without result", func(t *testing.T) {
		assert.False(t, play(t, "run | done", nil).th.LastRun().Result.Exists())
	})
	t.Run("the thread's id is the first one received", func(t *testing.T) {
		p := play(t, `{"type":"RUN_STARTED","threadId":"t1","runId":"a"} | done | {"type":"RUN_STARTED","threadId":"t2","runId":"b"}`, nil)
		assert.Equal(t, "t1", p.th.ID)
	})
}

func TestInterrupts(t *testing.T) {
	const interrupted = `done + {"outcome":{"type":"interrupt","interrupts":[{"id":"i1","reason":"ask"},{"id":"i2","reason":"ask"}]}}`
	for _, r := range []struct {
		name, script string
		want         int
	}{
		{"P-RUN-3 they pend from an interrupted run", "run | " + interrupted, 2},
		{"P-RUN-3 while the next run continues", "run | " + interrupted + " | run b", 2},
		{"P-RUN-3 until it finishes", "run | " + interrupted + " | run b | done b", 0},
		{"P-RUN-3 or is cancelled", "run | " + interrupted + ` | run b | done b + {"outcome":{"type":"cancelled"}}`, 0},
		{"P-RUN-3 another interrupt takes their place", "run | " + interrupted + ` | run b | done b + {"outcome":{"type":"interrupt","interrupts":[{"id":"i3","reason":"ask"}]}}`, 1},
		{"P-RUN-3 a failed run leaves them", "run | " + interrupted + " | run b | fail x", 2},
		{"P-RUN-3 a rejected run leaves them", "run | " + interrupted + " | run b | run c", 2},
		{"P-RUN-3 a late error leaves them", "run | " + interrupted + " | fail x", 2},
	} {
		t.Run(r.name, func(t *testing.T) {
			assert.Len(t, play(t, r.script, nil).th.Interrupts, r.want)
		})
	}
	t.Run("P-RUN-3 messages and state accumulate over runs", func(t *testing.T) {
		p := play(t, `run | text m1 | endtext m1 | state {"a":1} | done | run b | text m2 | endtext m2 | patch [{"op":"add","path":"/b","value":2}] | fail x | run c | text m3`, nil)
		assert.Equal(t, `assistant m1 "" | assistant m2 "" | assistant m3 ""`, show(p.th))
		assert.Equal(t, `{"a":1,"b":2}`, p.th.State.String())
		assert.Equal(t, 3, p.th.Runs.Len())
	})
}

func TestRetiredInterrupts(t *testing.T) {
	interrupted := func(run string, ids ...string) string {
		var list []string
		for _, id := range ids {
			list = append(list, `{"id":"`+id+`","reason":"ask"}`)
		}
		return "done " + run + ` + {"outcome":{"type":"interrupt","interrupts":[` + strings.Join(list, ",") + `]}}`
	}
	resuming := func(ids ...string) event.RunInput {
		in := event.RunInput{ThreadID: "t", RunID: "b"}
		for _, id := range ids {
			in.Resume = append(in.Resume, event.ResumeEntry{InterruptID: id, Status: event.ResumeCancelled})
		}
		return in
	}
	before := "run a | " + interrupted("a", "i1", "i2")
	for _, r := range []struct {
		name, then string
		resume     []string
		retired    []string
		pending    []string
	}{
		{"P-RUN-3 a run that finishes without an answer", "done b", nil, []string{"i1", "i2"}, nil},
		{"P-RUN-3 a run that finishes with all answers", "done b", []string{"i1", "i2"}, nil, nil},
		{"P-RUN-3 a run that finishes with one answer", "done b", []string{"i2"}, []string{"i1"}, nil},
		{"P-RUN-3 a run that is cancelled", `done b + {"outcome":{"type":"cancelled"}}`, nil, []string{"i1", "i2"}, nil},
		{"P-RUN-3 a run that is interrupted by others", interrupted("b", "i2", "i3"), nil, []string{"i1"}, []string{"i2", "i3"}},
		{"P-RUN-3 a run that fails retires none", "fail x", nil, nil, []string{"i1", "i2"}},
	} {
		t.Run(r.name, func(t *testing.T) {
			in := resuming(r.resume...)
			th := play(t, before, nil).th
			known := play(t, "run b | "+r.then, &reducer.Options{Thread: th, Input: &in})
			told := play(t, before+` | run b + {"input":`+string(in.AppendJSON(nil))+`} | `+r.then, nil)
			for name, p := range map[string]played{"the input is known": known, "RUN_STARTED has the input": told} {
				require.NoError(t, p.err)
				var retired, pending []string
				for _, i := range p.th.LastRun().RetiredInterrupts {
					retired = append(retired, i.ID)
				}
				for _, i := range p.th.Interrupts {
					pending = append(pending, i.ID)
				}
				assert.Equal(t, r.retired, retired, name)
				assert.Equal(t, r.pending, pending, name)
				var want []string
				for _, id := range r.retired {
					want = append(want, "P-RUN-3 "+id)
				}
				assert.Equal(t, strings.Join(want, ", "), showWarnings(p.warnings), name)
				stored(t, p.th)
			}
		})
	}
}

func TestRunFinishedNamesItsRun(t *testing.T) {
	runRows(t, []row{
		{name: "P-RUN-1 another run", script: "run a | done b", warnings: "P-RUN-1 /runId"},
		{name: "P-RUN-1 another thread", script: `run a | done a + {"threadId":"u"}`, warnings: "P-RUN-1 /threadId"},
		{name: "P-RUN-1 the thread that RUN_STARTED names, whatever the conversation's own id is", script: "run a | done a", options: &reducer.Options{Thread: &reducer.Thread{ID: "mine"}}},
	})
}

func TestARunThatFailedKeepsItsErrorWhenTheStreamIsRejected(t *testing.T) {
	failed := &reducer.AgentError{Message: "model exploded", Code: messages.Some("E1")}
	for name, then := range map[string]string{
		"P-VER-1 a violation":       "endstep a",
		"P-ENF-4 a malformed event": `{"type":"RUN_STARTED","threadId":7,"runId":"r"}`,
		"P-CHK-2 a chunk":           `{"type":"TEXT_MESSAGE_CHUNK","delta":"x"}`,
	} {
		t.Run(name, func(t *testing.T) {
			p := play(t, `run | step a | fail model exploded + {"code":"E1"} | `+then, nil)
			for what, err := range map[string]error{"the run's error": p.th.Err(), "as it is stored": stored(t, p.th).Err()} {
				found, ok := errors.AsType[*reducer.AgentError](err)
				require.True(t, ok, what)
				assert.Equal(t, failed, found)
				assert.Equal(t, rule(p.err), rule(err), what)
				assert.ErrorContains(t, err, p.err.Error())
				assert.ErrorContains(t, err, "model exploded")
			}
			assert.Equal(t, reducer.Rejected, p.th.Status())
			v, err := state.Parse(p.th.AppendJSON(nil))
			require.NoError(t, err)
			assert.Equal(t, `{"message":"model exploded","code":"E1"}`, v.Get("error").Get("run").String())
			_, ok := errors.AsType[*reducer.AgentError](p.err)
			assert.False(t, ok, "the stream's own error is about the stream")
		})
	}
}

func TestEnd(t *testing.T) {
	cut := errors.New("connection reset")
	input := &reducer.Options{Input: &event.RunInput{ThreadID: "t", RunID: "asked"}}
	for _, r := range []struct {
		name, script string
		options      *reducer.Options
		cause        error
		status       reducer.Status
		truncated    bool
	}{
		{"D-10 a run that continues is truncated", "run", nil, nil, reducer.Truncated, true},
		{"D-10 with the cause", "run", nil, cut, reducer.Truncated, true},
		{"an empty stream without a run", "", nil, nil, reducer.Empty, false},
		{"an empty stream that broke", "", nil, cut, reducer.Unstarted, false},
		{"an empty stream that was cut", "", nil, fmt.Errorf("%w: %w", reducer.ErrTruncated, cut), reducer.Truncated, true},
		{"an event that was dropped is one", `{"type":"NEWS"}`, nil, cut, reducer.Truncated, true},
		{"a run that was asked for and never began", "", input, nil, reducer.Truncated, true},
		{"a run that has finished", "run | done", nil, nil, reducer.Succeeded, false},
		{"a run that had finished when the stream broke", "run | done", nil, cut, reducer.Succeeded, false},
		{"a run that has failed", "run | fail x", nil, cut, reducer.Failed, false},
		{"only the last of several runs", "run | done | run b", nil, nil, reducer.Truncated, true},
	} {
		t.Run(r.name, func(t *testing.T) {
			p := play(t, r.script, r.options)
			revision := p.r.Revision()
			th := p.r.End(r.cause)
			assert.Equal(t, r.status, th.Status())
			assert.Equal(t, r.truncated, errors.Is(p.r.Err(), reducer.ErrTruncated))
			broken := r.truncated || r.status == reducer.Unstarted
			assert.Equal(t, broken && r.cause != nil, errors.Is(p.r.Err(), cut))
			assert.Equal(t, broken, th.Revision > revision)
			assert.Same(t, th, p.r.End(io.EOF), "a second End only returns the thread")
			err := p.r.Apply(&event.RunStarted{})
			assert.ErrorIs(t, err, reducer.ErrFinal)
			assert.Equal(t, r.truncated, errors.Is(err, reducer.ErrTruncated))
		})
	}
	t.Run("the run that never began has the id it was asked with", func(t *testing.T) {
		th := play(t, "", input).r.End(nil)
		assert.Equal(t, "asked", th.LastRun().ID)
		assert.Equal(t, "t", th.ID)
	})
	t.Run("an error before RUN_STARTED has it too", func(t *testing.T) {
		assert.Equal(t, "asked", play(t, "fail x", input).th.LastRun().ID)
	})
	t.Run("a resumed thread gets its own run", func(t *testing.T) {
		before := play(t, "run | done", nil).th
		p := play(t, "custom n", &reducer.Options{Thread: before, Input: input.Input})
		assert.Equal(t, 2, p.th.Runs.Len())
		assert.Equal(t, reducer.Rejected, p.th.Status())
		assert.Equal(t, reducer.Succeeded, before.Status())
		assert.Equal(t, reducer.Succeeded, p.th.Runs.At(0).Status)
	})
}

func TestFoldWholeStreams(t *testing.T) {
	cut := errors.New("connection reset")
	start := &event.RunStarted{ThreadID: "t", RunID: "r"}
	t.Run("a stream in order", func(t *testing.T) {
		th, err := reducer.Fold(reducer.Events(start, &event.RunError{Message: "no"}), nil)
		require.NoError(t, err, "a run's own failure is not an error of the stream")
		assert.Equal(t, reducer.Failed, th.Status())
	})
	t.Run("a stream that breaks the protocol", func(t *testing.T) {
		th, err := reducer.Fold(reducer.Events(start, start, start), nil)
		require.ErrorAs(t, err, new(*reducer.Violation))
		assert.Equal(t, reducer.Rejected, th.Status())
	})
	t.Run("a stream that is cut", func(t *testing.T) {
		th, err := reducer.Fold(func(yield func(event.Event, error) bool) {
			_ = yield(start, nil) && yield(nil, cut)
		}, nil)
		require.ErrorIs(t, err, reducer.ErrTruncated)
		require.ErrorIs(t, err, cut)
		assert.Equal(t, reducer.Truncated, th.Status())
	})
	t.Run("a stream that is cut after its run", func(t *testing.T) {
		th, err := reducer.Fold(func(yield func(event.Event, error) bool) {
			_ = yield(start, nil) && yield(&event.RunFinished{ThreadID: "t", RunID: "r"}, nil) && yield(nil, cut)
		}, nil)
		assert.Equal(t, cut, err)
		assert.Equal(t, reducer.Succeeded, th.Status())
	})
	t.Run("retired shapes are upgraded", func(t *testing.T) {
		th, err := reducer.Fold(reducer.Events(frames([]string{`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`,
			`{"type":"THINKING_START"}`, `{"type":"THINKING_TEXT_MESSAGE_START"}`, `{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"hm"}`,
			`{"type":"THINKING_TEXT_MESSAGE_END"}`, `{"type":"THINKING_END"}`, `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`})...), nil)
		require.NoError(t, err)
		require.Equal(t, 1, th.Messages.Len())
		assert.Equal(t, messages.RoleReasoning, th.Messages.At(0).Role)
		assert.Equal(t, "hm", th.Messages.At(0).Text())
	})
	t.Run("P-CMP-1 the reducer itself gives retired events no effect", func(t *testing.T) {
		r := reducer.New(nil)
		apply(t, r, start)
		delivered, err := deliver(r, frames([]string{`{"type":"THINKING_START"}`})[0])
		require.NoError(t, err)
		require.Len(t, delivered, 1)
		assert.Equal(t, "P-CMP-1", showWarnings(delivered[0].Warnings))
		assert.Equal(t, reducer.Unchanged, delivered[0].Change.Kind)
	})
}

func TestProtocolVersions(t *testing.T) {
	for version, warns := range map[string]bool{
		"1.0": false, "0.9": false, "0.57": false, "0.0": false, "01.00": false,
		"1.1": true, "1.01": true, "2.0": true, "10.0": true, "1.10": true, "99999999999999999999.0": true,
		"1": true, "1.0.0": true, "v1.0": true, "": true, "1.": true, ".0": true, "1.x": true, "-1.0": true, "1 .0": true,
	} {
		t.Run("P-VRS-1 "+version, func(t *testing.T) {
			r := reducer.New(nil)
			delivered, err := deliver(r, &event.RunStarted{ThreadID: "t", RunID: "r", ProtocolVersion: messages.Some(version)})
			require.NoError(t, err, "warn, continue")
			assert.Equal(t, warns, len(delivered[0].Warnings) == 1)
			if warns {
				assert.Equal(t, "P-VRS-1 /protocolVersion", showWarnings(delivered[0].Warnings))
			}
		})
	}
	assert.Empty(t, play(t, "run", nil).warnings, "P-VRS-1 none declared")
}

func TestStatusNames(t *testing.T) {
	for s, want := range map[reducer.Status]string{
		reducer.Empty: "empty", reducer.Running: "running", reducer.Succeeded: "succeeded", reducer.Interrupted: "interrupted",
		reducer.Cancelled: "cancelled", reducer.Failed: "failed", reducer.Rejected: "rejected", reducer.Truncated: "truncated", 99: "unknown",
	} {
		text, err := s.MarshalText()
		require.NoError(t, err)
		assert.Equal(t, want, string(text))
		assert.Equal(t, s != reducer.Empty && s != reducer.Running, s.Ended())
	}
}
