package client_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

// No constructor panics: what it cannot use is the error of every run, before anything is added or sent.
func TestWhatAConstructorCannotUseIsTheErrorOfEveryRun(t *testing.T) {
	nothing := func(client.Agent) client.Agent { return nil }
	for name, row := range map[string]struct {
		agent      client.Agent
		middleware client.Middleware // outside of which Log stands
		want       string
	}{
		"a nil agent":                        {nil, client.Log(nil), "there is no agent"},
		"a URL without a host":               {client.NewHTTP("http:///path", nil), client.Log(nil), `"http:///path" is not an http or https URL`},
		"a URL without a scheme":             {client.NewHTTP("localhost:80", nil), client.Log(nil), `"localhost:80" is not an http or https URL`},
		"a URL of another scheme":            {client.NewHTTP("ftp://x/", nil), client.Log(nil), `"ftp://x/" is not an http or https URL`},
		"an empty URL":                       {client.NewHTTP("", nil), client.Log(nil), `"" is not an http or https URL`},
		"a URL that cannot be parsed":        {client.NewHTTP("http://user:secret@host:port/", nil), client.Log(nil), `"…@host:port/" is not an http or https URL`},
		"a nil middleware":                   {script(), nil, "a middleware is nil"},
		"a middleware that returns no agent": {script(), nothing, "a middleware is nil, or returned a nil agent"},
		"a version that is not one":          {script(), client.Peer("abc"), `peer version "abc" is not digits and dots`},
		"no writer to record to":             {script(), client.Record(nil), "the recording.Writer is nil"},
		"no function to filter with":         {script(), client.FilterToolCalls(nil), "the function is nil"},
	} {
		t.Run(name, func(t *testing.T) {
			chain := []client.Middleware{client.Log(nil), row.middleware}
			for range 2 {
				var errs []error
				for ev, err := range client.Chain(row.agent, chain...).Run(t.Context(), event.RunInput{ThreadID: "t", RunID: "r"}) {
					assert.Nil(t, ev)
					errs = append(errs, err)
				}
				require.Len(t, errs, 1)
				assert.ErrorContains(t, errs[0], row.want)
			}
			for how, s := range map[string]*client.Session{
				"in the options": client.NewSession(row.agent, quiet(client.SessionOptions{Middleware: chain})),
				"as a chain":     client.NewSession(client.Chain(row.agent, chain...), quiet(client.SessionOptions{})),
			} {
				for range 2 {
					res, err := s.Send(t.Context(), messages.UserText("hi"))
					assert.ErrorContains(t, err, row.want, how)
					assert.Nil(t, res, how)
				}
				assert.Zero(t, s.Thread().Messages.Len(), how)
				assert.Zero(t, s.Thread().Runs.Len(), how)
			}
		})
	}
	t.Run("an agent by itself", func(t *testing.T) {
		n := 0
		for _, err := range client.NewHTTP("foo", nil).Run(t.Context(), event.RunInput{ThreadID: "t", RunID: "r"}) {
			n++
			assert.Error(t, err)
			assert.NotErrorAs(t, err, new(*client.TransportError), "nothing was sent")
		}
		assert.Equal(t, 1, n)
	})
	for name, o := range map[string]client.SessionOptions{
		"PeerVersion":              {PeerVersion: "abc"},
		"a tool without a name":    {Tools: []client.Tool{{Tool: event.Tool{Description: "tells it"}}}},
		"NewTool without any name": {Tools: []client.Tool{client.NewTool("", "", func(context.Context, struct{}) (any, error) { return nil, nil })}},
	} {
		t.Run(name, func(t *testing.T) {
			s := client.NewSession(script(), quiet(o))
			res, err := s.Send(t.Context(), messages.UserText("hi"))
			assert.Error(t, err)
			assert.Nil(t, res)
			assert.Zero(t, s.Thread().Messages.Len())
		})
	}
}
