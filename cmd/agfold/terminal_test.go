package main

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestNoContentControlsTheTerminal sends control characters in every text an agent can send.
func TestNoContentControlsTheTerminal(t *testing.T) {
	const evil = `\u001b]0;pwned\u0007\u009b31m\r\u0008\u202e\u007f`
	in := ndjson(
		`{"type":"RUN_STARTED","threadId":"T`+evil+`","runId":"R`+evil+`","`+evil+`":1,"input":{"threadId":"t","runId":"r","messages":[{"id":"u","role":"user","name":"`+evil+`","content":[{"type":"text","text":"`+evil+`"},{"type":"image","source":{"type":"url","value":"`+evil+`"}}]}]}}`,
		`{"type":"NEW`+evil+`"}`,
		`{"type":"STEP_STARTED","stepName":"`+evil+`"}`,
		`{"type":"SUBAGENT_STARTED","subagentRunId":"S`+evil+`","name":"`+evil+`","description":"`+evil+`"}`,
		`{"type":"TEXT_MESSAGE_CHUNK","messageId":"`+evil+`","name":"`+evil+`","delta":"`+evil+`"}`,
		`{"type":"TOOL_CALL_CHUNK","toolCallId":"`+evil+`","toolCallName":"`+evil+`","delta":"`+evil+`"}`,
		`{"type":"TOOL_CALL_RESULT","messageId":"x","toolCallId":"`+evil+`","content":"`+evil+`"}`,
		`{"type":"TOOL_CALL_RESULT","messageId":"y","toolCallId":"nobody`+evil+`","content":"{\"`+strings.ReplaceAll(evil, `\`, `\\`)+`\":1}"}`,
		`{"type":"ACTIVITY_SNAPSHOT","messageId":"`+evil+`","activityType":"`+evil+`","content":{"`+evil+`":"`+evil+`"},"metadata":{"`+evil+`":1}}`,
		`{"type":"STATE_SNAPSHOT","snapshot":{"`+evil+`":"`+evil+`"}}`,
		`{"type":"STATE_DELTA","delta":[{"op":"remove","path":"/none`+evil+`"}]}`,
		`{"type":"CUSTOM","name":"`+evil+`","value":"`+evil+`"}`,
		`{"type":"SUBAGENT_ERROR","subagentRunId":"S`+evil+`","message":"`+evil+`","code":"`+evil+`"}`,
		`{"type":"RUN_ERROR","message":"`+evil+`","code":"`+evil+`","usage":[{"model":"`+evil+`"}]}`,
	)
	interrupted := ndjson(began, `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"`+evil+`","reason":"`+evil+`","message":"`+evil+`","toolCallId":"`+evil+`","expiresAt":"`+evil+`"}]}}`)
	rejected := ndjson(began, `{"type":"TEXT_MESSAGE_END","messageId":"`+evil+`"}`)
	file := write(t, "evil\x1b[2J.ndjson", in)
	for _, text := range []string{in, interrupted, rejected} {
		for _, args := range [][]string{{}, {"--full"}, {"--json"}, {"--events"}, {"--events", "--json"}, {"--state"}, {"--state", "--json"}} {
			got := agfold(t, text, append([]string{"replay", "-", file, file + "\x1b[2J"}, args...)...)
			assert.NotZero(t, got.status)
			for _, r := range got.stdout + got.stderr {
				if r < 0x20 && r != '\n' || r >= 0x7f && r < 0xa0 || r == 0x202e {
					t.Fatalf("%v: %q got through:\n%q", args, r, got.stdout+got.stderr)
				}
			}
		}
	}
}

// failing is a writer that takes n bytes.
type failing struct {
	n   int
	err error
}

func (f *failing) Write(b []byte) (int, error) {
	if f.n -= len(b); f.n < 0 {
		return 0, f.err
	}
	return len(b), nil
}

func TestOutputThatCannotBeWritten(t *testing.T) {
	long := write(t, "long.ndjson", began+"\n"+strings.Repeat(`{"type":"CUSTOM","name":"n","value":"some text to fill a line"}`+"\n", 5000)+finished)
	for _, row := range []struct {
		name   string
		err    error
		want   int
		stderr string
	}{
		{"a broken pipe ends quietly", syscall.EPIPE, exitBrokenPipe, ""},
		{"a closed pipe ends quietly", io.ErrClosedPipe, exitBrokenPipe, ""},
		{"a full disk is reported", errors.New("disk full"), exitUnreadable, "agfold: writing the output: disk full\n"},
	} {
		for _, args := range [][]string{{"--events"}, {"--events", "--json"}, {"--json"}, {}} {
			t.Run(row.name+strings.Join(args, ""), func(t *testing.T) {
				var stderr bytes.Buffer
				got := run(t.Context(), append([]string{"replay", long, long}, args...),
					newTerminal(nil, &failing{10, row.err}, &stderr))
				assert.Equal(t, row.want, got)
				if row.want == exitBrokenPipe {
					assert.Empty(t, stderr.String())
				} else {
					assert.Contains(t, stderr.String(), row.stderr)
				}
			})
		}
	}
}

func TestTheCredentialsOfAURLAreNotPrinted(t *testing.T) {
	url, _, _ := serving(t, sseOf(began)+sseOf(finished))
	secret := strings.Replace(url, "http://", "http://user:secret@", 1)
	for _, args := range [][]string{{"--url", secret}, {"--url", secret, "--json"}, {"--url", "http://user:secret@127.0.0.1:1/"},
		{"--url", "http://user:secret@[::1"}, {"--url", "ftp://user:secret@host/"}} {
		got := talk(t, counted(), "", append(args, "--message", "x")...)
		assert.NotContains(t, got.stdout+got.stderr, "secret", args)
	}
}
