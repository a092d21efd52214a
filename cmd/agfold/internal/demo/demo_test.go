package demo

import (
	"bytes"
	"context"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/sse"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/serve"
	"github.com/agfold/agfold/state"
)

// visitor is a client of the agent that holds one thread.
type visitor struct {
	t      *testing.T
	url    string
	thread *reducer.Thread
	tools  []event.Tool
	bodies [][]byte // the answers

	version messages.Opt[string] // of the protocol
}

func visit(t *testing.T) *visitor {
	server := httptest.NewServer(serve.Agent(Agent(0), nil))
	t.Cleanup(server.Close)
	return &visitor{
		t: t, url: server.URL, thread: &reducer.Thread{ID: "t-1", State: state.Object()},
		tools:   []event.Tool{{Name: ClockTool, Description: "tells the time"}},
		version: messages.Some(event.ProtocolVersion),
	}
}

// run asks for a run and folds its answer in strict mode, where every warning is an error.
func (v *visitor) run(runID string, resume ...event.ResumeEntry) *reducer.Thread {
	v.t.Helper()
	in := &event.RunInput{
		ThreadID: "t-1", RunID: runID, Messages: v.thread.Messages.Slice(), State: v.thread.State,
		Tools: v.tools, Resume: resume, ProtocolVersion: v.version,
	}
	for i := len(in.Messages) - 1; i >= 0; i-- {
		if in.Messages[i].Role == messages.RoleActivity {
			in.Messages = append(in.Messages[:i], in.Messages[i+1:]...)
		}
	}
	resp, err := http.Post(v.url, "application/json", bytes.NewReader(in.AppendJSON(nil)))
	require.NoError(v.t, err)
	defer resp.Body.Close()
	require.Equal(v.t, http.StatusOK, resp.StatusCode)
	require.Equal(v.t, "text/event-stream", resp.Header.Get("Content-Type"))
	body, err := io.ReadAll(resp.Body)
	require.NoError(v.t, err)
	v.bodies = append(v.bodies, body)
	r := reducer.New(&reducer.Options{Thread: v.thread, Input: in, Strict: true})
	for f, err := range frames(body) {
		require.NoError(v.t, err)
		for d, err := range r.Deliver(f) {
			require.NoError(v.t, err)
			require.Empty(v.t, d.Warnings)
		}
	}
	v.thread = r.End(nil)
	return v.thread
}

func (v *visitor) add(m *messages.Message) {
	th := *v.thread
	th.Messages = th.Messages.Append(m)
	v.thread = &th
}

func frames(body []byte) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		events := sse.NewReader(bytes.NewReader(body), 1<<20)
		for {
			data, err := events.Next()
			if err == io.EOF {
				return
			}
			var f event.Frame
			if err == nil {
				f, err = event.NewFrame(bytes.Clone(data))
			}
			if !yield(f, err) || err != nil {
				return
			}
		}
	}
}

func user(id, text string) *messages.Message {
	m := messages.UserText(text)
	m.ID = id
	return m
}

func tellTime(v *visitor, callID string) {
	m := messages.ToolResult(callID, `{"time":"14:05"}`)
	m.ID = "time"
	v.add(m)
}

func resolved(id string, payload state.Value) event.ResumeEntry {
	return event.ResumeEntry{InterruptID: id, Status: event.ResumeResolved, Payload: payload}
}

func types(body []byte) map[string]int {
	counts := map[string]int{}
	for ev := range frames(body) {
		counts[ev.(event.Frame).TypeName()]++
	}
	return counts
}

func TestStoryOverThreeRuns(t *testing.T) {
	v := visit(t)
	v.add(user("u-1", DefaultMessage))

	th := v.run("r-1")
	assert.Equal(t, reducer.Succeeded, th.Status())
	assert.Equal(t, []string{"r-1-clock"}, th.PendingToolCallIDs())
	assert.Equal(t, "Casa do Bairro", must[string](t, th.State, "/trip/hotel"))
	assert.True(t, must[bool](t, th.State, "/plan/2/done"))
	assert.False(t, must[bool](t, th.State, "/plan/3/done"))
	assert.Equal(t, 2, th.Subagents.Len())
	for _, n := range th.Subagents.All() {
		assert.Equal(t, reducer.SubagentSucceeded, n.Status, n.Name)
	}
	search, _ := th.Message("r-1-search")
	assert.Equal(t, 100, must[int](t, search.Activity, "/progress"))
	nested, holder := th.ToolCall("r-1-flights-search")
	require.NotNil(t, nested)
	assert.Equal(t, messages.SubagentOwner("r-1-flights"), holder.Owner)
	counts := types(v.bodies[0])
	for _, name := range []string{
		"RUN_STARTED", "STEP_STARTED", "REASONING_MESSAGE_CONTENT", "TEXT_MESSAGE_CHUNK", "TEXT_MESSAGE_CONTENT",
		"STATE_SNAPSHOT", "STATE_DELTA", "ACTIVITY_SNAPSHOT", "ACTIVITY_DELTA", "TOOL_CALL_ARGS",
		"TOOL_CALL_RESULT", "SUBAGENT_STARTED", "SUBAGENT_FINISHED", "RUN_FINISHED",
	} {
		assert.Positive(t, counts[name], name)
	}

	tellTime(v, "r-1-clock")
	th = v.run("r-2")
	assert.Equal(t, reducer.Interrupted, th.Status())
	require.Len(t, th.Interrupts, 1)
	assert.Equal(t, "r-2-approve", th.Interrupts[0].ID)
	proposal, _ := th.Message("r-2-proposal")
	assert.Contains(t, proposal.Text(), "It is 14:05 where you are")

	th = v.run("r-3", resolved("r-2-approve", state.Object(member("approved", state.Bool(true)))))
	assert.Equal(t, reducer.Succeeded, th.Status())
	assert.Empty(t, th.Interrupts)
	assert.True(t, must[bool](t, th.State, "/trip/booked"))
	assert.True(t, must[bool](t, th.State, "/plan/3/done"))
	assert.NotNil(t, th.ToolResult("r-2-book"))

	v.add(user("u-2", "And \"Porto\"?"))
	th = v.run("r-4")
	assert.Equal(t, reducer.Succeeded, th.Status())
	answer, _ := th.Message("r-4-answer")
	assert.Contains(t, answer.Text(), `You said "And \"Porto\"?"`)

	save(t, v)
}

// save writes the answers where AGFOLD_CAPTURES says, to be given to another client.
func save(t *testing.T, v *visitor) {
	dir := os.Getenv("AGFOLD_CAPTURES")
	if dir == "" {
		return
	}
	for i, body := range v.bodies {
		require.NoError(t, os.WriteFile(filepath.Join(dir, string(rune('1'+i))+".sse"), body, 0o644))
	}
}

func must[T any](t *testing.T, v state.Value, path string) T {
	t.Helper()
	got, err := state.At[T](v, path)
	require.NoError(t, err)
	return got
}

func TestStory(t *testing.T) {
	t.Run("the subagents' events come interleaved", func(t *testing.T) {
		v := visit(t)
		v.run("r-1")
		var switches int
		last := messages.Owner{}
		for ev := range frames(v.bodies[0]) {
			d, _, err := event.NewDecoder(nil).Decode(ev.(event.Frame))
			require.NoError(t, err)
			if d.Owner() != last {
				switches++
				last = d.Owner()
			}
		}
		assert.Greater(t, switches, 20)
	})
	t.Run("a client that sends no protocol version gets no outcome.pendingToolCallIds, which came with 1.0", func(t *testing.T) {
		v := visit(t)
		v.run("r-1")
		assert.Contains(t, string(v.bodies[0]), "pendingToolCallIds")
		old := visit(t)
		old.version = messages.Opt[string]{}
		th := old.run("r-1")
		assert.NotContains(t, string(old.bodies[0]), "pendingToolCallIds")
		assert.Equal(t, []string{"r-1-clock"}, th.PendingToolCallIDs())
	})
	t.Run("a client without the clock gets the whole story in one run", func(t *testing.T) {
		v := visit(t)
		v.tools = nil
		v.add(user("u-1", DefaultMessage))
		th := v.run("r-1")
		assert.Equal(t, reducer.Interrupted, th.Status())
		_, holder := th.ToolCall("r-1-clock")
		assert.Nil(t, holder)
	})
	t.Run("declined", func(t *testing.T) {
		for name, entry := range map[string]event.ResumeEntry{
			"by cancelling": {InterruptID: "r-1-approve", Status: event.ResumeCancelled},
			"by no":         resolved("r-1-approve", state.Object(member("approved", state.Bool(false)))),
		} {
			t.Run(name, func(t *testing.T) {
				v := visit(t)
				v.tools = nil
				v.run("r-1")
				th := v.run("r-2", entry)
				assert.Equal(t, reducer.Succeeded, th.Status())
				assert.Equal(t, `{"booked":false}`, th.LastRun().Result.String())
				assert.False(t, must[bool](t, th.State, "/trip/booked"))
			})
		}
	})
	t.Run("an answer to an unknown interrupt fails the run", func(t *testing.T) {
		v := visit(t)
		th := v.run("r-1", resolved("other", state.Value{}))
		assert.Equal(t, reducer.Failed, th.Status())
	})
	t.Run("what the client has in the state stays", func(t *testing.T) {
		v := visit(t)
		v.thread.State = state.Object(member("mine", state.Int(1)))
		assert.Equal(t, 1, must[int](t, v.run("r-1").State, "/mine"))
	})
	t.Run("a state that is not an object, or was changed, is not a problem", func(t *testing.T) {
		v := visit(t)
		v.tools = nil
		v.thread.State = state.Array()
		v.run("r-1")
		th := *v.thread
		th.State = state.Null()
		v.thread = &th
		assert.Equal(t, reducer.Succeeded, v.run("r-2", resolved("r-1-approve", state.Value{})).Status())
	})
	t.Run("the same input gives the same bytes", func(t *testing.T) {
		a, b := visit(t), visit(t)
		a.run("r-1")
		b.run("r-1")
		assert.Equal(t, a.bodies, b.bodies)
	})
}

func TestPace(t *testing.T) {
	in := event.RunInput{ThreadID: "t", RunID: "r"}
	t.Run("a run takes its time, scaled", func(t *testing.T) {
		took := func(pace float64) (d time.Duration) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				for _, err := range Agent(pace).Run(t.Context(), in) {
					require.NoError(t, err)
				}
				d = time.Since(start)
			})
			return d
		}
		assert.Zero(t, took(0))
		assert.Zero(t, took(-1))
		assert.Greater(t, took(1), 10*time.Second)
		assert.Less(t, took(1), 60*time.Second)
		assert.InDelta(t, took(1).Seconds(), 2*took(0.5).Seconds(), 0.001)
	})
	t.Run("a run ends when its context ends", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			sent := 0
			var why error
			for ev, err := range Agent(1).Run(ctx, in) {
				if why = err; err == nil {
					sent++
					assert.NotEqual(t, event.TypeRunFinished, ev.Type())
				}
			}
			assert.ErrorIs(t, why, context.DeadlineExceeded)
			assert.Positive(t, sent)
		})
	})
}
