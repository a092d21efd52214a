package serve_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/serve"
)

// A run that is recorded while an older thread is being saved is not lost.
func TestARunDuringASaveStaysRecorded(t *testing.T) {
	folder := t.TempDir()
	stored, err := serve.NewDir(folder).Open(t.Context(), "a")
	require.NoError(t, err)
	agent := client.Chain(says("Hello"), stored.Record())
	run := func(th *reducer.Thread, id string) *reducer.Thread {
		th, err := reducer.Fold(agent.Run(t.Context(), event.RunInput{ThreadID: "a", RunID: id}), &reducer.Options{Thread: th})
		require.NoError(t, err)
		return th
	}
	first := run(nil, "r1")
	require.NoError(t, stored.Save(t.Context(), func() *reducer.Thread {
		run(first, "r2")
		return first
	}))

	// What a process finds that comes after a crash: the files without the lock.
	crashed := t.TempDir()
	for _, pattern := range []string{"*.json", "*.run"} {
		files, err := filepath.Glob(filepath.Join(folder, pattern))
		require.NoError(t, err)
		for _, file := range files {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(crashed, filepath.Base(file)), data, 0o600))
		}
	}
	found, err := serve.NewDir(crashed).Open(t.Context(), "a")
	require.NoError(t, err)
	defer found.Close()
	require.NotNil(t, found.Thread())
	assert.Equal(t, 2, found.Thread().Runs.Len())

	require.NoError(t, stored.Save(t.Context(), func() *reducer.Thread { return found.Thread() }))
	require.NoError(t, stored.Close())
	left, err := filepath.Glob(filepath.Join(folder, "*.run"))
	require.NoError(t, err)
	assert.Empty(t, left, "what is saved need not be recorded")
}

// A stream that outlives its run cannot change a thread that has been stored for the last time.
func TestADroppedThreadIsStoredAsItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		agent := client.Emit(func(ctx context.Context, in event.RunInput, emit func(...event.Event) error) error {
			err := emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID}, &event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID})
			if err != nil {
				return err
			}
			time.Sleep(time.Second)
			_ = emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: "by-itself"})
			<-ctx.Done()
			return ctx.Err()
		})
		s := open(t, agent, serve.ThreadsOptions{})
		require.Equal(t, 202, s.post("/a/messages", `{"content":"Hi"}`).Status)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		th := s.thread("a")
		require.Equal(t, 2, th.Runs.Len())
		assert.Equal(t, reducer.Stopped, th.Runs.At(1).Status)
	})
}

// An edit that is refused changes nothing, not even what pends.
func TestARefusedEditChangesNothing(t *testing.T) {
	session := client.NewSession(says("Hello"), &client.SessionOptions{Messages: []*messages.Message{
		{ID: "m1", Role: messages.RoleUser, Content: messages.Text("Hi")}, {ID: "m2", Role: messages.RoleUser, Content: messages.Text("Ho")},
	}})
	defer session.Close()
	before := session.Thread()
	_, err := session.Start(t.Context(), &client.RunOptions{Rewind: "m2", Messages: []*messages.Message{{ID: "m1", Role: messages.RoleUser, Content: messages.Text("Hi")}}})
	var duplicate *client.DuplicateError
	require.ErrorAs(t, err, &duplicate)
	assert.Same(t, before, session.Thread())
	var gone *client.NoMessageError
	_, err = session.Start(t.Context(), &client.RunOptions{Rewind: "m3"})
	require.ErrorAs(t, err, &gone)
	assert.Equal(t, "m3", gone.ID)
	assert.Same(t, before, session.Thread())

	turn, err := session.Start(t.Context(), &client.RunOptions{Rewind: "m2", Messages: []*messages.Message{messages.UserText("Instead")}})
	require.NoError(t, err)
	_, err = turn.Wait(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"user Hi", "user Instead", "assistant Hello"}, texts(session.Thread()))
}
