package event

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func requireHotEqualsGeneral(t *testing.T, d *Decoder, frame Frame) {
	t.Helper()
	want, wantWarnings, wantErr := NewDecoder(nil).decodeAny(frame)
	for range 2 {
		ev, warnings, err := d.Decode(frame)
		require.Equal(t, want, ev, string(frame.Data()))
		require.Equal(t, wantWarnings, warnings)
		require.Equal(t, wantErr, err)
	}
}

// TestHotPathEqualsGeneralPath puts events together at random from members right and wrong, and decodes all
// of them with one decoder.
func TestHotPathEqualsGeneralPath(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	types := []string{
		"TEXT_MESSAGE_CONTENT", "TOOL_CALL_ARGS", "REASONING_MESSAGE_CONTENT",
		"TEXT_MESSAGE_CHUNK", "TOOL_CALL_CHUNK", "REASONING_MESSAGE_CHUNK", "TEXT_MESSAGE_START",
	}
	keys := []string{
		"messageId", "toolCallId", "toolCallName", "parentMessageId", "role", "name", "delta", "delta", "subagentRunId", "timestamp",
		"metadata", "rawEvent", "x", `d\u0065lta`, "",
	}
	values := []string{
		`"m"`, `"m"`, `"user"`, `"other id"`, `""`, `"a\nb"`, `"\u00e9\ud83d\ude00"`, `"\ud83d"`, "\"\xff\"", `"tool"`, `"\\\""`,
		`1`, `-5`, `1.0`, `1e3`, `1.5`, `-0`, `123456789012345`, `1234567890123456`, `9007199254740992`, `null`, `{}`, `[]`, `true`,
	}
	spaces := []string{"", "", "", " ", "\n\t"}
	pick := func(from []string) string { return from[r.IntN(len(from))] }
	d, hot := NewDecoder(nil), 0
	for range 20_000 {
		members := []string{`"type"` + pick(spaces) + `:` + pick(spaces) + `"` + pick(types) + `"`}
		for range r.IntN(5) {
			members = append(members, `"`+pick(keys)+`"`+pick(spaces)+`:`+pick(spaces)+pick(values))
		}
		r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		text := pick(spaces) + `{` + pick(spaces) + strings.Join(members, pick(spaces)+`,`+pick(spaces)) + pick(spaces) + `}` + pick(spaces)
		f := mustFrame(t, text)
		if d.decodeHot(f.p) != nil {
			hot++
		}
		requireHotEqualsGeneral(t, d, f)
	}
	assert.Greater(t, hot, 500, "the hot path was taken often enough to be tested")
}

func TestHotPathIsTaken(t *testing.T) {
	d := NewDecoder(nil)
	for _, text := range []string{
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"d"}`,
		`{"delta":"a\nb\u00e9","timestamp":-17,"subagentRunId":"s","messageId":"","type":"TEXT_MESSAGE_CONTENT"}`,
		` { "type" : "TOOL_CALL_ARGS" , "toolCallId" : "c" , "delta" : "\"" } `,
		`{"type":"REASONING_MESSAGE_CONTENT","messageId":"m","delta":""}`,
		`{"type":"TEXT_MESSAGE_CHUNK"}`,
		`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"user","delta":"","name":"n"}`,
		`{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"n","parentMessageId":"p","delta":"d"}`,
		`{"type":"REASONING_MESSAGE_CHUNK","messageId":"m","delta":"d"}`,
	} {
		f := mustFrame(t, text)
		hot := d.decodeHot(f.p)
		require.NotNil(t, hot, text)
		ev, _, err := d.decodeAny(f)
		require.NoError(t, err)
		assert.Equal(t, ev, hot, text)
	}
	for _, text := range []string{
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m"}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":1}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"d","delta":"e"}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"d","metadata":{}}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"d","name":"n"}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","d\u0065lta":"d"}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"d","timestamp":1e3}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"d","timestamp":1.0}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"d","timestamp":1234567890123456}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"d","timestamp":null}`,
		`{"type":"TEXT_MESSAGE_CHUNK","role":""}`,
		`{"type":"TEXT_MESSAGE_CHUNK","role":"tool"}`,
		`{"type":"TEXT_MESSAGE_END","messageId":"m"}`,
	} {
		assert.Nil(t, d.decodeHot(mustFrame(t, text).p), text)
	}
	value, err := FrameOf(mustFrame(t, `{"type":"TEXT_MESSAGE_CHUNK"}`).Value())
	require.NoError(t, err)
	assert.Nil(t, d.decodeHot(value.p), "a frame without text goes the general way")
}

func TestHotPathAllocations(t *testing.T) {
	d := NewDecoder(nil)
	for _, text := range []string{
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"msg-1","delta":" world","subagentRunId":"s"}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"msg-1","delta":"\n"}`,
		`{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"n","parentMessageId":"p","delta":"{}"}`,
	} {
		f := mustFrame(t, text)
		assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { _, _, _ = d.Decode(f) }), 2.0, text)
	}
}

func TestDecoderKeepsLittle(t *testing.T) {
	d := NewDecoder(nil)
	for i := range 3 * maxCachedIDs {
		id := strings.Repeat("x", i%(2*maxCachedID)) + strconv.Itoa(i)
		ev, _, err := d.Decode(mustFrame(t, `{"type":"TOOL_CALL_ARGS","toolCallId":"`+id+`","delta":"\n"}`))
		require.NoError(t, err)
		require.Equal(t, id, ev.(*ToolCallArgs).ToolCallID)
		require.LessOrEqual(t, len(d.ids.known), maxCachedIDs)
	}
	for id := range d.ids.known {
		assert.LessOrEqual(t, len(id), maxCachedID)
	}
	long := strings.Repeat(`\n`, 2*maxScratch)
	_, _, err := d.Decode(mustFrame(t, `{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"`+long+`"}`))
	require.NoError(t, err)
	assert.LessOrEqual(t, cap(d.scratch), maxScratch)
}
