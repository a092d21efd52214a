package serve_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/serve"
)

func TestIdleThreadsAreStoredAndDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, says("Hello"), serve.ThreadsOptions{IdleTimeout: time.Minute})
		require.Equal(t, 202, s.post("/a/messages", `{"content":"Hi"}`).Status)
		require.Equal(t, 404, s.post("/empty/stop", "").Status)
		synctest.Wait()
		assert.Equal(t, []string{"a"}, s.store.ids(saved), "after the run")
		time.Sleep(59 * time.Second)
		require.Equal(t, 202, s.post("/a/stop", "").Status)
		time.Sleep(59 * time.Second)
		assert.Equal(t, []string{"empty"}, s.store.ids(closed))
		time.Sleep(2 * time.Second)
		assert.Equal(t, []string{"empty", "a"}, s.store.ids(closed))
		assert.Equal(t, []string{"a"}, s.store.ids(saved), "not again, and nothing of an empty thread")

		require.Equal(t, 202, s.post("/a/messages", `{"content":"More"}`).Status)
		synctest.Wait()
		assert.Equal(t, []string{"user Hi", "assistant Hello", "user More", "assistant Hello"}, texts(s.thread("a")))
	})
}

func TestARunIsNotIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var why cause
		s := open(t, hold(&why, started), serve.ThreadsOptions{IdleTimeout: time.Minute})
		require.Equal(t, 202, s.post("/a/messages", `{"content":"Hi"}`).Status)
		time.Sleep(time.Hour)
		assert.Empty(t, s.store.ids(closed))
		assert.NoError(t, why.get())
		th := s.thread("a")
		assert.ErrorContains(t, why.get(), "server stops")
		assert.Equal(t, []string{"user Hi"}, texts(th))
	})
}

func TestThreadsAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var why cause
		s := open(t, hold(&why, started), serve.ThreadsOptions{MaxThreads: 2})
		require.Equal(t, 404, s.post("/a/stop", "").Status)
		require.Equal(t, 202, s.post("/b/messages", `{"content":"Hi"}`).Status)
		require.Equal(t, 202, s.post("/c/messages", `{"content":"Hi"}`).Status, "a goes")
		assert.Equal(t, []string{"a"}, s.store.ids(closed))
		got := s.post("/d/stop", "")
		assert.Equal(t, http.StatusServiceUnavailable, got.Status, "b and c are in use")
		assert.Equal(t, "1", got.header.Get("Retry-After"))
		require.Equal(t, 202, s.post("/b/stop", "").Status)
		synctest.Wait()
		require.Equal(t, 404, s.post("/d/stop", "").Status, "b goes")
		assert.Equal(t, []string{"a", "b"}, s.store.ids(closed))
		require.NoError(t, s.threads.Shutdown(t.Context()))
	})
}

// Many requests for the same and for other threads at once: each thread is loaded once, and one run is accepted at a time.
func TestStormOfPosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var why cause
		s := open(t, hold(&why, started), serve.ThreadsOptions{MaxThreads: 10})
		var mu sync.Mutex
		statuses := map[int]int{}
		var wg sync.WaitGroup
		for i := range 500 {
			wg.Go(func() {
				got := s.post(fmt.Sprintf("/%d/messages", i%5), `{"content":"Hi"}`)
				mu.Lock()
				statuses[got.Status]++
				mu.Unlock()
			})
		}
		wg.Wait()
		assert.Equal(t, map[int]int{202: 5, 409: 495}, statuses)
		assert.Len(t, s.store.ids(opened), 5)
		require.NoError(t, s.threads.Shutdown(t.Context()))
		for i := range 5 {
			assert.NotNil(t, s.store.stored(fmt.Sprint(i)))
		}
	})
}

func TestShutdownWaitsNoLongerThanItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		deaf := client.Emit(func(context.Context, event.RunInput, func(...event.Event) error) error { <-free; return nil })
		s := open(t, deaf, serve.ThreadsOptions{})
		require.Equal(t, 202, s.post("/a/messages", `{"content":"Hi"}`).Status)
		synctest.Wait() // until the agent has been asked
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		assert.ErrorIs(t, s.threads.Shutdown(ctx), context.DeadlineExceeded)
		close(free)
		assert.Equal(t, []string{"user Hi"}, texts(s.thread("a")))
	})
}

func TestAStoreThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("disk full")
		s := open(t, says("Hello"), serve.ThreadsOptions{IdleTimeout: time.Minute})
		s.store.fail(full)
		require.Equal(t, 202, s.post("/a/messages", `{"content":"Hi"}`).Status)
		time.Sleep(time.Hour)
		assert.Empty(t, s.store.ids(closed), "what cannot be stored stays")
		s.store.fail(nil)
		time.Sleep(2 * time.Minute)
		assert.Equal(t, []string{"a"}, s.store.ids(closed))
		assert.Equal(t, []string{"user Hi", "assistant Hello"}, texts(s.store.stored("a")))
		require.Equal(t, 202, s.post("/a/messages", `{"content":"Hi"}`).Status)
		synctest.Wait()
		s.store.fail(full)
		require.Equal(t, 202, s.post("/a/messages", `{"content":"Hi"}`).Status)
		synctest.Wait()
		assert.ErrorIs(t, s.threads.Shutdown(t.Context()), full)
	})
}

// storeFunc is a store whose Open is a function.
type storeFunc func(id string) (serve.Stored, error)

func (f storeFunc) Open(_ context.Context, id string) (serve.Stored, error) { return f(id) }

func TestAThreadThatCannotBeLoaded(t *testing.T) {
	for name, open := range map[string]storeFunc{
		"an error": func(string) (serve.Stored, error) { return nil, errors.New("secret") },
		"a panic":  func(string) (serve.Stored, error) { panic("secret") },
	} {
		t.Run(name, func(t *testing.T) {
			s := &site{t: t, threads: serve.NewThreads(says("Hello"), &serve.ThreadsOptions{
				Store: open, Logger: quiet, Authorize: func(*http.Request, string) error { return nil },
			})}
			for range 2 {
				got := s.post("/a/stop", "")
				assert.Equal(t, http.StatusInternalServerError, got.Status)
				assert.NotContains(t, got.Detail, "secret")
			}
			require.NoError(t, s.threads.Shutdown(t.Context()))
		})
	}
}

// A thread whose options panic is not held on to.
func TestOptionsThatPanic(t *testing.T) {
	broken := true
	s := open(t, says("Hello"), serve.ThreadsOptions{Session: func(string) *client.SessionOptions {
		if broken {
			panic("secret")
		}
		return nil
	}})
	assert.Equal(t, http.StatusInternalServerError, s.post("/a/stop", "").Status)
	assert.Equal(t, []string{"a"}, s.store.ids(closed))
	broken = false
	assert.Equal(t, 404, s.post("/a/stop", "").Status)
	require.NoError(t, s.threads.Shutdown(t.Context()))
}

func TestAThreadOfAnotherProcess(t *testing.T) {
	path := t.TempDir()
	a := open(t, says("Hello"), serve.ThreadsOptions{Store: serve.NewDir(path)})
	b := open(t, says("Hello"), serve.ThreadsOptions{Store: serve.NewDir(path)})
	require.Equal(t, 202, a.post("/a/messages", `{"content":"Hi"}`).Status)
	got := b.post("/a/messages", `{"content":"Hi"}`)
	assert.Equal(t, http.StatusConflict, got.Status)
	assert.Contains(t, got.Detail, "held by another process")
	a.settle("a")
	require.NoError(t, a.threads.Shutdown(t.Context()))
	require.Equal(t, 202, b.post("/a/messages", `{"content":"More"}`).Status)
	b.settle("a")
	assert.Equal(t, []string{"user Hi", "assistant Hello", "user More", "assistant Hello"}, texts(b.thread("a")))

	named := &site{t: t, threads: serve.NewThreads(says("Hello"), &serve.ThreadsOptions{
		Store:     storeFunc(func(string) (serve.Stored, error) { return nil, &serve.HeldError{Holder: "node-7"} }),
		Authorize: func(*http.Request, string) error { return nil },
	})}
	got = named.post("/a/messages", `{"content":"Hi"}`)
	assert.Equal(t, http.StatusConflict, got.Status)
	assert.Equal(t, "node-7", got.Holder)
}

// leased is a store whose lease is lost.
type leased struct {
	serve.Stored
	lost chan struct{}
}

func (l *leased) Lost() <-chan struct{} { return l.lost }

func TestALostLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory, lost := serve.NewMemory(), make(chan struct{})
		var why cause
		s := open(t, hold(&why, started), serve.ThreadsOptions{Store: storeFunc(func(id string) (serve.Stored, error) {
			stored, err := memory.Open(t.Context(), id)
			return &leased{stored, lost}, err
		})})
		require.Equal(t, 202, s.post("/a/messages", `{"content":"Hi"}`).Status)
		synctest.Wait()
		close(lost)
		synctest.Wait()
		assert.Error(t, why.get(), "the run is stopped")
		assert.Empty(t, s.store.ids(saved), "and nothing is saved")
		assert.Equal(t, []string{"a"}, s.store.ids(closed))
		lost = make(chan struct{})
		require.Equal(t, 202, s.post("/a/messages", `{"content":"Hi"}`).Status, "it is taken again")
		require.NoError(t, s.threads.Shutdown(t.Context()))
	})
}

// streams is an agent that says something and never ends.
var streams = client.Emit(func(ctx context.Context, in event.RunInput, emit func(...event.Event) error) error {
	id := "answer-" + in.RunID
	if err := emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID}, &event.TextMessageStart{MessageID: id},
		&event.TextMessageContent{MessageID: id, Delta: "Once upon"}, &event.TextMessageContent{MessageID: id, Delta: " a time"}); err != nil {
		return err
	}
	<-ctx.Done()
	return ctx.Err()
})

// copyDir copies what is in a directory, as a process that is killed leaves it.
func copyDir(t *testing.T, from string) (to string) {
	to = t.TempDir()
	require.NoError(t, os.CopyFS(to, os.DirFS(from)))
	return to
}

// A server that is killed in the middle of a run: the thread is there again, truncated, and can be retried.
func TestRestartInTheMiddleOfARun(t *testing.T) {
	path := t.TempDir()
	s := open(t, streams, serve.ThreadsOptions{Store: serve.NewDir(path)})
	other := open(t, says("Hello"), serve.ThreadsOptions{Store: serve.NewDir(path)})
	require.Equal(t, 202, other.post("/A/messages", `{"content":"First"}`).Status)
	other.settle("A")
	require.Equal(t, []string{"user First", "assistant Hello"}, texts(other.thread("A")))

	require.Equal(t, 202, s.post("/A/messages", `{"content":"Tell me"}`).Status)
	run := filepath.Join(path, "t-%41.run")
	for {
		data, err := os.ReadFile(run)
		if err == nil && strings.Contains(string(data), " a time") {
			break
		}
		time.Sleep(time.Millisecond)
	}
	killed := copyDir(t, path)
	require.NoError(t, s.threads.Shutdown(t.Context()))

	data, err := os.ReadFile(filepath.Join(killed, "t-%41.run"))
	require.NoError(t, err)
	step := 1 // at each byte
	if testing.Short() {
		step = 29
	}
	for cut := 0; cut <= len(data); cut += step {
		at := copyDir(t, killed)
		require.NoError(t, os.Truncate(filepath.Join(at, "t-%41.run"), int64(cut)))
		stored, err := serve.NewDir(at).Open(t.Context(), "A")
		require.NoError(t, err, "cut at %d", cut)
		th := stored.Thread()
		require.Equal(t, []string{"user First", "assistant Hello"}, texts(th)[:2], "cut at %d", cut)
		if th.Runs.Len() == 2 {
			require.Equal(t, reducer.Truncated, th.Status(), "cut at %d", cut)
		}
		require.NoError(t, stored.Close())
		again, err := serve.NewDir(at).Open(t.Context(), "A")
		require.NoError(t, err)
		require.Equal(t, string(th.AppendJSON(nil)), string(again.Thread().AppendJSON(nil)), "recovering again changes nothing")
		require.NoError(t, again.Close())
	}

	restarted := open(t, says("Hello again"), serve.ThreadsOptions{Store: serve.NewDir(killed)})
	got := restarted.post("/A/retry", "")
	require.Equal(t, 202, got.Status, got.Detail)
	restarted.settle("A")
	th := restarted.thread("A")
	assert.Equal(t, []string{"user First", "assistant Hello", "user Tell me", "assistant Once upon a time", "assistant Hello again"}, texts(th))
	assert.Equal(t, reducer.Truncated, th.Runs.At(1).Status)
	assert.Equal(t, reducer.Succeeded, th.Status())
	stored, err := serve.NewDir(killed).Open(t.Context(), "A") // a run that was saved before its stream had ended is recorded still
	require.NoError(t, err)
	require.NoError(t, stored.Close())
	names, err := os.ReadDir(killed)
	require.NoError(t, err)
	require.Len(t, names, 1, "only the thread is left")
	info, err := names[0].Info()
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestFilesThatAreNotThreads(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON": "x", "no thread": `{"messages":1}`, "another thread": string((&reducer.Thread{ID: "b"}).AppendJSON(nil)),
	} {
		t.Run(name, func(t *testing.T) {
			path := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(path, "t-a.json"), []byte(text), 0o600))
			_, err := serve.NewDir(path).Open(t.Context(), "a")
			assert.ErrorContains(t, err, "t-a.json")
			left, err := os.ReadFile(filepath.Join(path, "t-a.json"))
			require.NoError(t, err)
			assert.Equal(t, text, string(left), "it is left as it is")
		})
	}
}

func TestLongIDsHaveNamesOfTheirOwn(t *testing.T) {
	dir := serve.NewDir(t.TempDir())
	long := strings.Repeat("x", 200)
	for _, id := range []string{long, long + "y", long[:110], strings.ToUpper(long)} {
		stored, err := dir.Open(t.Context(), id)
		require.NoError(t, err)
		require.Nil(t, stored.Thread(), id)
		require.NoError(t, stored.Save(t.Context(), func() *reducer.Thread { return &reducer.Thread{ID: id} }))
		require.NoError(t, stored.Close())
	}
}

// A stream that outlives its run: what comes after the thread was saved is not lost, and does not spoil what is recorded.
func TestARunThatTheAgentBeginsByItself(t *testing.T) {
	path := t.TempDir()
	more := make(chan struct{})
	agent := client.Emit(func(ctx context.Context, in event.RunInput, emit func(...event.Event) error) error {
		if err := emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID}, &event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID}); err != nil {
			return err
		}
		<-more
		if err := emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: "by itself"}, &event.TextMessageStart{MessageID: "m"},
			&event.TextMessageContent{MessageID: "m", Delta: "By the way"}); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	})
	s := open(t, agent, serve.ThreadsOptions{Store: serve.NewDir(path)})
	require.Equal(t, 202, s.post("/a/messages", `{"content":"Hi"}`).Status)
	for len(s.store.ids(saved)) == 0 {
		time.Sleep(time.Millisecond)
	}
	close(more)
	for {
		data, err := os.ReadFile(filepath.Join(path, "t-a.run"))
		if err == nil && strings.Contains(string(data), "By the way") {
			break
		}
		time.Sleep(time.Millisecond)
	}
	killed := copyDir(t, path)
	require.NoError(t, s.threads.Shutdown(t.Context()))
	assert.Equal(t, []string{"user Hi", "assistant By the way"}, texts(s.store.stored("a")))

	stored, err := serve.NewDir(killed).Open(t.Context(), "a")
	require.NoError(t, err)
	th := stored.Thread()
	assert.Equal(t, []string{"user Hi", "assistant By the way"}, texts(th))
	assert.Equal(t, 2, th.Runs.Len())
	assert.Equal(t, reducer.Truncated, th.Status())
	require.NoError(t, stored.Close())
	for _, dir := range []string{path, killed} {
		names, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, name := range names {
			assert.NotContains(t, name.Name(), ".lock")
		}
	}
}

// attached is a stored thread that is told its session.
type attached struct {
	serve.Stored
	session *client.Session
}

func (a *attached) Attach(s *client.Session) { a.session = s }

func TestAStoredThreadIsToldItsSession(t *testing.T) {
	var got *attached
	memory := serve.NewMemory()
	s := &site{t: t, threads: serve.NewThreads(says("Hello"), &serve.ThreadsOptions{
		Store: storeFunc(func(id string) (serve.Stored, error) {
			stored, err := memory.Open(t.Context(), id)
			got = &attached{Stored: stored}
			return got, err
		}),
		Authorize: func(*http.Request, string) error { return nil },
	})}
	require.Equal(t, http.StatusAccepted, s.post("/a/messages", `{"content":"Hi"}`).Status)
	require.NotNil(t, got.session)
	assert.Equal(t, "a", got.session.ID())
	require.NoError(t, s.threads.Shutdown(t.Context()))
}
