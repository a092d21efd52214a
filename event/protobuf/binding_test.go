package protobuf_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/event/protobuf"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

func TestCoveredNamesTheTypesWithoutAnArm(t *testing.T) {
	b := protobuf.Binding{}
	for _, typ := range event.Types() {
		err := b.Covered(typ)
		if !typ.IsRetired() {
			require.NoError(t, err, "P-PB-5 %s", typ)
			continue
		}
		uncovered, ok := errors.AsType[*protobuf.UncoveredError](err)
		require.True(t, ok)
		assert.Equal(t, []event.Type{typ}, uncovered.Types)
	}
	assert.NoError(t, b.Covered())
	err := b.Covered(event.TypeRaw, event.TypeThinkingEnd, event.TypeUnknown)
	assert.EqualError(t, err, "P-PB-5: the protobuf wire has no arm for THINKING_END, UNKNOWN")
}

func TestAppendSaysWhatTheWireCannotCarry(t *testing.T) {
	for name, c := range map[string]struct {
		event string
		want  string   // what comes out at the other end
		lost  []string // warnings
	}{
		"P-PB-5 a member that is not described": {
			`{"type":"TEXT_MESSAGE_END","messageId":"m","extra":1,"a/b":2}`,
			`{"type":"TEXT_MESSAGE_END","messageId":"m"}`,
			[]string{"/extra: left out: the wire has no field for it", "/a~1b: left out: the wire has no field for it"},
		},
		"P-PB-5 extra members of a patch operation": {
			`{"type":"STATE_DELTA","delta":[{"op":"add","path":"/a","value":null,"x":1}]}`,
			`{"type":"STATE_DELTA","delta":[{"op":"add","path":"/a","value":null}]}`,
			[]string{"/delta/0/x: left out: the wire has no field for it"},
		},
		"P-PB-5 a patch operation of another name": {
			`{"type":"STATE_DELTA","delta":[{"op":"nop","path":"/a"}]}`,
			`{"type":"STATE_DELTA","delta":[{"op":"6","path":"/a"}]}`,
			[]string{`/delta/0/op: the wire has no number for the operation "nop"`},
		},
		"P-PB-5 parts and sources of other kinds": {
			`{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[{"type":"hologram"},{"type":"image","source":{"type":"fax"}},{"type":"text","text":"x"}]}`,
			`{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[{"type":"text","text":"x"}]}`,
			[]string{"/content/0: left out: the wire has no arm for this kind", "/content/1/source: left out: the wire has no arm for this kind"},
		},
		"P-PB-5 members of an outcome that belong to another one": {
			`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"paused","interrupts":[],"until":"noon"}}`,
			`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"paused"}}`,
			[]string{"/outcome/interrupts: left out: the wire has no place for it", "/outcome/until: left out: the wire has no place for it"},
		},
		"P-PB-5 numbers that 64 bits do not hold": {
			`{"type":"STATE_SNAPSHOT","snapshot":[9007199254740993,0.1000000000000000055,1e400,-1e400,1e-400,1e2,-0,0.1,9007199254740992]}`,
			`{"type":"STATE_SNAPSHOT","snapshot":[9007199254740992,0.1,1.7976931348623157e308,-1.7976931348623157e308,0,100,0,0.1,9007199254740992]}`,
			[]string{
				"/snapshot/0: rounded: the wire has only numbers of 64 bits, and 9007199254740993 needs more",
				"/snapshot/1: rounded: the wire has only numbers of 64 bits, and 0.1000000000000000055 needs more",
				"/snapshot/2: rounded: the wire has only numbers of 64 bits, and 1e400 needs more",
				"/snapshot/3: rounded: the wire has only numbers of 64 bits, and -1e400 needs more",
				"/snapshot/4: rounded: the wire has only numbers of 64 bits, and 1e-400 needs more",
			},
		},
		"P-PB-5 half a surrogate pair": {
			`{"type":"CUSTOM","name":"\ud83d","value":{"\ude00":"a\ud83db"}}`,
			"{\"type\":\"CUSTOM\",\"name\":\"\uFFFD\",\"value\":{\"\uFFFD\":\"a\uFFFDb\"}}",
			[]string{
				"/name: half a surrogate pair became U+FFFD: the wire has only UTF-8",
				"/value/\xed\xb8\x80: half a surrogate pair became U+FFFD: the wire has only UTF-8",
				"/value/\xed\xb8\x80: half a surrogate pair became U+FFFD: the wire has only UTF-8",
			},
		},
		"P-NULL-1 a null that is no value becomes nothing": {
			`{"type":"TEXT_MESSAGE_START","messageId":"m","role":null}`, `{"type":"TEXT_MESSAGE_START","messageId":"m"}`, nil,
		},
		"P-PB-5 an empty optional list becomes nothing": {
			`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"success","pendingToolCallIds":[]},"usage":[]}`,
			`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"success"}}`, nil,
		},
		"P-PB-6 open payloads come as they are": {
			`{"type":"RAW","event":{"type":"x","a":{"":[null,true,"",-1.5e-7,{}]}},"rawEvent":"r","metadata":{"k":null},"timestamp":-3}`,
			`{"type":"RAW","event":{"type":"x","a":{"":[null,true,"",-1.5e-7,{}]}},"rawEvent":"r","metadata":{"k":null},"timestamp":-3}`, nil,
		},
		"P-PB-6 a role of another name": {
			`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"narrator","content":{"a":1}}]}`,
			`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"narrator","content":{"a":1}}]}`, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			data, lost, err := protobuf.Binding{}.Append([]byte("x"), jsonFrame(t, c.event))
			require.NoError(t, err)
			var lines []string
			for _, w := range lost {
				assert.Equal(t, "P-PB-5", w.Rule)
				lines = append(lines, w.Path+": "+w.Text)
			}
			assert.Equal(t, c.lost, lines)
			assert.Equal(t, "x", string(data[:1]))
			got := readAll(t, data[1:])
			require.Len(t, got, 1)
			want, err := state.Parse([]byte(c.want))
			require.NoError(t, err)
			assert.True(t, want.Equal(valueOf(t, got[0])), "%s", valueOf(t, got[0]))
		})
	}
}

func TestAppendRefuses(t *testing.T) {
	refused := func(ev event.Event) error {
		out, warnings, err := protobuf.Binding{}.Append([]byte("x"), ev)
		require.Error(t, err)
		assert.Equal(t, "x", string(out), "dst is unchanged")
		assert.Empty(t, warnings)
		return err
	}
	t.Run("P-PB-5 a type without an arm", func(t *testing.T) {
		err := refused(jsonFrame(t, `{"type":"FUTURE"}`))
		assert.EqualError(t, err, `P-PB-5: the protobuf wire has no arm for "FUTURE"`)
		uncovered, ok := errors.AsType[*protobuf.UncoveredError](refused(jsonFrame(t, `{"type":"THINKING_START"}`)))
		require.True(t, ok)
		assert.Equal(t, []event.Type{event.TypeThinkingStart}, uncovered.Types)
	})
	for name, c := range map[string]struct {
		event event.Event
		path  string
	}{
		"a number for a text":         {jsonFrame(t, `{"type":"TEXT_MESSAGE_END","messageId":5}`), "/messageId"},
		"a text for a flag":           {jsonFrame(t, `{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"a","content":{},"replace":"no"}`), "/replace"},
		"half a count":                {jsonFrame(t, `{"type":"RUN_ERROR","message":"m","usage":[{"inputTokens":1.5}]}`), "/usage/0/inputTokens"},
		"a text for an object":        {jsonFrame(t, `{"type":"RUN_STARTED","threadId":"t","runId":"r","input":"x"}`), "/input"},
		"an object for a list":        {jsonFrame(t, `{"type":"STATE_DELTA","delta":{}}`), "/delta"},
		"an outcome without a type":   {jsonFrame(t, `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{}}`), "/outcome"},
		"metadata that is a list":     {jsonFrame(t, `{"type":"RAW","event":1,"metadata":[]}`), "/metadata"},
		"a malformed frame":           {event.Undecodable([]byte{1}, "why"), ""},
		"no event":                    {nil, ""},
		"a nil pointer":               {(*event.TextMessageContent)(nil), ""},
		"a notice has nothing to say": {event.Notice(), "-"},
	} {
		t.Run("P-ENF-4 "+name, func(t *testing.T) {
			err := refused(c.event)
			if c.path == "-" {
				return
			}
			bad, ok := errors.AsType[*messages.MalformedError](err)
			require.True(t, ok, "%T", err)
			assert.Equal(t, c.path, bad.Path)
		})
	}
}

// What is encoded straight from typed events has the same bytes as what is encoded from their JSON, and what is decoded straight to them
// the same value.
func TestBothWaysAreTheSame(t *testing.T) {
	g := newTeller(5)
	decoder := event.NewDecoder(nil)
	straight := 0
	for _, typ := range event.Types() {
		if typ.IsRetired() {
			continue
		}
		for range 50 {
			v := g.event(typ.String())
			f, err := event.FrameOf(v)
			require.NoError(t, err)
			typed, _, err := decoder.Decode(f)
			require.NoError(t, err)
			fromFrame, fromTyped := body(t, f), body(t, typed)
			got, again := readAll(t, fromFrame)[0], readAll(t, fromTyped)[0]
			if _, ok := got.(event.Frame); !ok {
				straight++
				require.Equal(t, fromFrame, fromTyped)
				require.NoError(t, event.Check(got))
			}
			require.True(t, valueOf(t, again).Equal(valueOf(t, got)))
		}
	}
	assert.Greater(t, straight, 100)
}

func TestEventsDoNotDependOnTheBuffer(t *testing.T) {
	g := newTeller(9)
	var all []byte
	var want []string
	for range 300 {
		typ := event.Types()[g.IntN(len(event.Types()))]
		if typ.IsRetired() {
			continue
		}
		f, err := event.FrameOf(g.event(typ.String()))
		require.NoError(t, err)
		one := body(t, f)
		all = append(all, one...)
		want = append(want, valueOf(t, readAll(t, one)[0]).String())
	}
	var got []string
	for _, ev := range readAll(t, all) {
		got = append(got, valueOf(t, ev).String())
	}
	assert.Equal(t, want, got)
}

func TestUndecodableFrameKeepsItsBytes(t *testing.T) {
	f := event.Undecodable([]byte{0, 0xFF}, "two bytes")
	assert.Equal(t, event.TypeUnknown, f.Type())
	assert.Empty(t, f.TypeName())
	assert.Equal(t, []byte{0, 0xFF}, f.Data())
	assert.Equal(t, 2, f.Size())
	assert.False(t, f.Value().Exists())
	assert.Equal(t, f, f.With("a", state.Int(1)))
	assert.EqualError(t, f.Err(), "P-PB-3: want an encoded event, found two bytes")
	assert.Equal(t, "\"\\u0000\uFFFD\"", string(event.Append(nil, f)))
	assert.Error(t, event.Check(f))
	assert.Len(t, f.WithWarnings(event.Warning{}).Warnings(), 1)
	assert.True(t, strings.HasPrefix(f.WithWarnings(event.Warning{}).Err().Error(), "P-PB-3"))
	assert.True(t, bytes.Equal(f.Data(), event.FrameOfEvent(f).Data()))
}
