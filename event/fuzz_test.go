package event

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/agfold/agfold/state"
	"github.com/stretchr/testify/require"
)

func addSeeds(f *testing.F) {
	f.Helper()
	for _, shape := range shapes {
		f.Add([]byte(shape.minimal))
		f.Add([]byte(spelt(shape.full)))
	}
	for _, text := range []string{
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"a\n\"\u00e9\ud83d\ude00\ud83d","timestamp":-0}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"d","timestamp":123456789012345678}`,
		`{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"n","parentMessageId":"","delta":"","subagentRunId":"s","x":1}`,
		` { "type" : "TEXT_MESSAGE_CHUNK" , "role" : "tool" , "name" : "n" } `,
		"{\"type\":\"REASONING_MESSAGE_CONTENT\",\"messageId\":\"\xff\",\"delta\":\"\"}",
		`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"1","role":"user","content":[{"type":"binary","mimeType":"image/png","data":"d"},{"type":"image","source":{"type":"x"},"metadata":null}]}]}`,
		`{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":null,"outcome":{"type":"paused"},"rawEvent":null}`,
		`{"type":"STATE_DELTA","delta":[{"op":"nop"},{"op":"remove","path":"/a","from":1}]}`,
		`{"type":"FUTURE","x":[1e400,1.0]}`,
	} {
		f.Add([]byte(text))
	}
	root := os.Getenv("AGFOLD_CONFORMANCE")
	files, _ := filepath.Glob(filepath.Join(root, "shapes", "*Event", "*", "*.json"))
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil {
			f.Add(data)
		}
	}
}

// FuzzDecode: nothing panics; a frame is what parses as an object with a type; and what decodes encodes to
// something that is right, decodes without a word and encodes to the same again.
func FuzzDecode(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		frame, err := NewFrame(data)
		v, parseErr := state.Parse(data)
		name, _ := v.Get("type").AsString()
		require.Equal(t, parseErr == nil && name != "", err == nil)
		if err != nil {
			return
		}
		require.Equal(t, name, frame.TypeName())
		owner, _ := v.Get("subagentRunId").AsString()
		if got, ok := frame.Owner().RunID(); ok {
			require.Equal(t, owner, got)
		}
		ev, warnings, err := NewDecoder(nil).Decode(frame)
		_, _, strictErr := NewDecoder(&DecodeOptions{Strict: true}).Decode(frame)
		require.Equal(t, err != nil || len(warnings) > 0, strictErr != nil, "strict mode fails where there is something to say")
		if err != nil || ev == nil {
			return
		}
		require.NoError(t, Check(ev))
		text := jsonOf(ev)
		again, warnings, err := NewDecoder(nil).Decode(mustFrame(t, string(text)))
		require.NoError(t, err)
		require.Empty(t, warnings)
		require.Equal(t, string(text), string(jsonOf(again)))
	})
}

// FuzzHotPath: a decoder, which takes the hot path where it can, gives the event, the warnings and the error
// that the general path gives, the second time too, when it knows the ids.
func FuzzHotPath(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		if frame, err := NewFrame(data); err == nil {
			requireHotEqualsGeneral(t, NewDecoder(nil), frame)
		}
	})
}

// FuzzUpgrade: nothing panics, what was converted needs no conversion again, and without a warning nothing
// was changed.
func FuzzUpgrade(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		frame, err := NewFrame(data)
		if err != nil {
			return
		}
		got := new(Upgrader).Upgrade(frame).(Frame)
		if len(got.Warnings()) == 0 {
			require.Equal(t, frame, got)
		}
		again := new(Upgrader).Upgrade(got).(Frame)
		require.True(t, got.Value().Equal(again.Value()))
		for _, w := range again.Warnings()[len(got.Warnings()):] {
			require.Equal(t, "P-CMP-3", w.Rule, "only a part that cannot be converted is warned about again")
		}
	})
}
