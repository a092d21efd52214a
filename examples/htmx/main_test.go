package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agfold/agfold/agenttest"
	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/emit"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/examples/assistant"
	"github.com/agfold/agfold/messages"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tab is a page without a browser; the page itself is tested in a real one, in internal/browsertest.
type tab struct {
	t      *testing.T
	url    string
	events *bufio.Scanner
}

func open(t *testing.T, agent client.Agent) (*tab, *client.Session) {
	t.Helper()
	s := client.NewSession(agent, options)
	server := httptest.NewServer(site(s, ""))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(func() { cancel(); server.Close(); _ = s.Stop(context.Background()) })
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/events", nil)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	t.Cleanup(func() { res.Body.Close() })
	require.Equal(t, "text/event-stream", res.Header.Get("Content-Type"))
	return &tab{t, server.URL, bufio.NewScanner(res.Body)}, s
}

// until reads events until what has come contains all of these, and returns it.
func (p *tab) until(want ...string) string {
	p.t.Helper()
	var got strings.Builder
	for p.events.Scan() {
		line, ok := strings.CutPrefix(p.events.Text(), "data: ")
		require.True(p.t, ok || line == "", "%q", line)
		got.WriteString(line + "\n")
		if !ok && !slices.ContainsFunc(want, func(w string) bool { return !strings.Contains(got.String(), w) }) {
			return got.String()
		}
	}
	require.Fail(p.t, "the events end", "%v, without %q, after:\n%s", p.events.Err(), want, got.String())
	return ""
}

func (p *tab) post(action string, form url.Values) string {
	p.t.Helper()
	res, err := http.PostForm(p.url+"/"+action, form)
	require.NoError(p.t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(p.t, err)
	require.Equal(p.t, http.StatusOK, res.StatusCode, "%s", body)
	return string(body)
}

func TestAPageGetsOnlyWhatChanged(t *testing.T) {
	p, s := open(t, emit.Agent(assistant.Run, nil))
	p.until(`<ol id="messages" hx-swap-oob="true"></ol>`, `role="status" hx-swap-oob="true">idle`)
	assert.Contains(t, p.post("send", url.Values{"text": {"one"}}), `<input id="text"`)
	p.until("Hello! You said: one", ">idle")
	p.post("send", url.Values{"text": {"two"}})
	got := p.until("Hello! You said: two", ">idle")
	assert.NotContains(t, got, ">one<")
	assert.NotContains(t, got, "said: one")
	assert.NotContains(t, got, `id="interrupts"`)
	first := id(s.Thread().Messages.At(1))
	assert.Equal(t, 1, strings.Count(got, first), "only the place of the new one names the one before it")
	assert.Contains(t, got, `<ol hx-swap-oob="afterend:#`+first+`">`)
}

func TestInterruptsAreAnsweredRunsAreStoppedAndMessagesTypedAhead(t *testing.T) {
	p, s := open(t, emit.Agent(assistant.Run, nil))
	p.post("send", url.Values{"text": {"book"}})
	p.until(`<strong>find_hotel</strong>`, `Lisbon`, `Book Hotel Central for 95 €?`, ">waiting")
	refused := p.post("send", url.Values{"text": {"never mind"}})
	assert.Regexp(t, `<p id="error" role="alert" hx-swap-oob="true">.*interrupt.*</p>`, refused)
	assert.NotContains(t, refused, "<input", "what the user typed stays")
	p.post("answer", url.Values{"approve": {strconv.Quote(s.Thread().Interrupts[0].ID)}})
	p.until("Your answer was resolved: {&#34;approved&#34;:true}", `<div id="interrupts" hx-swap-oob="true"></div>`, ">idle")
	p.post("send", url.Values{"text": {"book another"}})
	p.until(">waiting")
	p.post("answer", nil)
	p.until("Your answer was cancelled", ">idle")

	p.post("send", url.Values{"text": {"count"}})
	p.until("1 2 3", `action="stop"`)
	p.post("send", url.Values{"text": {"typed ahead"}})
	p.until("<p>typed ahead</p>")
	p.post("stop", nil)
	p.until(`class="assistant cut"`, "<strong>the run was stopped</strong>", `action="retry"`)
	p.post("retry", nil)
	p.until("Hello! You said: typed ahead", ">idle")
	s.Close()
	p.until(">closed")
	assert.False(t, p.events.Scan(), "the stream ends with the session")
}

// What an agent says is text, and cannot begin an event of its own.
func TestWhatAnAgentSaysIsEscaped(t *testing.T) {
	const evil = "</div><script>alert(1)</script>\r\n\r\ndata: <b>\revent: x\n\n\"'`"
	p, _ := open(t, client.Emit(func(_ context.Context, in event.RunInput, emit func(...event.Event) error) error {
		end := &event.RunFinished{ThreadID: in.ThreadID, RunID: in.RunID, Outcome: event.Outcome{Type: event.OutcomeInterrupt,
			Interrupts: []event.Interrupt{{ID: evil, Reason: evil}}}}
		return emit(&event.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID},
			&event.TextMessageStart{MessageID: evil}, &event.TextMessageContent{MessageID: evil, Delta: evil}, &event.TextMessageEnd{MessageID: evil},
			&event.ToolCallStart{ToolCallID: evil, ToolCallName: evil}, &event.ToolCallArgs{ToolCallID: evil, Delta: `{"<script>":"<b>"}`},
			&event.ToolCallEnd{ToolCallID: evil}, end)
	}))
	p.post("send", url.Values{"text": {evil}})
	got := p.until(`name="approve"`, ">waiting")
	assert.NotContains(t, got, "<script")
	assert.NotContains(t, got, "<b>")
	assert.Equal(t, 4, strings.Count(got, "\ndata: &lt;b&gt;\nevent: x\n"), "the user's message, the agent's, the call, the question:\n%s", got)
}

// The fragments take a page from any conversation to any other.
func TestFragmentsMakeTheSamePage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	s := client.NewSession(agenttest.Script(), nil)
	op := regexp.MustCompile(`(?s)<(?:ol|li)(?: id="(m\w+)")? hx-swap-oob="(\w+):?#?(\w*)">(?:<li id="(\w+)">)?(.*?)(?:</li>)?(?:</ol>|</li>)`)
	var page [][2]string // the rows: id and HTML
	var older client.Snapshot
	for range 500 {
		list := make([]*messages.Message, 0, 8)
		for _, n := range rng.Perm(8)[:rng.IntN(8)] {
			list = append(list, &messages.Message{ID: fmt.Sprint(n), Role: messages.RoleUser, Content: messages.Text(fmt.Sprint("text ", rng.IntN(2)))})
		}
		require.NoError(t, s.SetMessages(list...))
		now := s.Snapshot()
		html, err := fragments(older, now)
		require.NoError(t, err)
		at := func(id string) int { return slices.IndexFunc(page, func(r [2]string) bool { return r[0] == id }) }
		for _, m := range op.FindAllStringSubmatch(html, -1) {
			switch own, how, target, row, body := m[1], m[2], m[3], m[4], m[5]; how {
			case "delete":
				page = slices.Delete(page, at(own), at(own)+1)
			case "innerHTML":
				page[at(target)][1] = body
			case "afterbegin", "afterend":
				page = slices.Insert(page, at(target)+1, [2]string{row, body})
			}
		}
		require.Len(t, page, len(list), html)
		for i, m := range list {
			require.Equal(t, id(m), page[i][0])
			require.Contains(t, page[i][1], ">"+m.Text()+"<")
		}
		older = now
	}
}

func TestOnlyThisMachineIsServed(t *testing.T) {
	h := site(client.NewSession(emit.Agent(assistant.Run, nil), options), "")
	for _, tc := range []struct {
		host, origin string
		want         int
	}{
		{"localhost:8080", "http://localhost:8080", http.StatusOK},
		{"127.0.0.1:8080", "", http.StatusOK},
		{"[::1]:8080", "", http.StatusOK},
		{"evil.example:8080", "", http.StatusForbidden},
		{"localhost:8080", "http://evil.example", http.StatusForbidden},
	} {
		r := httptest.NewRequest(http.MethodPost, "/stop", nil)
		r.Host = tc.host
		if tc.origin != "" {
			r.Header.Set("Origin", tc.origin)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		assert.Equal(t, tc.want, w.Code, "%+v", tc)
	}
}
