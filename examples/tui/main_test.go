package main

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/agfold/agfold/emit"
	"github.com/agfold/agfold/event"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestChat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		require.NoError(t, chat(t.Context(), emit.Agent(echo, nil), strings.NewReader("hello\nbye\n"), &out))
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
		agent := emit.Agent(func(_ context.Context, run *emit.Run) error {
			resume := run.Input().Resume
			for _, entry := range resume {
				got = append(got, entry.Status)
			}
			if len(resume) > 0 {
				return nil
			}
			run.Interrupt(event.Interrupt{ID: "i", Reason: "book"})
			_, err := run.Interrupt(event.Interrupt{ID: "j", Reason: "pay"})
			return err
		}, nil)
		synctest.Test(t, func(t *testing.T) {
			var out strings.Builder
			require.NoError(t, chat(t.Context(), agent, strings.NewReader(lines), &out))
			assert.True(t, strings.HasSuffix(out.String(), "[closed] "))
		})
		assert.Equal(t, want, got)
	}
}
