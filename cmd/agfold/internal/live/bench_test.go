package live

import (
	"strings"
	"testing"

	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// BenchmarkLines draws the end of a long conversation, as every picture does.
func BenchmarkLines(b *testing.B) {
	word := strings.Repeat("some words of an answer ", 20)
	for _, c := range []struct {
		name              string
		count, paragraphs int
	}{{"10 messages", 10, 1}, {"10000 messages", 10_000, 1}, {"one of 500 kB", 1, 1000}} {
		b.Run(c.name, func(b *testing.B) {
			var msgs []*messages.Message
			for range c.count {
				msgs = append(msgs, messages.AssistantText(strings.Repeat(word+"\n", c.paragraphs)))
			}
			th := &reducer.Thread{Messages: messages.NewList(msgs...)}
			for b.Loop() {
				Lines(th, Look{Width: 120, Height: 40, Color: true})
			}
		})
	}
}
