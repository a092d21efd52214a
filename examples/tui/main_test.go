package main

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestChat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		require.NoError(t, chat(t.Context(), client.Emit(echo), strings.NewReader("hello\nbye\n"), &out))
		assert.Contains(t, out.String(), "assistant: You said: hello")
		assert.True(t, strings.HasSuffix(out.String(), "assistant: You said: bye \n[closed] "), "the last drawing is the final state")
	})
}

func TestQuestionsAreAnswered(t *testing.T) {
	for lines, want := range map[string][]event.ResumeStatus{
		"go\ny\nn\n": {event.ResumeResolved, event.ResumeCancelled},
		"go\n":       {event.ResumeCancelled, event.ResumeCancelled},
	} {
		var got []event.ResumeStatus
		agent := client.Emit(func(_ context.Context, in event.RunInput, emit func(...event.Event) error) error {
			finished := &event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID}
			if len(in.Resume) == 0 {
				finished.Outcome = event.Outcome{Type: event.OutcomeInterrupt, Interrupts: []event.Interrupt{{ID: "i", Reason: "book"}, {ID: "j", Reason: "pay"}}}
			}
			for _, entry := range in.Resume {
				got = append(got, entry.Status)
			}
			return emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID}, finished)
		})
		synctest.Test(t, func(t *testing.T) {
			var out strings.Builder
			require.NoError(t, chat(t.Context(), agent, strings.NewReader(lines), &out))
			assert.True(t, strings.HasSuffix(out.String(), "[closed] "))
		})
		assert.Equal(t, want, got)
	}
}
