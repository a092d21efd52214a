package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/agfold/agfold/emit"
	"github.com/agfold/agfold/examples/assistant"
	"github.com/agfold/agfold/serve"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// browser is a client with cookies. The page itself is tested in a real browser, in internal/browsertest.
func browser(t *testing.T, server *httptest.Server, name string) func(method, path, body string) (int, string) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	c := &http.Client{Jar: jar}
	if name != "" {
		res, err := c.PostForm(server.URL+"/login", url.Values{"name": {name}})
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
	}
	return func(method, path, body string) (int, string) {
		t.Helper()
		req, err := http.NewRequest(method, server.URL+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		res, err := c.Do(req)
		require.NoError(t, err)
		defer res.Body.Close()
		assert.Contains(t, res.Header.Get("Content-Security-Policy"), "default-src 'self'")
		text, err := io.ReadAll(io.LimitReader(res.Body, 1<<16))
		require.NoError(t, err)
		return res.StatusCode, string(text)
	}
}

func TestThreadsBelongToUsers(t *testing.T) {
	threads := newThreads(emit.Agent(assistant.Run, nil), serve.NewMemory())
	server := httptest.NewServer(site(threads))
	defer server.Close()
	defer threads.Shutdown(t.Context())
	ann, bob, nobody := browser(t, server, "ann"), browser(t, server, "bob"), browser(t, server, "")
	for _, tc := range []struct {
		name   string
		do     func(method, path, body string) (int, string)
		path   string
		status int
	}{
		{"her own", ann, "/threads/ann.1/messages", http.StatusAccepted},
		{"another's", bob, "/threads/ann.1/messages", http.StatusForbidden},
		{"one whose name begins as hers", ann, "/threads/anna.1/messages", http.StatusForbidden},
		{"without a name", nobody, "/threads/.1/messages", http.StatusForbidden},
		{"who has not logged in", nobody, "/threads/ann.1/messages", http.StatusForbidden},
	} {
		status, text := tc.do(http.MethodPost, tc.path, `{"content":"Hi"}`)
		assert.Equal(t, tc.status, status, "%s: %s", tc.name, text)
	}
	_, who := ann(http.MethodGet, "/user", "")
	assert.Equal(t, "ann", who)
	status, page := nobody(http.MethodGet, "/", "")
	assert.Equal(t, http.StatusOK, status)
	assert.Contains(t, page, `id="login"`)
	status, _ = nobody(http.MethodPost, "/login", "name=Ann+Other")
	assert.Equal(t, http.StatusBadRequest, status)
}

// What an agent says reaches the page by textContent only.
func TestThePageHasNoHTMLFromOutside(t *testing.T) {
	for _, name := range []string{"page/page.js", "page/index.html"} {
		text, err := page.ReadFile(name)
		require.NoError(t, err)
		for _, never := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "<style", "style=", "onclick=\""} {
			assert.NotContains(t, string(text), never, name)
		}
	}
}
