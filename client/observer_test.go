package client_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// path is the key of what the observers put into contexts: where one is.
type path struct{}

func under(ctx context.Context, name string) context.Context {
	outer, _ := ctx.Value(path{}).(string)
	return context.WithValue(ctx, path{}, outer+"/"+name)
}

// notebook is an observer that writes down what it is told.
type notebook struct {
	name  string
	mu    sync.Mutex
	lines *[]string
}

func (n *notebook) note(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	*n.lines = append(*n.lines, n.name+" "+fmt.Sprintf(format, args...))
}

func (n *notebook) Turn(ctx context.Context, threadID string) (context.Context, func(error)) {
	n.note("turn of %s at %v", threadID, ctx.Value(path{}))
	return under(ctx, n.name+"turn"), func(err error) { n.note("turn ends: %v", err) }
}

func (n *notebook) Stream(ctx context.Context, in *event.RunInput) (context.Context, client.StreamObserver) {
	n.note("stream at %v", ctx.Value(path{}))
	return under(ctx, n.name+"stream"), n
}

func (n *notebook) Tool(ctx context.Context, call *messages.ToolCall) (context.Context, func(messages.Content, error)) {
	n.note("tool %s at %v", call.Name, ctx.Value(path{}))
	return under(ctx, n.name+"tool"), func(c messages.Content, err error) { n.note("tool ends: %q %v", c.Text(), err) }
}

func (n *notebook) Deliver(d reducer.Delivery) { n.note("%v", d.Change.Kind) }
func (n *notebook) End(err error)              { n.note("stream ends: %v", err) }

// observed returns the options of a session with one observer, whose lines it returns too.
func observed(o client.SessionOptions) (*client.SessionOptions, *[]string) {
	lines := new([]string)
	o.Observers = []client.Observer{&notebook{name: "a", lines: lines}}
	return quiet(o), lines
}

func TestObservers(t *testing.T) {
	where := func(name string, err error) client.Tool {
		return client.Tool{Tool: event.Tool{Name: name}, Call: func(ctx context.Context, _ *messages.ToolCall) (any, error) {
			return fmt.Sprint(ctx.Value(path{})), err
		}}
	}
	for _, row := range []struct {
		name  string
		turns []turn
		o     client.SessionOptions
		want  []string
	}{
		{"a turn with a tool: two streams, and the tool between them", []turn{says(begins, calls("c", "now", "{}"), succeeds), says(begins, text("m", "x"), succeeds)},
			client.SessionOptions{Tools: []client.Tool{where("now", nil)}}, []string{
				"a turn of t at <nil>", "a stream at /aturn", "a runBegan", "a toolCallAdded", "a argumentsAppended", "a toolCallClosed", "a runEnded", "a stream ends: <nil>",
				"a tool now at /aturn", `a tool ends: "/aturn/atool" <nil>`, "a stream at /aturn",
				"a runBegan", "a messageAdded", "a textAppended", "a messageClosed", "a runEnded", "a stream ends: <nil>", "a turn ends: <nil>",
			}},
		{"a tool that fails", []turn{says(begins, calls("c", "now", "{}"), succeeds), says(begins, succeeds)},
			client.SessionOptions{Tools: []client.Tool{where("now", errors.New("no clock"))}}, []string{
				"a turn of t at <nil>", "a stream at /aturn", "a runBegan", "a toolCallAdded", "a argumentsAppended", "a toolCallClosed", "a runEnded", "a stream ends: <nil>",
				"a tool now at /aturn", `a tool ends: "" no clock`, "a stream at /aturn", "a runBegan", "a runEnded", "a stream ends: <nil>", "a turn ends: <nil>",
			}},
		{"a call that is declined is not one of a tool", []turn{says(begins, calls("c", "now", "{}"), succeeds), says(begins, succeeds)},
			client.SessionOptions{Tools: []client.Tool{where("now", nil)}, Approve: func(context.Context, *messages.ToolCall) error { return errors.New("no") }}, []string{
				"a turn of t at <nil>", "a stream at /aturn", "a runBegan", "a toolCallAdded", "a argumentsAppended", "a toolCallClosed", "a runEnded", "a stream ends: <nil>",
				"a stream at /aturn", "a runBegan", "a runEnded", "a stream ends: <nil>", "a turn ends: <nil>",
			}},
		{"a run that reports its failure has said so", []turn{says(begins, fails)}, client.SessionOptions{},
			[]string{"a turn of t at <nil>", "a stream at /aturn", "a runBegan", "a runEnded", "a stream ends: <nil>", "a turn ends: agent failed: out of tokens (limit)"}},
		{"P-RUN-1 a stream that is cut off", []turn{says(begins)}, client.SessionOptions{},
			[]string{"a turn of t at <nil>", "a stream at /aturn", "a runBegan", "a stream ends: the stream ended before the run did", "a turn ends: the stream ended before the run did"}},
		{"an agent that gives no stream", []turn{func(context.Context, event.RunInput, func(...event.Event) error) error { return errors.New("refused") }}, client.SessionOptions{},
			[]string{"a turn of t at <nil>", "a stream at /aturn", "a stream ends: refused", "a turn ends: refused"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				row.o.ThreadID = "t"
				o, lines := observed(row.o)
				s := client.NewSession(script(row.turns...), o)
				_, _ = s.Send(t.Context())
				assert.Equal(t, row.want, *lines)
			})
		})
	}
	t.Run("P-VER-1 a stream that is rejected", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			o, lines := observed(client.SessionOptions{ThreadID: "t"})
			s := client.NewSession(script(says(begins, begins)), o)
			_, err := s.Send(t.Context())
			require.ErrorIs(t, err, client.ErrRejected)
			require.Len(t, *lines, 5)
			assert.Contains(t, (*lines)[3], "stream ends: P-")
		})
	})
	t.Run("several nest, the first one outermost", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var lines []string
			s := client.NewSession(script(says(begins, calls("c", "now", "{}"), succeeds), says(begins, succeeds)), quiet(client.SessionOptions{
				ThreadID: "t", Tools: []client.Tool{where("now", nil)}, Observers: []client.Observer{&notebook{name: "a", lines: &lines}, &notebook{name: "b", lines: &lines}},
			}))
			_, err := s.Send(t.Context())
			require.NoError(t, err)
			assert.Equal(t, []string{"a turn of t at <nil>", "b turn of t at /aturn", "a stream at /aturn/bturn", "b stream at /aturn/bturn/astream"}, lines[:4])
			assert.Contains(t, lines, `b tool ends: "/aturn/bturn/atool/btool" <nil>`)
			assert.Equal(t, []string{"b turn ends: <nil>", "a turn ends: <nil>"}, lines[len(lines)-2:])
		})
	})
	t.Run("the agent gets the context of the stream", func(t *testing.T) {
		o, _ := observed(client.SessionOptions{ThreadID: "t"})
		var got any
		s := client.NewSession(script(func(ctx context.Context, in event.RunInput, emit func(...event.Event) error) error {
			got = ctx.Value(path{})
			return emit(flat(begins, succeeds)...)
		}), o)
		_, err := s.Send(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "/aturn/astream", got)
	})
}

func TestObserversOfWhatIsStopped(t *testing.T) {
	for _, row := range []struct {
		name string
		turn turn
		o    client.SessionOptions
		want []string
	}{
		{"a run", then(says(begins), waits), client.SessionOptions{}, []string{"a turn of t at <nil>", "a stream at /aturn", "a runBegan",
			"a stream ends: the run was stopped", "a turn ends: the run was stopped"}},
		{"a tool", says(begins, calls("c", "slow", "{}"), succeeds), client.SessionOptions{Tools: []client.Tool{{Tool: event.Tool{Name: "slow"},
			Call: func(ctx context.Context, _ *messages.ToolCall) (any, error) { <-ctx.Done(); return nil, ctx.Err() }}}},
			[]string{"a turn of t at <nil>", "a stream at /aturn", "a runBegan", "a toolCallAdded", "a argumentsAppended", "a toolCallClosed", "a runEnded", "a stream ends: <nil>",
				"a tool slow at /aturn", `a tool ends: "" the session stopped the run`, "a turn ends: the run was stopped"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				row.o.ThreadID = "t"
				o, lines := observed(row.o)
				s := client.NewSession(script(row.turn), o)
				turn, err := s.Start(t.Context(), nil)
				require.NoError(t, err)
				synctest.Wait()
				require.NoError(t, turn.Stop(t.Context()))
				assert.Equal(t, row.want, *lines)
			})
		})
	}
	t.Run("a turn that never began was never observed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			o, lines := observed(client.SessionOptions{ThreadID: "t", WhenBusy: client.Queue})
			s := client.NewSession(script(then(says(begins), waits)), o)
			_, err := s.Start(t.Context(), nil)
			require.NoError(t, err)
			queued, err := s.Start(t.Context(), nil)
			require.NoError(t, err)
			require.NoError(t, queued.Stop(t.Context()))
			synctest.Wait()
			s.Close()
			synctest.Wait()
			assert.Equal(t, []string{"a turn of t at <nil>", "a stream at /aturn", "a runBegan", "a stream ends: the run was stopped", "a turn ends: the run was stopped"}, *lines)
		})
	})
	t.Run("a stream that lingers may end after its turn", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			o, lines := observed(client.SessionOptions{ThreadID: "t"})
			s := client.NewSession(script(then(says(begins, succeeds), sleeps(time.Second),
				says(&event.RunStarted{ThreadID: "t", RunID: "r2"}), sleeps(time.Second))), o)
			_, err := s.Send(t.Context())
			require.NoError(t, err)
			time.Sleep(time.Minute)
			synctest.Wait()
			assert.Equal(t, []string{"a turn of t at <nil>", "a stream at /aturn", "a runBegan", "a runEnded", "a turn ends: <nil>", "a runBegan",
				"a stream ends: the stream ended before the run did"}, *lines)
		})
	})
}
