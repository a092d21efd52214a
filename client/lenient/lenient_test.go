package lenient_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/agenttest"
	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/client/lenient"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// server answers each run with the next of its streams, lines of JSON, and keeps the inputs.
type server struct {
	streams []string
	inputs  []event.RunInput
}

func (s *server) Run(_ context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		s.inputs = append(s.inputs, in)
		for line := range strings.Lines(s.streams[len(s.inputs)-1]) {
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			f, err := event.NewFrame([]byte(line))
			if err != nil {
				panic(err)
			}
			if !yield(f, nil) {
				return
			}
		}
	}
}

// session returns a session with the server, and the texts of its warnings.
func session(s *server, repairs ...client.Middleware) (*client.Session, *[]string) {
	var warnings []string
	return client.NewSession(s, &client.SessionOptions{ThreadID: "t", Middleware: repairs, OnWarning: func(w event.Warning) {
		warnings = append(warnings, w.String())
	}}), &warnings
}

func value(t *testing.T, text string) state.Value {
	v, err := state.Parse([]byte(text))
	require.NoError(t, err)
	return v
}

const nullsOfDotnet = `
	{"type":"RUN_STARTED","threadId":"t","runId":"r","parentRunId":null,"input":null,"timestamp":null,"rawEvent":null,"metadata":null}
	{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant","name":null,"timestamp":null,"rawEvent":null}
	{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"Hel","timestamp":null,"rawEvent":null}
	{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"lo","timestamp":null,"rawEvent":null}
	{"type":"TEXT_MESSAGE_END","messageId":"m","timestamp":null}
	{"type":"STATE_SNAPSHOT","snapshot":{"a":null},"timestamp":null}
	{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":null,"outcome":null,"usage":null,"timestamp":null}`

func TestNulls(t *testing.T) {
	t.Run("P-NULL-1 without the repair, the first event is rejected and the error names it", func(t *testing.T) {
		s, _ := session(&server{streams: []string{nullsOfDotnet}}, lenient.ReasoningRole, lenient.OnInterrupt)
		_, err := s.Send(t.Context(), messages.UserText("hi"))
		require.ErrorIs(t, err, client.ErrRejected)
		e, ok := errors.AsType[*messages.MalformedError](err)
		require.True(t, ok)
		assert.Equal(t, 1, e.Ordinal)
		assert.Contains(t, err.Error(), "lenient.Nulls, of package client/lenient")
	})
	t.Run("with it, the run succeeds, and each type warns once", func(t *testing.T) {
		s, warnings := session(&server{streams: []string{nullsOfDotnet}}, lenient.Nulls)
		res, err := s.Send(t.Context(), messages.UserText("hi"))
		require.NoError(t, err)
		assert.Equal(t, reducer.Succeeded, res.Status)
		assert.Equal(t, "Hello", res.NewMessages[0].Text())
		assert.Equal(t, `{"a":null}`, s.Thread().State.String(), "a null that is a value stays")
		var own []string
		for _, w := range *warnings {
			if strings.Contains(w, "lenient.Nulls") {
				own = append(own, w)
			}
		}
		require.Len(t, own, 6, strings.Join(*warnings, "\n"))
		assert.Regexp(t, `^P-NULL-1 event 1 RUN_STARTED /\w+: lenient.Nulls: null taken for an absent member, here and in \d other places`, own[0])
		assert.Regexp(t, `^P-NULL-1 event 5 TEXT_MESSAGE_END /timestamp: lenient.Nulls: null taken for an absent member;`, own[3])
	})
	t.Run("a required member that is null is rejected as before", func(t *testing.T) {
		s, _ := session(&server{streams: []string{`{"type":"RUN_STARTED","threadId":"t","runId":null,"timestamp":null}`}}, lenient.All)
		_, err := s.Send(t.Context(), messages.UserText("hi"))
		require.ErrorIs(t, err, client.ErrRejected)
		assert.Contains(t, err.Error(), "/runId: want a string, found null")
		assert.NotContains(t, err.Error(), "lenient.")
	})
}

func TestReasoningRole(t *testing.T) {
	stream := func(role string) string {
		return `{"type":"RUN_STARTED","threadId":"t","runId":"r"}
		{"type":"REASONING_START","messageId":"m"}
		{"type":"REASONING_MESSAGE_START","messageId":"m","role":"` + role + `"}
		{"type":"REASONING_MESSAGE_CONTENT","messageId":"m","delta":"Hm"}
		{"type":"REASONING_MESSAGE_END","messageId":"m"}
		{"type":"REASONING_END","messageId":"m"}
		{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`
	}
	t.Run("P-ENF-4 the role assistant is taken for reasoning, with a warning", func(t *testing.T) {
		s, warnings := session(&server{streams: []string{stream("assistant")}}, lenient.ReasoningRole)
		res, err := s.Send(t.Context(), messages.UserText("hi"))
		require.NoError(t, err)
		assert.Equal(t, messages.RoleReasoning, res.NewMessages[0].Role)
		assert.Equal(t, "Hm", res.NewMessages[0].Text())
		require.Len(t, *warnings, 1)
		assert.Contains(t, (*warnings)[0], "P-ENF-4 event 3 REASONING_MESSAGE_START /role: lenient.ReasoningRole: the role assistant")
	})
	t.Run("the right role does not warn", func(t *testing.T) {
		s, warnings := session(&server{streams: []string{stream("reasoning")}}, lenient.ReasoningRole)
		_, err := s.Send(t.Context(), messages.UserText("hi"))
		require.NoError(t, err)
		assert.Empty(t, *warnings)
	})
	t.Run("another role, and none of this repair, are rejected", func(t *testing.T) {
		s, _ := session(&server{streams: []string{stream("user")}}, lenient.All)
		_, err := s.Send(t.Context(), messages.UserText("hi"))
		require.ErrorIs(t, err, client.ErrRejected)
		assert.NotContains(t, err.Error(), "lenient.")
		s, _ = session(&server{streams: []string{stream("assistant")}}, lenient.Nulls)
		_, err = s.Send(t.Context(), messages.UserText("hi"))
		require.ErrorIs(t, err, client.ErrRejected)
		assert.Contains(t, err.Error(), "lenient.ReasoningRole, of package client/lenient")
	})
}

const succeeds = `{"type":"RUN_STARTED","threadId":"t","runId":"r2"}
	{"type":"RUN_FINISHED","threadId":"t","runId":"r2"}`

// interrupts is a run with these CUSTOM events.
func interrupts(customs ...string) string {
	s := `{"type":"RUN_STARTED","threadId":"t","runId":"r"}` + "\n"
	for _, c := range customs {
		s += `{"type":"CUSTOM","name":"on_interrupt",` + c + "}\n"
	}
	return s + `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`
}

func TestOnInterrupt(t *testing.T) {
	const asked = `"value":"{\"question\":\"Book it?\",\"price\":80}","rawEvent":{"id":"lg-1","value":{"question":"Book it?"}}`
	t.Run("P-INT-1 a run of LangGraph is interrupted, and its answer goes where LangGraph reads it", func(t *testing.T) {
		server := &server{streams: []string{interrupts(asked, asked), succeeds}}
		s, warnings := session(server, lenient.OnInterrupt)
		res, err := s.Send(t.Context(), messages.UserText("hi"))
		require.NoError(t, err)
		require.Equal(t, reducer.Interrupted, res.Status)
		require.Len(t, res.Interrupts, 1)
		in := res.Interrupts[0]
		assert.Equal(t, "Book it?", in.Message.Or(""))
		assert.Equal(t, "on_interrupt", in.Reason)
		assert.Equal(t, `{"on_interrupt":{"question":"Book it?","price":80}}`, in.Metadata.Value().String())
		assert.Len(t, *warnings, 1)
		assert.Contains(t, (*warnings)[0], "P-INT-1 event 4 RUN_FINISHED /outcome: lenient.OnInterrupt")

		// another process, later: a new session with the stored thread
		text, err := s.Thread().MarshalJSON()
		require.NoError(t, err)
		var stored reducer.Thread
		require.NoError(t, stored.UnmarshalJSON(text))
		later := client.NewSession(server, &client.SessionOptions{
			Thread: &stored, Middleware: []client.Middleware{lenient.OnInterrupt}, OnWarning: func(w event.Warning) { t.Error(w) },
			ForwardedProps: value(t, `{"x":1,"command":{"update":{"y":2}}}`),
		})
		res, err = later.Resume(t.Context(), client.Resolve(in.ID, map[string]bool{"approved": true}))
		require.NoError(t, err)
		assert.Equal(t, reducer.Succeeded, res.Status)
		assert.Empty(t, res.Interrupts)
		assert.Empty(t, server.inputs[1].Resume)
		assert.JSONEq(t, `{"x":1,"command":{"resume":{"approved":true},"update":{"y":2}}}`, server.inputs[1].ForwardedProps.String())
	})
	for _, tt := range []struct {
		name, custom string
		answer       func(id string) client.Answer
		command      string
	}{
		{"declined, with the sentinel of the adapter", asked, client.Decline, `{"resume":{"__agui_cancelled__":true,"interrupt_id":"lg-1"}}`},
		{"false, as text that Python does not take for none", asked, resolve(false), `{"resume":"false"}`},
		{"null", asked, resolve(nil), `{"resume":"null"}`},
		{"an empty text", asked, resolve(""), `{"resume":"\"\""}`},
		{"zero", asked, resolve(0.0), `{"resume":"0"}`},
		{"an empty list", asked, resolve([]int{}), `{"resume":"[]"}`},
		{"an empty object", asked, resolve(map[string]int{}), `{"resume":"{}"}`},
		{"a text, as it is", asked, resolve("yes"), `{"resume":"yes"}`},
		{"an interrupt without an id", `"value":"Sure?"`, resolve(true), `{"resume":true}`},
		{"Mastra, with the interruptEvent that it needs",
			`"value":"{\"type\":\"mastra_suspend\",\"toolCallId\":\"c1\",\"toolName\":\"f\",\"runId\":\"m-9\",\"args\":{}}"`, resolve(true),
			`{"resume":true,"interruptEvent":{"toolCallId":"c1","runId":"m-9"}}`},
		{"Mastra, declined", `"value":{"toolCallId":"c1","runId":"m-9"}`, client.Decline,
			`{"resume":false,"interruptEvent":{"toolCallId":"c1","runId":"m-9"}}`},
		{"Mastra, false", `"value":{"toolCallId":"c1","runId":"m-9"}`, resolve(false),
			`{"resume":false,"interruptEvent":{"toolCallId":"c1","runId":"m-9"}}`},
	} {
		t.Run("an answer: "+tt.name, func(t *testing.T) {
			server := &server{streams: []string{interrupts(tt.custom), succeeds}}
			s, _ := session(server, lenient.OnInterrupt)
			res, err := s.Send(t.Context(), messages.UserText("hi"))
			require.NoError(t, err)
			require.Len(t, res.Interrupts, 1)
			_, err = s.Resume(t.Context(), tt.answer(res.Interrupts[0].ID))
			require.NoError(t, err)
			assert.JSONEq(t, `{"command":`+tt.command+`}`, server.inputs[1].ForwardedProps.String())
		})
	}
	t.Run("what Mastra asks for is in the interrupt", func(t *testing.T) {
		s, _ := session(&server{streams: []string{interrupts(
			`"value":"{\"toolCallId\":\"c1\",\"runId\":\"m-9\",\"message\":\"Delete?\",\"resumeSchema\":\"{\\\"type\\\":\\\"boolean\\\"}\"}","subagentRunId":"sub"`)}}, lenient.OnInterrupt)
		res, err := s.Send(t.Context(), messages.UserText("hi"))
		require.NoError(t, err)
		in := res.Interrupts[0]
		assert.Equal(t, "c1", in.ToolCallID.Or(""))
		assert.Equal(t, "Delete?", in.Message.Or(""))
		assert.Equal(t, `{"type":"boolean"}`, in.ResponseSchema.String())
		assert.Equal(t, messages.SubagentOwner("sub"), in.SubagentRunID)
	})
	t.Run("several answers go by the ids of LangGraph", func(t *testing.T) {
		server := &server{streams: []string{interrupts(`"value":"a","rawEvent":{"id":"1"}`, `"value":"b","rawEvent":{"id":"2"}`, `"value":"c","rawEvent":{"id":"3"}`), succeeds}}
		s, warnings := session(server, lenient.OnInterrupt)
		res, err := s.Send(t.Context(), messages.UserText("hi"))
		require.NoError(t, err)
		require.Len(t, res.Interrupts, 3)
		*warnings = nil
		_, err = s.Resume(t.Context(), client.Resolve(res.Interrupts[0].ID, true), client.Decline(res.Interrupts[1].ID), client.Resolve(res.Interrupts[2].ID, nil))
		require.NoError(t, err)
		assert.JSONEq(t, `{"command":{"resume":{"1":true,"2":{"__agui_cancelled__":true,"interrupt_id":"2"},"3":null}}}`, server.inputs[1].ForwardedProps.String())
		assert.Empty(t, *warnings)
	})
	t.Run("of several answers without ids only the first is sent, with a warning", func(t *testing.T) {
		server := &server{streams: []string{interrupts(`"value":"a"`, `"value":"b"`), succeeds}}
		s, warnings := session(server, lenient.OnInterrupt)
		res, err := s.Send(t.Context(), messages.UserText("hi"))
		require.NoError(t, err)
		require.Len(t, res.Interrupts, 2)
		*warnings = nil
		_, err = s.Resume(t.Context(), client.Resolve(res.Interrupts[0].ID, 1), client.Resolve(res.Interrupts[1].ID, 2))
		require.NoError(t, err)
		assert.JSONEq(t, `{"command":{"resume":1}}`, server.inputs[1].ForwardedProps.String())
		require.Len(t, *warnings, 1)
		assert.Contains(t, (*warnings)[0], "only the first of 2 answers is sent")
	})
	t.Run("interrupts of the protocol stand", func(t *testing.T) {
		stream := strings.Replace(interrupts(asked), `"runId":"r"}`+"\n", `"runId":"r"}`+"\n", 1)
		stream = stream[:strings.LastIndex(stream, "}")] + `,"outcome":{"type":"interrupt","interrupts":[{"id":"own","reason":"r"}]}}`
		server := &server{streams: []string{stream, succeeds}}
		s, warnings := session(server, lenient.OnInterrupt)
		res, err := s.Send(t.Context(), messages.UserText("hi"))
		require.NoError(t, err)
		require.Len(t, res.Interrupts, 1)
		assert.Equal(t, "own", res.Interrupts[0].ID)
		_, err = s.Resume(t.Context(), client.Resolve("own", 1))
		require.NoError(t, err)
		assert.Len(t, server.inputs[1].Resume, 1)
		assert.Equal(t, `{}`, server.inputs[1].ForwardedProps.String())
		assert.Empty(t, *warnings)
	})
	t.Run("without the repair nothing is interrupted, and other CUSTOM events never interrupt", func(t *testing.T) {
		s, _ := session(&server{streams: []string{interrupts(asked)}})
		res, err := s.Send(t.Context(), messages.UserText("hi"))
		require.NoError(t, err)
		assert.Equal(t, reducer.Succeeded, res.Status)
		s, warnings := session(&server{streams: []string{strings.ReplaceAll(interrupts(asked), "on_interrupt", "interrupted")}}, lenient.All)
		res, err = s.Send(t.Context(), messages.UserText("hi"))
		require.NoError(t, err)
		assert.Equal(t, reducer.Succeeded, res.Status)
		assert.Empty(t, *warnings)
	})
	t.Run("an interrupt is that of its run, not of the next one on the stream", func(t *testing.T) {
		s, _ := session(&server{streams: []string{`{"type":"RUN_STARTED","threadId":"t","runId":"r"}
			{"type":"CUSTOM","name":"on_interrupt","value":"a"}
			{"type":"RUN_FINISHED","threadId":"t","runId":"r"}
			{"type":"RUN_STARTED","threadId":"t","runId":"r3"}
			{"type":"RUN_FINISHED","threadId":"t","runId":"r3"}`}}, lenient.OnInterrupt)
		_, err := s.Send(t.Context(), messages.UserText("hi"))
		require.NoError(t, err)
		second := agenttest.WaitFor(t, s, func(now client.Snapshot) bool { return now.Runs.Len() == 2 && now.Status().Ended() })
		assert.Empty(t, second.Interrupts)
	})
}

func resolve(payload any) func(string) client.Answer {
	return func(id string) client.Answer { return client.Resolve(id, payload) }
}

func TestARunIsIteratedOnce(t *testing.T) {
	for name, repair := range map[string]client.Middleware{"Nulls": lenient.Nulls, "ReasoningRole": lenient.ReasoningRole, "OnInterrupt": lenient.OnInterrupt, "All": lenient.All} {
		agent := repair(client.Emit(func(_ context.Context, in event.RunInput, emit func(...event.Event) error) error {
			return emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID}, &event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID})
		}))
		events := agent.Run(t.Context(), event.RunInput{ThreadID: "t", RunID: "r"})
		for ev, err := range events {
			require.NoError(t, err, name)
			require.NotNil(t, ev)
			break
		}
		n := 0
		for ev, err := range events {
			require.Error(t, err, name)
			require.Nil(t, ev)
			n++
		}
		assert.Equal(t, 1, n, name)
	}
}

func BenchmarkEventsThatNeedNoRepair(b *testing.B) {
	var framer event.Framer
	text := []byte(`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"a word "}`)
	bare := client.AgentFunc(func(context.Context, event.RunInput) iter.Seq2[event.Event, error] {
		return func(yield func(event.Event, error) bool) {
			for range 10_000 {
				if !yield(framer.Frame(text), nil) {
					return
				}
			}
		}
	})
	for name, agent := range map[string]client.Agent{"bare": bare, "all": lenient.All(bare)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range agent.Run(b.Context(), event.RunInput{}) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/10_000, "ns/event")
		})
	}
}
