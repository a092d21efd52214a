package emit_test

import (
	"context"
	"testing"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/emit"
	"github.com/agfold/agfold/event"
)

// What a delta costs from the agent's function to the reader, against events that the function makes itself.
func BenchmarkDelta(b *testing.B) {
	read := func(b *testing.B, agent client.Agent) {
		b.ReportAllocs()
		for _, err := range agent.Run(b.Context(), event.RunInput{}) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("client.Emit", func(b *testing.B) {
		read(b, client.Emit(func(_ context.Context, _ event.RunInput, send func(...event.Event) error) error {
			for range b.N {
				if err := send(&event.TextMessageContent{MessageID: "m", Delta: "word "}); err != nil {
					return err
				}
			}
			return nil
		}))
	})
	b.Run("emit.Agent", func(b *testing.B) {
		read(b, emit.Agent(func(_ context.Context, run *emit.Run) error {
			text := run.Text(nil)
			for range b.N {
				if _, err := text.WriteString("word "); err != nil {
					return err
				}
			}
			return nil
		}, nil))
	})
}
