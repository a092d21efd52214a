package event

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFramerIsNewFrame(t *testing.T) {
	var fr Framer
	var made []Frame
	var texts []string
	for i := range 3 * framesPerBlock {
		text := fmt.Sprintf(`{"type":"CUSTOM","name":"%d","value":null}`, i)
		switch i % 10 {
		case 3:
			text = `{"type":"FUTURE","x":"` + strings.Repeat("x", maxBlockText) + `"}`
		case 7:
			_, want := NewFrame([]byte(`{"type":7}`))
			require.Equal(t, want, fr.Frame([]byte(`{"type":7}`)).Err())
		}
		f := fr.Frame([]byte(text))
		require.NoError(t, f.Err())
		made, texts = append(made, f), append(texts, text)
	}
	for i, f := range made {
		require.Equal(t, mustFrame(t, texts[i]), f, "frames of one block do not touch each other")
	}
}

func TestFramerAllocations(t *testing.T) {
	var fr Framer
	data := []byte(`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"d"}`)
	d := NewDecoder(nil)
	got := testing.AllocsPerRun(1000, func() {
		f := fr.Frame(data)
		_, _, _ = d.Decode(f)
	})
	assert.Less(t, got, 2.5, "two allocations an event, and a block now and then")
}

func TestLentFrames(t *testing.T) {
	texts := []string{
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"plain"}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m\u0031","delta":"a\n\u00e9\ud83d\ude00"}`,
		`{"type":"TOOL_CALL_ARGS","toolCallId":"c","subagentRunId":"s","timestamp":12,"delta":"{\"a\":"}`,
		`{"type":"REASONING_MESSAGE_CONTENT","messageId":"m","delta":""}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"d","metadata":{"k":[1]}}`, // and from here on those that are kept
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":7}`,
		`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"d"}`,
		`{"type":"CUSTOM","name":"n","value":{"x":"y"}}`,
		`{"type":"FUTURE"}`,
		`{"type":7}`,
		`not JSON`,
	}
	const lent = 4
	var fr Framer
	lending, plain := NewDecoder(nil), NewDecoder(nil)
	kept := bytes.Clone
	type decoded struct {
		ev       Event
		warnings []Warning
		err      error
	}
	var stay, want []decoded
	for round := range 3 {
		for i, text := range texts {
			data := []byte(text)
			f := fr.Lend(data, kept)
			ev, warnings, err := lending.Decode(f)
			wantEv, wantWarnings, wantErr := plain.Decode(new(Framer).Frame([]byte(text)))
			require.Equal(t, wantEv, ev, text)
			require.Equal(t, wantWarnings, warnings, text)
			require.Equal(t, wantErr, err, text)
			require.Equal(t, i < lent, f.p == &fr.lent, "round %d: %s", round, text)
			for j := range data {
				data[j] = '!'
			}
			if i >= lent {
				stay, want = append(stay, decoded{ev, warnings, err}), append(want, decoded{wantEv, wantWarnings, wantErr})
			}
		}
	}
	assert.Equal(t, want, stay, "what is not lent stays as it was")
}

func TestLentFramesAllocateNothing(t *testing.T) {
	var fr Framer
	kept := bytes.Clone
	d := NewDecoder(nil)
	for _, text := range []string{
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"d"}`,
		`{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{\"a\":1}"}`,
	} {
		data := []byte(text)
		assert.Zero(t, testing.AllocsPerRun(1000, func() { _, _, _ = d.Decode(fr.Lend(data, kept)) }), text)
	}
}
