package client

import (
	"context"
	"errors"
	"io"
	"iter"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
)

var runStarted = &event.RunStarted{ThreadID: "t", RunID: "r"}

// both makes the same agent in both shapes: it emits n events and returns err.
func both(n int, end func() error) map[string]Agent {
	return map[string]Agent{
		"AgentFunc": AgentFunc(func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
			return func(yield func(event.Event, error) bool) {
				for range n {
					if !yield(runStarted, nil) {
						return
					}
				}
				if err := end(); err != nil {
					yield(nil, err)
				}
			}
		}),
		"Emit": Emit(func(ctx context.Context, in event.RunInput, emit func(...event.Event) error) error {
			for range n {
				if err := emit(runStarted); err != nil {
					return err
				}
			}
			return end()
		}),
	}
}

func clean() error { return nil }

func TestGoAgentsThatReturnNilWhenTheContextEnds(t *testing.T) {
	for name, agent := range map[string]Agent{
		"AgentFunc": AgentFunc(func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
			return func(yield func(event.Event, error) bool) {
				if yield(runStarted, nil) {
					<-ctx.Done()
				}
			}
		}),
		"Emit": Emit(func(ctx context.Context, in event.RunInput, emit func(...event.Event) error) error {
			err := emit(runStarted)
			<-ctx.Done()
			return err
		}),
	} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var last error
		for _, err := range agent.Run(ctx, input) {
			last = err
			cancel()
		}
		require.ErrorIs(t, last, context.Canceled, name)
	}
}

func TestGoAgents(t *testing.T) {
	for name, agent := range both(3, clean) {
		t.Run("a clean end yields no error, "+name, func(t *testing.T) {
			got, _, err := read(t, agent.Run(t.Context(), input))
			require.NoError(t, err)
			assert.Equal(t, []string{started, started, started}, got)
		})
		t.Run("breaking off, "+name, func(t *testing.T) {
			n := 0
			for range agent.Run(t.Context(), input) {
				n++
				break
			}
			assert.Equal(t, 1, n)
		})
		t.Run("the end of the context ends it, "+name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			n := 0
			var last error
			for _, err := range agent.Run(ctx, input) {
				n++
				last = err
				cancel()
			}
			assert.Equal(t, 2, n)
			require.ErrorIs(t, last, context.Canceled)
			_, _, err := read(t, agent.Run(ctx, input))
			require.ErrorIs(t, err, context.Canceled, "before it began")
		})
		t.Run("a panic of the reader is the reader's, "+name, func(t *testing.T) {
			assert.PanicsWithValue(t, "mine", func() {
				for range agent.Run(t.Context(), input) {
					panic("mine")
				}
			})
		})
	}
	boom := errors.New("boom")
	for name, agent := range both(1, func() error { return boom }) {
		t.Run("an error comes last and as it is, "+name, func(t *testing.T) {
			got, _, err := read(t, agent.Run(t.Context(), input))
			assert.Equal(t, []string{started}, got)
			assert.Equal(t, boom, err)
		})
	}
	for name, agent := range both(1, func() error { panic(io.ErrClosedPipe) }) {
		t.Run("a panic becomes an error, "+name, func(t *testing.T) {
			got, _, err := read(t, agent.Run(t.Context(), input))
			assert.Equal(t, []string{started}, got)
			require.ErrorAs(t, err, new(*PanicError))
			require.ErrorIs(t, err, io.ErrClosedPipe)
			var p *PanicError
			require.ErrorAs(t, err, &p)
			assert.Contains(t, string(p.Stack), "func_test.go")
			assert.Equal(t, "agent panicked: io: read/write on closed pipe", err.Error())
		})
	}
	for name, agent := range both(0, func() error { panic("text") }) {
		t.Run("a panic with a value that is not an error, "+name, func(t *testing.T) {
			_, _, err := read(t, agent.Run(t.Context(), input))
			require.ErrorAs(t, err, new(*PanicError))
		})
	}
}

func TestEmitTellsWhenToStop(t *testing.T) {
	t.Run("what emit has reported is kept, whatever the function returns", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		agent := Emit(func(ctx context.Context, in event.RunInput, emit func(...event.Event) error) error {
			cancel()
			assert.ErrorIs(t, emit(runStarted), context.Canceled)
			assert.ErrorIs(t, emit(runStarted), context.Canceled)
			return nil
		})
		got, _, err := read(t, agent.Run(ctx, input))
		assert.Empty(t, got)
		require.ErrorIs(t, err, context.Canceled)
	})
	t.Run("emitting on after the reader has left is harmless", func(t *testing.T) {
		agent := Emit(func(ctx context.Context, in event.RunInput, emit func(...event.Event) error) error {
			require.NoError(t, emit(runStarted)) // the reader stays for the first
			require.Error(t, emit(runStarted))
			require.Error(t, emit(runStarted))
			return nil
		})
		n := 0
		for range agent.Run(t.Context(), input) {
			if n++; n == 2 {
				break
			}
		}
		assert.Equal(t, 2, n)
	})
	t.Run("a nil event is an error", func(t *testing.T) {
		agent := Emit(func(ctx context.Context, in event.RunInput, emit func(...event.Event) error) error { return emit(nil) })
		_, _, err := read(t, agent.Run(t.Context(), input))
		require.ErrorIs(t, err, errNilEvent)
	})
	t.Run("the input comes through", func(t *testing.T) {
		agent := Emit(func(ctx context.Context, in event.RunInput, emit func(...event.Event) error) error {
			return emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID})
		})
		got, _, err := read(t, agent.Run(t.Context(), input))
		require.NoError(t, err)
		assert.Equal(t, []string{started}, got)
	})
}
