package spans_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/spans"
)

// does is an agent whose n-th run is the n-th function; what it emits has the ids of the input.
func does(runs ...func(ctx context.Context, emit func(...event.Event) error) error) client.Agent {
	n := 0
	return client.Emit(func(ctx context.Context, in event.RunInput, emit func(...event.Event) error) error {
		n++
		if err := emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID}); err != nil {
			return err
		}
		return runs[n-1](ctx, func(events ...event.Event) error {
			for _, ev := range events {
				if e, ok := ev.(*event.RunFinished); ok && e.RunID == "" {
					e.ThreadID, e.RunID = in.ThreadID, in.RunID
				}
			}
			return emit(events...)
		})
	})
}

func finish(pending ...string) event.Event {
	e := new(event.RunFinished)
	if pending != nil {
		e.Outcome = event.Outcome{Type: event.OutcomeSuccess, PendingToolCallIDs: pending}
	}
	return e
}

func calling(id, name string) []event.Event {
	return []event.Event{&event.ToolCallStart{ToolCallID: id, ToolCallName: name}, &event.ToolCallArgs{ToolCallID: id, Delta: "{}"}, &event.ToolCallEnd{ToolCallID: id}}
}

func saying(id, text string) []event.Event {
	return []event.Event{&event.TextMessageStart{MessageID: id}, &event.TextMessageContent{MessageID: id, Delta: text}, &event.TextMessageEnd{MessageID: id}}
}

// observed returns the options of a session with a collector.
func observed(t *testing.T, o client.SessionOptions, so *spans.Options) (*collector, *client.SessionOptions) {
	c := collect(t)
	ids := 0
	o.ThreadID, o.OnWarning, o.Observers = "t", func(event.Warning) {}, []client.Observer{spans.Observe(c, so)}
	o.NewID = func() string { ids++; return fmt.Sprintf("id-%d", ids) }
	return c, &o
}

func TestSpansOfASession(t *testing.T) {
	t.Run("a turn, its runs, and the tools between them", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var where string
			slow := client.Tool{Tool: event.Tool{Name: "now"}, Call: func(ctx context.Context, _ *messages.ToolCall) (any, error) {
				where, _ = ctx.Value(place{}).(string)
				time.Sleep(time.Second)
				return "noon", nil
			}}
			c, o := observed(t, client.SessionOptions{Tools: []client.Tool{slow}}, &spans.Options{Agent: "clock", ContentBytes: 100})
			s := client.NewSession(does(
				func(ctx context.Context, emit func(...event.Event) error) error {
					assert.Equal(t, "/turn/invoke_agent clock", ctx.Value(place{}))
					time.Sleep(100 * time.Millisecond)
					return emit(append(calling("c", "now"), finish("c"))...)
				},
				func(ctx context.Context, emit func(...event.Event) error) error {
					return emit(append(saying("m", "noon"), finish())...)
				},
			), o)
			_, err := s.Send(t.Context(), user("What time is it?"))
			require.NoError(t, err)
			assert.Equal(t, "turn 0s-1.1s ended\n  invoke_agent clock 0s-100ms succeeded\n    tool_call now 100ms-100ms complete\n"+
				"  execute_tool now 100ms-1.1s answered\n  invoke_agent clock 1.1s-1.1s succeeded\n    message assistant 1.1s-1.1s complete\n", c.tree(false))
			assert.Equal(t, "/turn/execute_tool now", where)
			tool := c.find(spans.Tool)[0]
			assert.Equal(t, "noon", tool.Attr("gen_ai.tool.call.result").String())
			assert.Equal(t, "{}", tool.Attr("gen_ai.tool.call.arguments").String())
			assert.True(t, c.find(spans.ToolCall)[0].Attr("agfold.tool.offered").Bool())
			assert.Contains(t, c.find(spans.Run)[0].Attr("gen_ai.input.messages").String(), "What time is it?")
		})
	})
	for _, row := range []struct {
		name string
		call func(context.Context, *messages.ToolCall) (any, error)
		want string
	}{
		{"a tool that fails, without the text, which is the agent's answer", func(context.Context, *messages.ToolCall) (any, error) { return nil, errors.New("s3cret") },
			"  execute_tool now 0s-0s failed (_OTHER: the tool failed)\n"},
		{"a tool that panics", func(context.Context, *messages.ToolCall) (any, error) { panic("s3cret") }, "  execute_tool now 0s-0s failed (_OTHER: the tool failed)\n"},
		{"a tool that takes too long", func(ctx context.Context, _ *messages.ToolCall) (any, error) { <-ctx.Done(); return nil, ctx.Err() },
			"  execute_tool now 0s-5s failed (timeout: the tool failed)\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, o := observed(t, client.SessionOptions{Tools: []client.Tool{{Tool: event.Tool{Name: "now"}, Timeout: 5 * time.Second, Call: row.call}}}, nil)
				s := client.NewSession(does(
					func(_ context.Context, emit func(...event.Event) error) error {
						return emit(append(calling("c", "now"), finish("c"))...)
					},
					func(_ context.Context, emit func(...event.Event) error) error { return emit(finish()) },
				), o)
				_, err := s.Send(t.Context())
				require.NoError(t, err)
				assert.Contains(t, c.tree(true), row.want)
				assert.NotContains(t, c.tree(true), "s3cret")
			})
		})
	}
	t.Run("a stop is no failure", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, o := observed(t, client.SessionOptions{}, nil)
			s := client.NewSession(does(func(ctx context.Context, emit func(...event.Event) error) error {
				if err := emit(&event.StepStarted{StepName: "plan"}); err != nil {
					return err
				}
				<-ctx.Done()
				return ctx.Err()
			}), o)
			turn, err := s.Start(t.Context(), nil)
			require.NoError(t, err)
			time.Sleep(time.Second)
			require.NoError(t, turn.Stop(t.Context()))
			assert.Equal(t, "turn 0s-1s stopped\n  invoke_agent 0s-1s stopped\n    step plan 0s-1s unfinished\n", c.tree(false))
		})
	})
	t.Run("neither is the end of the caller's context", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, o := observed(t, client.SessionOptions{}, nil)
			s := client.NewSession(does(func(ctx context.Context, _ func(...event.Event) error) error { <-ctx.Done(); return ctx.Err() }), o)
			ctx, cancel := context.WithCancel(t.Context())
			turn, err := s.Start(ctx, nil)
			require.NoError(t, err)
			time.Sleep(time.Second)
			cancel()
			<-turn.Done()
			assert.Equal(t, "turn 0s-1s stopped\n  invoke_agent 0s-1s stopped\n", c.tree(false))
		})
	})
	t.Run("but a deadline is", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, o := observed(t, client.SessionOptions{}, nil)
			s := client.NewSession(does(func(ctx context.Context, _ func(...event.Event) error) error { <-ctx.Done(); return ctx.Err() }), o)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := s.Send(ctx)
			require.Error(t, err)
			assert.Contains(t, c.tree(false), "  invoke_agent 0s-1s truncated (timeout: ")
		})
	})
	t.Run("a panic of the agent", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, o := observed(t, client.SessionOptions{}, nil)
			s := client.NewSession(does(func(context.Context, func(...event.Event) error) error { panic("oh") }), o)
			_, err := s.Send(t.Context())
			require.Error(t, err)
			assert.Contains(t, c.tree(false), "  invoke_agent 0s-0s truncated (panic: ")
		})
	})
	t.Run("a run that the agent begins on a stream that lingers is in the turn", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, o := observed(t, client.SessionOptions{}, nil)
			s := client.NewSession(does(func(_ context.Context, emit func(...event.Event) error) error {
				if err := emit(finish()); err != nil {
					return err
				}
				time.Sleep(time.Second)
				return emit(&event.RunStarted{ThreadID: "t", RunID: "r2"}, &event.RunFinished{ThreadID: "t", RunID: "r2"})
			}), o)
			_, err := s.Send(t.Context())
			require.NoError(t, err)
			time.Sleep(time.Minute)
			synctest.Wait()
			assert.Equal(t, "turn 0s-2ms ended\n  invoke_agent 0s-0s succeeded\n  invoke_agent 1s-1s succeeded\n", c.tree(false))
		})
	})
	t.Run("a tool that uses a session of its own", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := collect(t)
			o := client.SessionOptions{ThreadID: "t", Observers: []client.Observer{spans.Observe(c, nil)}}
			inner := o
			inner.ThreadID = "inner"
			o.Tools = []client.Tool{{Tool: event.Tool{Name: "ask"}, Call: func(ctx context.Context, _ *messages.ToolCall) (any, error) {
				res, err := client.NewSession(does(func(_ context.Context, emit func(...event.Event) error) error { return emit(finish()) }), &inner).Send(ctx)
				return res.Status.String(), err
			}}}
			s := client.NewSession(does(
				func(_ context.Context, emit func(...event.Event) error) error {
					return emit(append(calling("c", "ask"), finish("c"))...)
				},
				func(_ context.Context, emit func(...event.Event) error) error { return emit(finish()) },
			), &o)
			c.nested = true
			_, err := s.Send(t.Context())
			require.NoError(t, err)
			assert.Equal(t, "/turn/execute_tool ask/turn/invoke_agent", c.places[c.find(spans.Run)[1]])
		})
	})
}

func TestHTTPStatusIsTheErrorType(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	defer server.Close()
	c, o := observed(t, client.SessionOptions{}, nil)
	_, err := client.NewSession(client.NewHTTP(server.URL, nil), o).Send(t.Context())
	require.Error(t, err)
	run := c.find(spans.Run)[0]
	assert.Equal(t, "unstarted", run.Outcome)
	assert.Equal(t, "401", run.ErrorType)
}

// Texts of events that are lent must not be in the spans.
func TestLentEvents(t *testing.T) {
	var body strings.Builder
	say := func(s string) { body.WriteString("data: " + s + "\n\n") }
	say(started)
	for i := range 50 {
		say(fmt.Sprintf(`{"type":"TEXT_MESSAGE_START","messageId":"message-%d"}`, i))
		say(fmt.Sprintf(`{"type":"TEXT_MESSAGE_CONTENT","messageId":"message-%d","delta":"text %d "}`, i, i))
		say(fmt.Sprintf(`{"type":"TEXT_MESSAGE_CONTENT","messageId":"message-%d","delta":"more"}`, i))
		say(fmt.Sprintf(`{"type":"TEXT_MESSAGE_END","messageId":"message-%d"}`, i))
	}
	say(finished)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte(body.String()))
	}))
	defer server.Close()
	c, o := observed(t, client.SessionOptions{}, &spans.Options{ContentBytes: 100})
	_, err := client.NewSession(client.NewHTTP(server.URL, nil), o).Send(t.Context())
	require.NoError(t, err)
	texts := c.find(spans.Message)
	require.Len(t, texts, 50)
	for i, s := range texts {
		assert.Equal(t, fmt.Sprintf("message-%d", i), s.Attr("agfold.message.id").String())
		assert.Equal(t, fmt.Sprintf("text %d more", i), s.Attr("agfold.message.content").String())
	}
}

func TestNoGoroutineStays(t *testing.T) {
	before := runtime.NumGoroutine()
	c, o := observed(t, client.SessionOptions{}, nil)
	for range 20 {
		s := client.NewSession(does(func(_ context.Context, emit func(...event.Event) error) error { return emit(finish()) }), o)
		_, err := s.Send(t.Context())
		require.NoError(t, err)
		s.Close()
	}
	for deadline := time.Now().Add(30 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("goroutines left: %d before, %d now", before, runtime.NumGoroutine())
		}
	}
	assert.Len(t, c.ended, 40)
}

// BenchmarkObserve compares a session with and without spans: a run with a text of 1000 pieces, over HTTP without a network.
func BenchmarkObserve(b *testing.B) {
	var body strings.Builder
	say := func(s string) { body.WriteString("data: " + s + "\n\n") }
	say(started)
	say(`{"type":"TEXT_MESSAGE_START","messageId":"m"}`)
	for range 1000 {
		say(`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"another piece"}`)
	}
	say(`{"type":"TEXT_MESSAGE_END","messageId":"m"}`)
	say(finished)
	transport := roundTrip(func(r *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.WriteString(body.String())
		return w.Result(), nil
	})
	for _, row := range []struct {
		name      string
		observers []client.Observer
	}{{"without", nil}, {"with", []client.Observer{spans.Observe(nothing{}, nil)}}} {
		b.Run(row.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s := client.NewSession(client.NewHTTP("http://agent.test/", &client.HTTPOptions{Client: &http.Client{Transport: transport}}), &client.SessionOptions{ThreadID: "t", Observers: row.observers})
				if _, err := s.Send(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1004, "ns/event")
		})
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// nothing is a sink that does nothing.
type nothing struct{}

func (nothing) Began(ctx context.Context, _ *spans.Span) context.Context { return ctx }
func (nothing) Ended(*spans.Span)                                        {}
func (nothing) Chunk(*spans.Span, time.Duration)                         {}
