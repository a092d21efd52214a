package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

// sees returns a client that answers every request with a whole run and adds the request to seen.
func sees(seen *[]*http.Request) *http.Client {
	return &http.Client{Transport: transport(func(req *http.Request) (*http.Response, error) {
		*seen = append(*seen, req)
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(stream))}, nil
	})}
}

func TestPrepare(t *testing.T) {
	t.Run("a hook sets a header and a query for each request", func(t *testing.T) {
		var seen []*http.Request
		tokens := 0
		agent := NewHTTP("http://agent.test/run?z=1&a=2", &HTTPOptions{
			Client: sees(&seen), Header: http.Header{"X-App": {"tui"}, "Authorization": {"old"}},
			Prepare: func(ctx context.Context, r *Request) error {
				tokens++
				assert.Equal(t, "t", r.Input.ThreadID)
				assert.Equal(t, "tui", r.Header.Get("X-App"))
				assert.Equal(t, "old", r.Header.Get("Authorization"), "each request starts from the options")
				assert.Equal(t, "yes", ctx.Value(ctxKey{}), "the context of the run")
				r.Header.Set("Authorization", "Bearer "+strings.Repeat("x", tokens))
				r.Header.Set("Content-Type", "text/html")
				if tokens == 2 {
					r.Query.Set("thread", r.Input.ThreadID+"/ü")
				}
				return nil
			},
		})
		ctx := context.WithValue(t.Context(), ctxKey{}, "yes")
		for range 2 {
			_, _, err := read(t, agent.Run(ctx, input))
			require.NoError(t, err)
		}
		require.Len(t, seen, 2)
		assert.Equal(t, "Bearer x", seen[0].Header.Get("Authorization"))
		assert.Equal(t, "z=1&a=2", seen[0].URL.RawQuery, "an unchanged query is sent as it was written")
		assert.Equal(t, "application/json", seen[0].Header.Get("Content-Type"))
		assert.Equal(t, "Bearer xx", seen[1].Header.Get("Authorization"))
		assert.Equal(t, "a=2&thread=t%2F%C3%BC&z=1", seen[1].URL.RawQuery)
	})
	t.Run("its error ends the run before anything is sent", func(t *testing.T) {
		var seen []*http.Request
		expired := errors.New("the refresh token has expired")
		agent := NewHTTP("http://agent.test/", &HTTPOptions{Client: sees(&seen), Prepare: func(context.Context, *Request) error { return expired }})
		got, _, err := read(t, agent.Run(t.Context(), input))
		var e *PrepareError
		require.ErrorAs(t, err, &e)
		require.ErrorIs(t, err, expired)
		assert.NotErrorIs(t, err, ErrTruncated)
		assert.Equal(t, "preparing the request: the refresh token has expired", err.Error())
		assert.Empty(t, got)
		assert.Empty(t, seen)
	})
	t.Run("a canceled run is canceled, whatever the hook returns", func(t *testing.T) {
		for _, returned := range []error{nil, errors.New("gave up")} {
			var seen []*http.Request
			ctx, cancel := context.WithCancel(t.Context())
			agent := NewHTTP("http://agent.test/", &HTTPOptions{Client: sees(&seen), Prepare: func(context.Context, *Request) error {
				cancel()
				return returned
			}})
			_, _, err := read(t, agent.Run(ctx, input))
			require.ErrorIs(t, err, context.Canceled)
			assert.NotErrorAs(t, err, new(*PrepareError))
			assert.Empty(t, seen)
		}
	})
	t.Run("it is not called for an input that cannot be sent", func(t *testing.T) {
		agent := NewHTTP("http://agent.test/", &HTTPOptions{Prepare: func(context.Context, *Request) error {
			t.Error("called")
			return nil
		}})
		_, _, err := read(t, agent.Run(t.Context(), event.RunInput{ThreadID: "t", RunID: "r", Messages: []*messages.Message{nil}}))
		require.Error(t, err)
	})
	t.Run("what it sets does not go to another server", func(t *testing.T) {
		var there http.Header
		agent := NewHTTP("http://agent.test/", &HTTPOptions{
			Prepare: func(_ context.Context, r *Request) error {
				r.Header.Set("X-Token", "secret")
				r.Query.Set("key", "secret")
				return nil
			},
			Client: &http.Client{Transport: transport(func(req *http.Request) (*http.Response, error) {
				if req.URL.Host == "agent.test" {
					return &http.Response{StatusCode: 307, Header: http.Header{"Location": {"http://other.test/"}}, Body: http.NoBody}, nil
				}
				there = req.Header
				assert.Empty(t, req.URL.RawQuery)
				return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(stream))}, nil
			})},
		})
		_, _, err := read(t, agent.Run(t.Context(), input))
		require.NoError(t, err)
		assert.Equal(t, http.Header{"Accept": {"text/event-stream"}, "Content-Type": {"application/json"}}, there)
	})
}

type ctxKey struct{}

func TestAccept(t *testing.T) {
	for given, want := range map[string]string{
		"":                                     "text/event-stream",
		"text/html":                            "text/event-stream",
		"application/json, text/event-stream":  "application/json, text/event-stream",
		"Text/Event-Stream;q=0.9, */*;q=0.1":   "Text/Event-Stream;q=0.9, */*;q=0.1",
		"text/event-streams, application/json": "text/event-stream",
	} {
		var seen []*http.Request
		o := &HTTPOptions{Client: sees(&seen), Header: http.Header{}}
		if given != "" {
			o.Header.Set("Accept", given)
		}
		_, _, err := read(t, NewHTTP("http://agent.test/", o).Run(t.Context(), input))
		require.NoError(t, err)
		assert.Equal(t, []string{want}, seen[0].Header["Accept"], given)
	}
}
