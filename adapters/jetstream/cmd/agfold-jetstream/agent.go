package main

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

// agentOf returns the agent at a URL, or one that repeats what the user says, word by word.
func agentOf(url string, pause time.Duration) client.Agent {
	if url != "" {
		return client.NewHTTP(url, nil)
	}
	return client.Emit(func(ctx context.Context, in event.RunInput, emit func(...event.Event) error) error {
		said := "nothing"
		for _, m := range in.Messages {
			if m.Role == messages.RoleUser {
				said = cmp.Or(m.Text(), said)
			}
		}
		id := "echo-" + in.RunID
		if err := emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID}, &event.TextMessageStart{MessageID: id, Role: messages.RoleAssistant}); err != nil {
			return err
		}
		for word := range strings.FieldsSeq("You said: " + said) {
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return ctx.Err()
			}
			if err := emit(&event.TextMessageContent{MessageID: id, Delta: word + " "}); err != nil {
				return err
			}
		}
		return emit(&event.TextMessageEnd{MessageID: id}, &event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID})
	})
}
