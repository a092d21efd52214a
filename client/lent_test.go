package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// servesBytes answers each request with a stream that arrives in pieces of random sizes.
type servesBytes struct {
	stream string
	seed   uint64
}

func (s servesBytes) RoundTrip(req *http.Request) (*http.Response, error) {
	body := &pieces{left: s.stream, rand: rand.New(rand.NewPCG(s.seed, 0))}
	return &http.Response{
		StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(body), Request: req,
		ProtoMajor: 1, ProtoMinor: 1,
	}, nil
}

type pieces struct {
	left string
	rand *rand.Rand
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.left == "" {
		return 0, io.EOF
	}
	n := copy(b, p.left[:min(len(p.left), 1+p.rand.IntN(200))])
	p.left = p.left[n:]
	return n, nil
}

// sessionOver returns a session with an agent that answers with the stream.
func sessionOver(stream string, seed uint64, warnings *[]event.Warning, more ...func(*client.SessionOptions)) *client.Session {
	ids := 0
	o := &client.SessionOptions{
		ThreadID: "t", OnWarning: func(w event.Warning) { *warnings = append(*warnings, w) },
		NewID: func() string { ids++; return fmt.Sprint("id-", ids) },
	}
	for _, set := range more {
		set(o)
	}
	return client.NewSession(client.NewHTTP("http://agent", &client.HTTPOptions{Client: &http.Client{Transport: servesBytes{stream, seed}}}), o)
}

// Send uses the bytes of an event again for the next one; Run, whose caller may keep events, does not. What they make of a
// stream is the same.
func TestLentEventsFoldLikeThoseThatAreKept(t *testing.T) {
	files, err := filepath.Glob("../testdata/*.sse")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	streams := map[string]string{"made here": mixedStream()}
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		streams[filepath.Base(file)] = string(data)
	}
	for name, stream := range streams {
		for seed := range uint64(4) {
			var sentWarnings, runWarnings []event.Warning
			sent, run := sessionOver(stream, seed, &sentWarnings), sessionOver(stream, seed+100, &runWarnings)
			_, sentErr := sent.Send(t.Context(), messages.UserText("Hello"))
			var runErr error
			for _, err := range run.Run(t.Context(), &client.RunOptions{Messages: []*messages.Message{messages.UserText("Hello")}}) {
				runErr = err
			}
			require.NoError(t, sent.Stop(t.Context()))
			require.NoError(t, run.Stop(t.Context()))
			assert.Equal(t, fmt.Sprint(runErr), fmt.Sprint(sentErr), name)
			assert.Equal(t, runWarnings, sentWarnings, name)
			got, err := json.Marshal(sent.Thread())
			require.NoError(t, err)
			want, err := json.Marshal(run.Thread())
			require.NoError(t, err)
			assert.JSONEq(t, string(want), string(got), name)
		}
	}
}

// mixedStream has content events with and without escapes among others, for things that are there and that are not.
func mixedStream() string {
	r := rand.New(rand.NewPCG(7, 7))
	var b strings.Builder
	put := func(format string, args ...any) { fmt.Fprintf(&b, "data: "+format+"\n\n", args...) }
	put(`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`)
	put(`{"type":"TEXT_MESSAGE_START","messageId":"m\u0031"}`)
	put(`{"type":"REASONING_MESSAGE_START","messageId":"q","role":"reasoning","subagentRunId":"s"}`)
	put(`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}`)
	for i := range 400 {
		switch r.IntN(7) {
		case 0:
			put(`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m\u0031","delta":"word %d "}`, i)
		case 1:
			put(`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"\"é\u00e9\ud83d"}`)
		case 2:
			put(`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"\ude00","metadata":{"n":%d}}`, i)
		case 3:
			put(`{"type":"REASONING_MESSAGE_CONTENT","messageId":"q","subagentRunId":"s","timestamp":%d,"delta":"%d"}`, i, i)
		case 4:
			put(`{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{\"n\":%d}"}`, i)
		case 5:
			put(`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"x","unknown":%d}`, i)
		case 6:
			put(`{"type":"CUSTOM","name":"n%d","value":{"x":[%d]}}`, i, i)
		}
	}
	put(`{"type":"MESSAGES_SNAPSHOT","messages":[]}`)
	put(`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"of a message that is gone"}`)
	put(`{"type":"TEXT_MESSAGE_CONTENT","messageId":"nobody","delta":"of one that never was"}`)
	return b.String()
}

func TestSendMakesNoGarbageOfContentEvents(t *testing.T) {
	stream := func(n int) string {
		return `data: {"type":"RUN_STARTED","threadId":"t","runId":"r"}` + "\n\n" +
			`data: {"type":"TEXT_MESSAGE_START","messageId":"m"}` + "\n\n" +
			strings.Repeat(`data: {"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x"}`+"\n\n", n) +
			`data: {"type":"TEXT_MESSAGE_END","messageId":"m"}` + "\n\n" +
			`data: {"type":"RUN_FINISHED","threadId":"t","runId":"r"}` + "\n\n"
	}
	allocs := func(n int) float64 {
		text := stream(n)
		return testing.AllocsPerRun(5, func() {
			var warnings []event.Warning
			s := sessionOver(text, 1, &warnings)
			_, err := s.Send(context.Background(), messages.UserText("Hello"))
			require.NoError(t, err)
		})
	}
	few, many := allocs(100), allocs(2100)
	assert.Less(t, (many-few)/2000, 0.3, "per event")
}

// Whoever sees events may keep them: none of those are lent.
func TestEventsThatAHookSeesStayAsTheyAre(t *testing.T) {
	var warnings []event.Warning
	var kept []*event.TextMessageContent
	see := func(d reducer.Delivery) {
		if e, ok := d.Event.(*event.TextMessageContent); ok {
			kept = append(kept, e)
		}
	}
	s := sessionOver(mixedStream(), 1, &warnings, func(o *client.SessionOptions) { o.Hooks = &client.Hooks{Delivery: see} })
	_, _ = s.Send(t.Context(), messages.UserText("Hello"))
	hooked := kept
	kept = nil
	s = sessionOver(mixedStream(), 1, &warnings)
	for d := range s.Run(t.Context(), nil) {
		see(d)
	}
	require.NotEmpty(t, kept)
	assert.Equal(t, kept, hooked)
	seen := map[string]bool{}
	for _, e := range kept {
		seen[e.Delta] = true
	}
	assert.Greater(t, len(seen), 20, "each has a text of its own")
}
