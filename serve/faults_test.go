package serve_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/serve"
	"github.com/agfold/agfold/state"
)

// dialed returns a server of the handler that is reached through pipes, so that time can be faked: what its client does
// not read is not buffered anywhere.
func dialed(t *testing.T, h http.Handler) (dial func() net.Conn) {
	t.Helper()
	l := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
	server := &http.Server{Handler: h}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	return func() net.Conn {
		mine, theirs := net.Pipe()
		l.conns <- theirs
		return mine
	}
}

// pipes is a listener on which connections are put.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	select {
	case <-p.done:
	default:
		close(p.done)
	}
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

func post(body string, length int) string {
	return fmt.Sprintf("POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", length, body)
}

// A client that sends a byte now and then is refused once its time is over.
func TestSlowBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial := dialed(t, serve.Agent(emits(nil, started, finished), &serve.AgentOptions{Logger: quiet, BodyTimeout: 10 * time.Second}))
		c := dial()
		defer c.Close()
		begin := time.Now()
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			io.WriteString(c, post("", 100))
			for range 100 {
				if _, err := io.WriteString(c, "{"); err != nil {
					return
				}
				time.Sleep(time.Second)
			}
		}()
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		require.NoError(t, err)
		assert.Equal(t, http.StatusRequestTimeout, res.StatusCode)
		assert.Equal(t, 10*time.Second, time.Since(begin))
		assert.True(t, res.Close)
		res.Body.Close()
		c.Close()
		<-gone
	})
}

// A client that does not read stops the run, after a time and with a bounded amount waiting for it.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var emitted atomic.Int64
		var why cause
		agent := client.Emit(func(ctx context.Context, _ event.RunInput, emit func(...event.Event) error) error {
			if err := emit(started); err != nil {
				return err
			}
			for {
				if err := emit(&event.Custom{Name: strings.Repeat("x", 1000), Value: state.Null()}); err != nil {
					why.set(context.Cause(ctx))
					return err
				}
				emitted.Add(1)
			}
		})
		var log bytes.Buffer
		dial := dialed(t, serve.Agent(agent, &serve.AgentOptions{Logger: slog.New(slog.NewTextHandler(&log, nil)), WriteTimeout: 20 * time.Second}))
		c := dial()
		defer c.Close()
		begin := time.Now()
		io.WriteString(c, post(input, len(input)))
		synctest.Wait()
		assert.Less(t, emitted.Load(), int64(600))
		assert.NoError(t, why.get())
		time.Sleep(20*time.Second - time.Since(begin) + time.Millisecond)
		synctest.Wait()
		require.Error(t, why.get())
		assert.Contains(t, log.String(), "reads too slowly")
	})
}

// While the connection is slow, events leave together.
func TestEventsLeaveTogether(t *testing.T) {
	w := &slowWriter{ResponseRecorder: httptest.NewRecorder(), pass: make(chan struct{})}
	events := []event.Event{started}
	for range 1000 {
		events = append(events, &event.Custom{Name: "n", Value: state.Null()})
	}
	events = append(events, finished)
	agent := client.Emit(func(_ context.Context, _ event.RunInput, emit func(...event.Event) error) error {
		err := emit(events...)
		close(w.pass)
		return err
	})
	serve.Agent(agent, &serve.AgentOptions{Logger: quiet}).ServeHTTP(w, request(input))
	assert.Equal(t, 1002, strings.Count(w.Body.String(), "data: "))
	assert.LessOrEqual(t, w.writes, 3)
}

// slowWriter does not write before pass is closed.
type slowWriter struct {
	*httptest.ResponseRecorder
	pass   chan struct{}
	writes int
}

func (w *slowWriter) Write(b []byte) (int, error) {
	<-w.pass
	w.writes++
	return w.ResponseRecorder.Write(b)
}

// Wherever a connection breaks, the run stops and nothing stays behind.
func TestClientGoneAnywhere(t *testing.T) {
	whole := post(input, len(input))
	for cut := 0; cut <= len(whole)+40; cut += 3 {
		synctest.Test(t, func(t *testing.T) {
			var why cause
			dial := dialed(t, serve.Agent(hold(&why, started), &serve.AgentOptions{Logger: quiet}))
			c := dial()
			go io.WriteString(c, whole[:min(cut, len(whole))])
			synctest.Wait()
			io.CopyN(io.Discard, c, int64(max(0, cut-len(whole)))) // and so much of the answer
			c.Close()
			synctest.Wait()
			if cut >= len(whole) {
				require.Error(t, why.get(), "cut at %d", cut)
			}
		})
	}
}

// A writer that fails is told to the agent as the cause.
func TestBrokenWriter(t *testing.T) {
	var why cause
	broken := errors.New("broken")
	serve.Agent(hold(&why, started), &serve.AgentOptions{Logger: quiet}).ServeHTTP(&brokenWriter{httptest.NewRecorder(), broken}, request(input))
	assert.ErrorIs(t, why.get(), broken)
}

type brokenWriter struct {
	*httptest.ResponseRecorder
	err error
}

func (w *brokenWriter) Write([]byte) (int, error) { return 0, w.err }
