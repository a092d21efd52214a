package routers

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/emit"
	"github.com/agfold/agfold/examples/assistant"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/serve"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Both handlers work behind each router, with streams that are flushed as they grow.
func TestRouters(t *testing.T) {
	for name, mount := range map[string]func(agent, threads http.Handler) http.Handler{"chi": mountChi, "gin": mountGin, "echo": mountEcho} {
		t.Run(name, func(t *testing.T) {
			agent := emit.Agent(assistant.Run, nil)
			threads := serve.NewThreads(agent, nil)
			server := httptest.NewServer(mount(serve.Agent(agent, nil), threads))
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			t.Cleanup(func() {
				cancel()
				assert.NoError(t, threads.Shutdown(context.Background()))
				server.Close()
			})

			s := client.NewSession(client.NewHTTP(server.URL+"/agent", nil), nil)
			_, err := s.Send(ctx, messages.UserText("hello"))
			require.NoError(t, err)
			turn, err := s.Start(ctx, &client.RunOptions{Messages: []*messages.Message{messages.UserText("count")}})
			require.NoError(t, err)
			for now := range s.Subscribe(ctx) { // before the run has ended
				if now.Messages.Len() == 4 && strings.HasPrefix(now.Messages.At(3).Text(), "1 2 3 ") {
					break
				}
			}
			require.NoError(t, ctx.Err())
			require.NoError(t, turn.Stop(ctx))

			thread := server.URL + "/threads/" + url.PathEscape("ann/1 ü%2F")
			res, err := http.Post(thread+"/messages", "application/json", strings.NewReader(`{"content":"count"}`))
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			require.Equal(t, http.StatusAccepted, res.StatusCode)
			f := client.Follow(ctx, thread, nil)
			for now := range f.Subscribe(ctx) {
				if now.Messages.Len() == 2 && strings.HasPrefix(now.Messages.At(1).Text(), "1 2 3 ") {
					assert.Equal(t, "ann/1 ü%2F", now.ID)
					break
				}
			}
			require.NoError(t, ctx.Err())
			res, err = http.Post(thread+"/stop", "", nil)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			assert.Equal(t, http.StatusAccepted, res.StatusCode)

			res, err = http.Get(server.URL + "/threads/agfold.js")
			require.NoError(t, err)
			defer res.Body.Close()
			line, err := bufio.NewReader(res.Body).ReadString('\n')
			require.NoError(t, err)
			assert.True(t, strings.HasPrefix(line, "//"), line)
		})
	}
}
