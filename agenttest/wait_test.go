package agenttest_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/agfold/agfold/agenttest"
	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/messages"
)

func TestWaitForFailsWithTheConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := client.NewSession(agenttest.Script(agenttest.Say("Hello.")), nil)
		defer s.Close()
		_, err := s.Send(t.Context(), messages.UserText("Hi"))
		assert.NoError(t, err)
		never := func(client.Snapshot) bool { return false }
		said := failure(t, func(r *recorder) { agenttest.WaitFor(r, s, never) })
		assert.Contains(t, said, "no snapshot fulfilled the condition in time, the last one is idle")
		assert.Contains(t, said, `assistant: "Hello."`)

		s.Close()
		said = failure(t, func(r *recorder) { agenttest.WaitFor(r, s, never) })
		assert.Contains(t, said, "before the source ended")
	})
}

// logged is a test whose errors are kept.
type logged struct {
	testing.TB
	cleanup []func()
	errors  int
}

func (l *logged) Cleanup(f func())      { l.cleanup = append(l.cleanup, f) }
func (l *logged) Errorf(string, ...any) { l.errors++ }

func TestNoLeaksFindsAGoroutineThatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &logged{TB: t}
		agenttest.NoLeaks(l)
		stop := make(chan struct{})
		go func() { <-stop }()
		l.cleanup[0]()
		assert.Equal(t, 1, l.errors)
		close(stop)
		synctest.Wait()
		l.cleanup[0]()
		assert.Equal(t, 1, l.errors, "it has ended")
	})
}
