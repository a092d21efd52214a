package client

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// answers returns an agent whose server answers with this status, media types and body.
func answers(o HTTPOptions, status int, types []string, body io.Reader) Agent {
	o.Client = &http.Client{Transport: transport(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": types, "X-Request-Id": {"7"}}, Body: io.NopCloser(body)}, nil
	})}
	return NewHTTP("http://agent.test/", &o)
}

func TestStreamsUnderAnotherName(t *testing.T) {
	for name, tt := range map[string]struct {
		types []string
		begin string
		warns string // part of the warning, "" if it is not accepted
	}{
		"a list":                        {[]string{"application/json, text/event-stream"}, "", `"application/json, text/event-stream"`},
		"two headers":                   {[]string{"application/json", "text/event-stream; charset=utf-8"}, "", "names several"},
		"none":                          {nil, "", "no media type"},
		"an empty one":                  {[]string{""}, "", "no media type"},
		"what net/http guesses":         {[]string{"text/plain; charset=utf-8"}, "", `"text/plain; charset=utf-8"`},
		"bytes":                         {[]string{"application/octet-stream"}, "", "application/octet-stream"},
		"none, after a byte order mark": {nil, "\uFEFF\r\n\n", "no media type"},
		"none, after a comment":         {nil, ": hello\n\n", "no media type"},
		"none, after other fields":      {nil, "retry: 5\nid: 1\nevent: x\n", "no media type"},
		"a list without it":             {[]string{"application/json, text/html"}, "", ""},
		"another":                       {[]string{"application/json"}, "", ""},
		"none, and a JSON answer":       {nil, `{"data: ":1}`, ""},
		"none, and a page":              {nil, "<html>\ndata: ", ""},
		"none, and nearly a field":      {nil, "dat", ""},
		"text that begins otherwise":    {[]string{"text/plain"}, "data is missing: ", ""},
	} {
		t.Run("P-SSE-1 "+name, func(t *testing.T) {
			got, warnings, err := read(t, answers(HTTPOptions{}, 200, tt.types, io.MultiReader(strings.NewReader(tt.begin), strings.NewReader(stream))).Run(t.Context(), input))
			if tt.warns == "" {
				var wrong *ContentTypeError
				require.ErrorAs(t, err, &wrong)
				assert.Equal(t, strings.Join(tt.types, ", "), wrong.ContentType)
				assert.True(t, strings.HasPrefix(string(wrong.Body), tt.begin), "%q", wrong.Body)
				assert.Equal(t, 200, wrong.Status)
				assert.Equal(t, "7", wrong.Header.Get("X-Request-Id"))
				assert.Empty(t, warnings)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, []string{started, content, finished}, got)
			require.Len(t, warnings, 1)
			assert.Equal(t, "P-SSE-1", warnings[0].Rule)
			assert.Contains(t, warnings[0].Text, tt.warns)
		})
	}
	t.Run("a stream without a media type that comes byte by byte, with pauses", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			pr, pw := io.Pipe()
			go func() {
				for i := range len(stream) {
					time.Sleep(10 * time.Second)
					io.WriteString(pw, stream[i:i+1])
				}
				pw.Close()
			}()
			got, warnings, err := read(t, answers(HTTPOptions{IdleTimeout: time.Minute}, 200, nil, pr).Run(t.Context(), input))
			require.NoError(t, err)
			assert.Len(t, got, 3)
			assert.Len(t, warnings, 1)
		})
	})
	t.Run("silence before anything is an IdleError", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			pr, pw := io.Pipe()
			agent := NewHTTP("http://agent.test/", &HTTPOptions{IdleTimeout: time.Minute, Client: &http.Client{Transport: transport(func(req *http.Request) (*http.Response, error) {
				go func() {
					<-req.Context().Done()
					pw.CloseWithError(req.Context().Err())
				}()
				return &http.Response{StatusCode: 200, Header: http.Header{}, Body: pr}, nil
			})}})
			_, _, err := read(t, agent.Run(t.Context(), input))
			require.ErrorAs(t, err, new(*IdleError))
		})
	})
}

func TestNoContent(t *testing.T) {
	for _, status := range []int{204, 205} {
		_, _, err := read(t, answers(HTTPOptions{}, status, nil, strings.NewReader("")).Run(t.Context(), input))
		var e *StatusError
		require.ErrorAs(t, err, &e)
		assert.Equal(t, status, e.Status)
		assert.Equal(t, "7", e.Header.Get("X-Request-Id"))
		assert.Contains(t, err.Error(), http.StatusText(status)+": the server has no events to send")
	}
}

func TestValidationErrors(t *testing.T) {
	t.Run("all of them are shown, with their places", func(t *testing.T) {
		e := &StatusError{Status: 422, Body: []byte(`{"detail":[
			{"type":"missing","loc":["body","messages",0,"id"],"msg":"Field required","input":{}},
			{"type":"string_type","loc":["body","threadId"],"msg":"Input should be\na valid` + "\\u001b[31m" + ` string","input":5},
			{"loc":[],"msg":"no place"}, {"loc":["body"]}, 5]}`)}
		assert.Equal(t, "body.messages.0.id: Field required; body.threadId: Input should be a valid [31m string; no place; body", e.Detail())
		assert.Equal(t, "unexpected status 422 Unprocessable Entity: "+e.Detail(), e.Error())
	})
	t.Run("a long list is bounded, and says how much is left out", func(t *testing.T) {
		e := &StatusError{Status: 422, Body: []byte(`{"detail":[` + strings.Repeat(`{"loc":["body","x"],"msg":"`+strings.Repeat("m", 90)+`"},`, 399) + `{"loc":[],"msg":"z"}]}`)}
		d := e.Detail()
		assert.Equal(t, strings.Repeat("body.x: "+strings.Repeat("m", 90)+"; ", 20)+"and 380 more", d)
	})
	t.Run("one long message is cut", func(t *testing.T) {
		e := &StatusError{Body: []byte(`{"detail":[{"loc":["body"],"msg":"` + strings.Repeat("ü", 5000) + `"},{"loc":["x"],"msg":"y"}]}`)}
		assert.LessOrEqual(t, len(e.Detail()), 700)
		assert.Contains(t, e.Detail(), "…; x: y")
	})
	t.Run("what the server says is cleaned", func(t *testing.T) {
		e := &StatusError{Status: 302, Header: http.Header{"Location": {"/a\u009b31m"}}, Body: []byte("oh\x1b[2J\u202egnp\xff\r")}
		assert.Equal(t, "unexpected status 302 Found, a redirect to /a 31m: oh [2J gnp\uFFFD", e.Error())
	})
}

func TestProgress(t *testing.T) {
	var seen []Progress
	pieces := strings.SplitAfter(stream, "\n\n")
	readers := make([]io.Reader, len(pieces))
	for i, p := range pieces {
		readers[i] = strings.NewReader(p)
	}
	agent := answers(HTTPOptions{OnProgress: func(p Progress) { seen = append(seen, p) }}, 200, []string{"text/event-stream"}, io.MultiReader(readers[:3]...))
	_, _, err := read(t, agent.Run(t.Context(), input))
	require.NoError(t, err)
	at := func(n, events int) Progress {
		size := 0
		for _, p := range pieces[:n] {
			size += len(p)
		}
		return Progress{ThreadID: "t", RunID: "r", Bytes: int64(size), Events: events}
	}
	assert.Equal(t, []Progress{at(1, 0), at(2, 1), at(3, 2), at(3, 3)}, seen)
}
