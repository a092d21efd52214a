package client

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// TestLongFoldsDoNotHoldTheLock holds that while the fold works on what may take long, the session's lock is free and
// others see the thread as it was right before.
func TestLongFoldsDoNotHoldTheLock(t *testing.T) {
	for _, typ := range event.Types() {
		ev, ok := map[event.Type]event.Event{
			event.TypeMessagesSnapshot: &event.MessagesSnapshot{}, event.TypeStateSnapshot: &event.StateSnapshot{}, event.TypeStateDelta: &event.StateDelta{},
			event.TypeActivitySnapshot: &event.ActivitySnapshot{}, event.TypeActivityDelta: &event.ActivityDelta{},
			event.TypeRunStarted: &event.RunStarted{}, event.TypeRunFinished: &event.RunFinished{}, event.TypeRunError: &event.RunError{},
			event.TypeTextMessageEnd: &event.TextMessageEnd{}, event.TypeReasoningMessageEnd: &event.ReasoningMessageEnd{}, event.TypeToolCallEnd: &event.ToolCallEnd{},
		}[typ]
		if ok {
			assert.True(t, takesLong(ev), typ)
		}
	}
	assert.False(t, takesLong(&event.TextMessageContent{}), "a delta costs its own bytes")

	var s *Session
	s = NewSession(Emit(func(_ context.Context, _ event.RunInput, emit func(...event.Event) error) error {
		if err := emit(&event.RunStarted{ThreadID: "t", RunID: "r"}, &event.StateSnapshot{Snapshot: state.Int(1)}); err != nil {
			return err
		}
		// What the session does around the fold of a long event.
		s.mu.Lock()
		before := s.fold.Thread()
		s.hold()
		s.mu.Unlock()
		require.NoError(t, s.fold.Apply(&event.StateSnapshot{Snapshot: state.Int(2)}))
		assert.Same(t, before, s.Thread())
		s.mu.Lock()
		s.held = nil
		s.mu.Unlock()
		assert.True(t, state.Int(2).Equal(s.Thread().State))
		return emit(&event.RunFinished{ThreadID: "t", RunID: "r"})
	}), nil)
	_, err := s.Send(t.Context())
	require.NoError(t, err)
}

// TestEditsDoNotHoldTheLock holds that a change of the thread between runs is made without the session's lock.
func TestEditsDoNotHoldTheLock(t *testing.T) {
	s := NewSession(Emit(func(context.Context, event.RunInput, func(...event.Event) error) error { return nil }), nil)
	before := s.Thread()
	err := s.edit(func(th *reducer.Thread) (*reducer.Thread, error) {
		assert.Same(t, before, s.Thread())
		_ = s.Snapshot()
		return s.withMessages(th, s.completed([]*messages.Message{messages.UserText("hi")}))
	})
	require.NoError(t, err)
	assert.Equal(t, 1, s.Thread().Messages.Len())
	err = s.edit(func(th *reducer.Thread) (*reducer.Thread, error) {
		s.Close()
		return withState(th, state.Int(1)), nil
	})
	assert.ErrorIs(t, err, ErrClosed, "the session was closed meanwhile")
	assert.Equal(t, 1, s.Thread().Messages.Len())
}
