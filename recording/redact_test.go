package recording

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// redacted returns a recording's events, redacted with a key.
func redacted(t *testing.T, text, key string) []event.Event {
	t.Helper()
	rec, err := Open(strings.NewReader(text), nil)
	require.NoError(t, err)
	var events []event.Event
	for e, err := range NewRedactor([]byte(key)).Entries(rec.Entries()) {
		require.NoError(t, err)
		if e.Head == nil && e.Err == nil {
			events = append(events, e.Event)
		}
	}
	return events
}

func TestRedactKeepsWhatAFoldDependsOn(t *testing.T) {
	files, err := filepath.Glob("../testdata/*")
	require.NoError(t, err)
	for _, file := range files {
		if strings.Contains(file, ".golden.") || strings.Contains(file, "cut-off") {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			plain, plainErr := Fold(bytes.NewReader(text), nil)
			rec, err := Open(bytes.NewReader(text), nil)
			require.NoError(t, err)
			var out bytes.Buffer
			r := NewRedactor([]byte("k"))
			require.NoError(t, Write(&out, FormAgfold, r.Input(rec.Input()), r.Entries(rec.Entries())))
			th, err := Fold(&out, nil)
			assert.Equal(t, plainErr == nil, err == nil, "%v, %v", plainErr, err)
			assert.Equal(t, shape(t, plain), shape(t, th))
		})
	}
}

// shape returns a thread's JSON in which what is redacted is replaced by its class.
func shape(t *testing.T, th *reducer.Thread) string {
	c := *th
	c.Revision = 0
	v, err := state.Parse(c.AppendJSON(nil))
	require.NoError(t, err)
	text := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return 'a'
		case r >= 'A' && r <= 'Z':
			return 'A'
		case r >= '0' && r <= '9':
			return '0'
		case r > 127:
			return 'u'
		}
		return r
	}, v.String())
	return text
}

// TestNothingSecretSurvivesRedaction plants secrets wherever an agent or a user can say something.
func TestNothingSecretSurvivesRedaction(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var secrets []string
		secret := func() string {
			b := make([]byte, 10)
			for i := range b {
				b[i] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"[rnd.IntN(62)]
			}
			secrets = append(secrets, string(b))
			return string(b)
		}
		whole := fmt.Sprintf(`{"%s":"%s","n":true,"l":["%s",{"%s":null}]}`, secret(), secret(), secret(), secret())
		cut := 1 + rnd.IntN(len(whole)-1)
		id, text := secret(), secret()+" "+secret()
		q := func(s string) string { v := state.String(s); return v.String() }
		lines := []string{
			`{"type":"RUN_STARTED","threadId":"` + secret() + `","runId":"` + secret() + `","input":{"threadId":"t","runId":"r","messages":[{"id":"u","role":"user","name":"` + secret() + `","content":[{"type":"text","text":"` + secret() + `"},{"type":"image","source":{"type":"url","value":"https://` + secret() + `/"}}]}],"state":{"` + secret() + `":"` + secret() + `"},"tools":[{"name":"f","description":"` + secret() + `","parameters":{"` + secret() + `":1}}],"context":[{"description":"` + secret() + `","value":"` + secret() + `"}],"forwardedProps":{"k":"` + secret() + `"}}}`,
			`{"type":"TEXT_MESSAGE_START","messageId":"` + id + `","metadata":{"k":"` + secret() + `"}}`,
			`{"type":"TEXT_MESSAGE_CONTENT","messageId":"` + id + `","delta":` + q(text[:7]) + `}`,
			`{"type":"TEXT_MESSAGE_CONTENT","messageId":"` + id + `","delta":` + q(text[7:]) + `,"rawEvent":{"x":"` + secret() + `"}}`,
			`{"type":"TEXT_MESSAGE_END","messageId":"` + id + `"}`,
			`{"type":"TOOL_CALL_CHUNK","toolCallId":"c` + id + `","toolCallName":"f","parentMessageId":"` + id + `","delta":` + q(whole[:cut]) + `}`,
			`{"type":"TOOL_CALL_CHUNK","delta":` + q(whole[cut:]) + `}`,
			`{"type":"TOOL_CALL_RESULT","messageId":"` + secret() + `","toolCallId":"c` + id + `","content":` + q(whole) + `}`,
			`{"type":"STATE_SNAPSHOT","snapshot":` + whole + `}`,
			`{"type":"STATE_DELTA","delta":[{"op":"add","path":"/` + secret() + `","value":"` + secret() + `"}]}`,
			`{"type":"CUSTOM","name":"n","value":{"v":"` + secret() + `"}}`,
			`{"type":"SOMETHING_NEW","x":{"y":"` + secret() + `"}}`,
			`{"type":"RUN_ERROR","message":"` + secret() + `"}`,
		}
		events := redacted(t, strings.Join(lines, "\n"), fmt.Sprint(seed))
		require.Len(t, events, len(lines))
		var all []byte
		for _, ev := range events {
			all = append(event.Append(all, ev), '\n')
		}
		for _, s := range secrets {
			require.NotContains(t, string(all), s)
		}
		th, err := reducer.Fold(reducer.Events(events...), nil)
		require.NoError(t, err)
		require.Equal(t, reducer.Failed, th.Status())
		var arguments, result string
		for _, m := range th.Messages.All() {
			for _, tc := range m.ToolCalls.All() {
				arguments = tc.Arguments
			}
			if m.ToolCallID != "" {
				result = m.Text()
			}
		}
		require.Equal(t, arguments, result, "equal texts are equal, streamed or whole")
		parsed, err := state.Parse([]byte(arguments))
		require.NoError(t, err)
		require.Equal(t, parsed.Len()+1, th.State.Len(), "and so are states")
	}
}

func TestRedactIsRepeatable(t *testing.T) {
	a := redacted(t, run(custom), "one")
	assert.Equal(t, a, redacted(t, run(custom), "one"))
	assert.NotEqual(t, a, redacted(t, run(custom), "two"))
}
