package protobuf_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/event/protobuf"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// body returns the frames of events.
func body(t *testing.T, events ...event.Event) (all []byte) {
	t.Helper()
	for _, ev := range events {
		var err error
		all, _, err = protobuf.Binding{}.Append(all, ev)
		require.NoError(t, err)
	}
	return all
}

// frameOf puts a header before a message.
func frameOf(message string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...)
}

// field is a field of bytes.
func field(num int, content string) string {
	return string(binary.AppendUvarint(binary.AppendUvarint(nil, uint64(num)<<3|2), uint64(len(content)))) + content
}

// number is a field that is a varint.
func number(num int, n uint64) string {
	return string(binary.AppendUvarint(binary.AppendUvarint(nil, uint64(num)<<3), n))
}

func jsonFrame(t *testing.T, text string) event.Frame {
	t.Helper()
	f, err := event.NewFrame([]byte(text))
	require.NoError(t, err)
	return f
}

var hello = []event.Event{
	&event.RunStarted{ThreadID: "t", RunID: "r"},
	&event.TextMessageStart{MessageID: "m"},
	&event.TextMessageContent{MessageID: "m", Delta: strings.Repeat("Hello ", 2000)},
	&event.TextMessageContent{Base: event.Base{Timestamp: messages.Some[int64](-5)}, Attribution: event.By(messages.SubagentOwner("")), MessageID: "m", Delta: "wörld"},
	&event.TextMessageEnd{MessageID: "m"},
	&event.RunFinished{ThreadID: "t", RunID: "r"},
}

func TestFramesMayBeSplitAnywhere(t *testing.T) {
	whole := body(t, hello...)
	for name, src := range map[string]func() io.Reader{
		"P-PB-2 all frames in one chunk":              func() io.Reader { return bytes.NewReader(whole) },
		"P-PB-2 one byte at a time":                   func() io.Reader { return iotest.OneByteReader(bytes.NewReader(whole)) },
		"P-PB-2 half of what fits":                    func() io.Reader { return iotest.HalfReader(bytes.NewReader(whole)) },
		"P-PB-2 the end together with the last bytes": func() io.Reader { return iotest.DataErrReader(bytes.NewReader(whole)) },
		"P-PB-2 a cut within the header and the length": func() io.Reader {
			return io.MultiReader(bytes.NewReader(whole[:2]), bytes.NewReader(whole[2:5]), bytes.NewReader(whole[5:]))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := protobuf.NewReader(src(), 0)
			var got []event.Event
			for {
				ev, err := r.Next()
				if err == io.EOF {
					break
				}
				require.NoError(t, err)
				got = append(got, ev)
			}
			require.Len(t, got, len(hello))
			for i, ev := range got {
				v, err := state.Parse(event.Append(nil, hello[i]))
				require.NoError(t, err)
				assert.True(t, v.Equal(valueOf(t, ev)), "%s", v)
			}
			_, err := r.Next()
			assert.Equal(t, io.EOF, err, "again")
		})
	}
}

func TestBodyThatEndsInAFrameIsTruncated(t *testing.T) {
	whole := body(t, hello[0], hello[1])
	first := len(body(t, hello[0]))
	for n := range len(whole) {
		r := protobuf.NewReader(bytes.NewReader(whole[:n]), 0)
		var err error
		events := 0
		for err == nil {
			if _, err = r.Next(); err == nil {
				events++
			}
		}
		want := io.ErrUnexpectedEOF
		if n == 0 || n == first {
			want = io.EOF
		}
		require.Equal(t, want, err, "P-PB-2 after %d bytes", n)
		require.Equal(t, n >= first, events == 1, "what came before stays")
		_, again := r.Next()
		require.Equal(t, err, again)
	}
}

func TestErrorOfTheSourceComesUnwrapped(t *testing.T) {
	broken := errors.New("broken")
	whole := body(t, hello[0])
	for _, n := range []int{0, 2, 7, len(whole)} {
		r := protobuf.NewReader(io.MultiReader(bytes.NewReader(whole[:n]), iotest.ErrReader(broken)), 0)
		_, err := r.Next()
		if n == len(whole) {
			require.NoError(t, err)
			_, err = r.Next()
		}
		require.Equal(t, broken, err)
	}
	_, err := protobuf.NewReader(idle{}, 0).Next()
	assert.Equal(t, io.ErrNoProgress, err)
}

type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

func TestSizeOfAnEventIsBounded(t *testing.T) {
	big := &event.TextMessageContent{MessageID: "m", Delta: strings.Repeat("x", 1000)}
	one := body(t, big)
	size := len(one) - 4
	t.Run("P-SSE-2 as large as the bound", func(t *testing.T) {
		_, err := protobuf.NewReader(bytes.NewReader(one), size).Next()
		require.NoError(t, err)
	})
	t.Run("P-SSE-2 larger by a byte, before it has come", func(t *testing.T) {
		r := protobuf.NewReader(io.MultiReader(bytes.NewReader(body(t, hello[0])), bytes.NewReader(one[:4]), iotest.ErrReader(errors.New("read on"))), size-1)
		_, err := r.Next()
		require.NoError(t, err)
		_, err = r.Next()
		large, ok := errors.AsType[*event.TooLargeError](err)
		require.True(t, ok, err)
		assert.Equal(t, event.TooLargeError{Limit: size - 1, Frame: 2}, *large)
		assert.Equal(t, "the event in frame 2 holds more than 1012 bytes", err.Error())
		_, again := r.Next()
		assert.Equal(t, err, again)
	})
	t.Run("P-PB-2 memory grows with what has come, not with what is announced", func(t *testing.T) {
		head := binary.BigEndian.AppendUint32(nil, 1<<31)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := protobuf.NewReader(bytes.NewReader(head), 0).Next()
		runtime.ReadMemStats(&after)
		require.Equal(t, io.ErrUnexpectedEOF, err)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20), "of 2 GiB")
	})
}

func TestBytesThatAreNotAnEvent(t *testing.T) {
	base := func(typ uint64) string { return field(1, number(1, typ)) }
	start := field(1, "") + field(2, "m")
	deep := ""
	for range 600 {
		deep = field(6, field(1, deep))
	}
	for name, c := range map[string]struct{ message, why string }{
		"P-PB-3 nothing":                                        {"", "no event; frame 2, byte 15 of the answer"},
		"P-PB-3 a number that is cut off":                       {"\x80", "a number that is cut off; frame 2, byte 15 "},
		"P-PB-3 a field that is cut off":                        {field(1, start) + "\x12\x05ab", "a field that is cut off; frame 2, byte 24 "},
		"P-PB-3 a field that is cut off inside":                 {field(1, field(1, "")+"\x12\x05ab"), "a field that is cut off; frame 2, byte 21 "},
		"P-PB-3 a number of more than 64 bits":                  {strings.Repeat("\xff", 11), "a number of more than 64 bits"},
		"P-PB-3 a tag of more than 32 bits":                     {"\xff\xff\xff\xff\x7f", "a tag of more than 32 bits"},
		"P-PB-3 a field with the number 0":                      {"\x02\x00", "a field with the number 0"},
		"P-PB-3 a field of a type that does not exist":          {"\x0f", "a field of a type that does not exist"},
		"P-PB-3 the end of a group that was not opened":         {"\x0c", "the end of a group that was not opened"},
		"P-PB-3 a group without an end":                         {"\x83\x02", "a group without an end"},
		"P-PB-3 the end of another group":                       {"\x83\x02\x8c\x02", "the end of another group"},
		"P-PB-3 groups that nest too deeply":                    {strings.Repeat("\x83\x02", 70), "groups that nest too deeply"},
		"P-PB-3 two events in one":                              {field(1, start) + field(3, field(1, number(1, 2))), "two events in one"},
		"P-PB-3 an arm that is a number":                        {number(1, 3), "arm 1 is not a message"},
		"P-PB-3 an unknown arm that is not a message":           {field(99, "\x80"), "no event"},
		"P-PB-3 no base":                                        {field(2, field(2, "m")), "an event without a base"},
		"P-PB-3 a base of another type":                         {field(2, base(7)+field(2, "m")), "an event of type 7 in the arm of TEXT_MESSAGE_CONTENT"},
		"P-PB-3 a result with two contents":                     {field(22, base(21)+field(5, "x")+field(7, field(1, field(1, "y")))), "a result with two contents"},
		"P-PB-3 a user's message with two contents":             {field(9, base(8)+field(2, field(2, "user")+field(3, "x")+field(8, field(1, field(1, "y"))))), "a message of the role user"},
		"P-PB-3 a user's message with an activity's content":    {field(9, base(8)+field(2, field(2, "user")+field(13, ""))), "a message of the role user"},
		"P-PB-3 an answer with parts":                           {field(9, base(8)+field(2, field(2, "assistant")+field(8, field(1, "")))), "content that is not text"},
		"P-PB-3 an activity with text":                          {field(9, base(8)+field(2, field(2, "activity")+field(3, "x"))), "an activity with the content of another message"},
		"P-PB-3 a message of a new role with two contents":      {field(9, base(8)+field(2, field(2, "narrator")+field(3, "x")+field(13, ""))), "a message with two contents"},
		"P-PB-3 a part of two kinds":                            {field(22, base(21)+field(7, field(1, "")+field(2, ""))), "two kinds in one"},
		"P-PB-3 values that nest too deeply":                    {field(7, base(6)+field(2, deep)), "values that nest too deeply"},
		"P-PB-3 text that is cut off in a nested value":         {field(7, base(6)+field(2, field(5, field(1, field(1, "key")+field(2, "\x1a\x09x"))))), "a field that is cut off"},
		"P-PB-3 a message in too many pieces":                   {field(7, base(6)+strings.Repeat(field(2, field(3, strings.Repeat("x", 1000))), 400)), "a message in too many pieces"},
		"P-SSE-2 more values than an event may have":            {field(7, base(6)+field(2, field(6, strings.Repeat(field(1, number(1, 0)), 1<<21)))), "more than 2097152 values"},
		"P-SSE-2 more messages than an event may have, as well": {field(9, base(8)+strings.Repeat(field(2, ""), 1<<21+1)), "more than 2097152 values"},
	} {
		t.Run(name, func(t *testing.T) {
			first := body(t, hello[1])
			require.Len(t, first, 11, "the second message begins at byte 15")
			all := append(append(first, frameOf(c.message)...), body(t, hello[4])...)
			r := protobuf.NewReader(bytes.NewReader(all), 0)
			_, err := r.Next()
			require.NoError(t, err)
			ev, err := r.Next()
			require.NoError(t, err)
			f, ok := ev.(event.Frame)
			require.True(t, ok)
			bad, ok := errors.AsType[*messages.MalformedError](f.Err())
			require.True(t, ok, "%v", f.Err())
			assert.Equal(t, "P-PB-3", bad.Rule)
			assert.Contains(t, bad.Found, c.why)
			assert.Regexp(t, `; frame 2, byte \d+ of the answer$`, bad.Found)
			assert.Equal(t, c.message, string(f.Data()))
			_, err = r.Next()
			require.NoError(t, err, "framing goes on")
		})
	}
}

func TestArmsAndKindsThatAreNotKnown(t *testing.T) {
	next := func(t *testing.T, message string) event.Frame {
		ev, err := protobuf.NewReader(bytes.NewReader(frameOf(message)), 0).Next()
		require.NoError(t, err)
		f, ok := ev.(event.Frame)
		require.True(t, ok)
		require.NoError(t, f.Err())
		return f
	}
	base := func(typ uint64) string { return field(1, number(1, typ)) }
	warned := func(f event.Frame) (lines []string) {
		for _, w := range f.Warnings() {
			lines = append(lines, w.String())
		}
		return lines
	}
	t.Run("P-PB-4 an event in an unknown arm is a notice", func(t *testing.T) {
		f := next(t, field(99, field(1, "x")))
		assert.True(t, f.IsNotice())
		assert.Equal(t, []string{"P-PB-4: dropped: an event in arm 99, which AG-UI 1.0 does not have"}, warned(f))
	})
	t.Run("P-PB-4 an unknown field beside a known arm is skipped", func(t *testing.T) {
		f := next(t, field(99, "\x80")+field(3, base(2)+field(2, "m")+field(77, "x")+number(78, 1)+"\xa3\x06\xa4\x06"))
		assert.Equal(t, `{"type":"TEXT_MESSAGE_END","messageId":"m"}`, string(f.Data()))
		assert.Empty(t, f.Warnings())
	})
	t.Run("P-PB-4 a field of another layout is not known", func(t *testing.T) {
		f := next(t, field(3, base(2)+number(2, 5)))
		assert.Equal(t, `{"type":"TEXT_MESSAGE_END","messageId":""}`, string(f.Data()))
	})
	t.Run("P-PB-4 parts and sources of unknown kinds", func(t *testing.T) {
		parts := field(7, field(9, "")) + field(7, field(1, field(1, "text"))) + field(7, field(2, field(1, field(8, ""))))
		f := next(t, field(22, base(21)+field(3, "m")+field(4, "c")+parts))
		assert.Equal(t, `{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[{"type":"text","text":"text"}]}`, string(f.Data()))
		assert.Equal(t, []string{
			"P-PB-4 TOOL_CALL_RESULT /content/0: dropped: a kind that AG-UI 1.0 does not know",
			"P-PB-4 TOOL_CALL_RESULT /content/1: dropped: a kind that AG-UI 1.0 does not know",
		}, warned(f))
	})
	t.Run("P-PB-4 a patch operation with an unknown number", func(t *testing.T) {
		f := next(t, field(8, base(7)+field(2, number(1, 9)+field(2, "/a"))))
		assert.Equal(t, `{"type":"STATE_DELTA","delta":[{"op":"9","path":"/a"}]}`, string(f.Data()))
	})
	t.Run("P-PB-6 an outcome of an unknown type comes as it is", func(t *testing.T) {
		f := next(t, field(13, base(12)+field(2, "t")+field(3, "r")+field(5, "paused")+field(8, "c")))
		assert.Equal(t, `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"paused","pendingToolCallIds":["c"]}}`, string(f.Data()))
		_, warnings, err := event.NewDecoder(nil).Decode(f)
		require.NoError(t, err)
		require.Len(t, warnings, 1)
		assert.Equal(t, "P-ENF-3", warnings[0].Rule)
	})
	t.Run("P-PB-6 what belongs to an outcome stays where it is without one", func(t *testing.T) {
		f := next(t, field(20, base(17)+field(2, "s")+field(5, "i")))
		assert.Equal(t, `{"type":"SUBAGENT_FINISHED","subagentRunId":"s","interruptIds":["i"]}`, string(f.Data()))
	})
	t.Run("pieces of a message are one message, and the last scalar counts", func(t *testing.T) {
		f := next(t, field(12, base(11)+field(2, "a"))+field(12, field(1, number(2, 7))+field(2, "t")+field(5, field(1, "x"))+field(5, field(2, "y"))))
		assert.Equal(t, `{"type":"RUN_STARTED","threadId":"t","runId":"","input":{"threadId":"x","runId":"y","messages":[],"tools":[],"context":[],"resume":[]},"timestamp":7}`, string(f.Data()))
	})
	t.Run("of the kinds of a value the last one counts", func(t *testing.T) {
		object := field(5, field(1, field(1, "a")+field(2, number(4, 1))))
		more := field(5, field(1, field(1, "b")+field(2, number(1, 0))))
		f := next(t, field(7, base(6)+field(2, field(3, "x")+object+more)))
		assert.Equal(t, `{"type":"STATE_SNAPSHOT","snapshot":{"a":true,"b":null}}`, string(f.Data()))
		f = next(t, field(7, base(6)+field(2, object+field(3, "x"))))
		assert.Equal(t, `{"type":"STATE_SNAPSHOT","snapshot":"x"}`, string(f.Data()))
	})
	t.Run("a value of no kind is absent in an object and null in an array", func(t *testing.T) {
		f := next(t, field(7, base(6)+field(2, field(5, field(1, field(1, "a")+field(2, ""))))))
		assert.Equal(t, `{"type":"STATE_SNAPSHOT","snapshot":{}}`, string(f.Data()))
		f = next(t, field(7, base(6)+field(2, field(6, field(1, "")))))
		assert.Equal(t, `{"type":"STATE_SNAPSHOT","snapshot":[null]}`, string(f.Data()))
	})
	t.Run("P-PB-4 a value of an unknown kind is one of no kind, without a warning", func(t *testing.T) {
		future := field(9, "x") + number(10, 1)
		list := field(6, field(1, number(4, 1))+field(1, future)+field(1, field(3, "z")))
		f := next(t, field(7, base(6)+field(2, field(5, field(1, field(1, "a")+field(2, future))+field(1, field(1, "b")+field(2, list))))))
		assert.Equal(t, `{"type":"STATE_SNAPSHOT","snapshot":{"b":[true,null,"z"]}}`, string(f.Data()))
		assert.Empty(t, f.Warnings())
		f = next(t, field(7, base(6)+field(2, future)))
		assert.Equal(t, `{"type":"STATE_SNAPSHOT"}`, string(f.Data()))
	})
	t.Run("text that is not UTF-8", func(t *testing.T) {
		f := next(t, field(3, base(2)+field(2, "a\xffb")))
		assert.Equal(t, "{\"type\":\"TEXT_MESSAGE_END\",\"messageId\":\"a\uFFFDb\"}", string(f.Data()))
	})
	t.Run("numbers that JSON does not have", func(t *testing.T) {
		f := next(t, field(7, base(6)+field(2, "\x11\x00\x00\x00\x00\x00\x00\xf0\x7f")))
		assert.Equal(t, `{"type":"STATE_SNAPSHOT","snapshot":null}`, string(f.Data()))
		assert.Equal(t, []string{"P-PB-4 STATE_SNAPSHOT /snapshot: a number that JSON does not have became null"}, warned(f))
	})
	t.Run("warnings are bounded", func(t *testing.T) {
		f := next(t, field(22, base(21)+strings.Repeat(field(7, ""), 150)))
		require.Len(t, f.Warnings(), 101)
		assert.Equal(t, "50 more, which are not listed", f.Warnings()[100].Text)
	})
}

// A timestamp that no event may have is for enforcement to judge.
func TestTimestampOutOfRangeIsMalformed(t *testing.T) {
	ev, err := protobuf.NewReader(bytes.NewReader(frameOf(field(2, field(1, number(1, 1)+number(2, 1<<60))+field(2, "m")))), 0).Next()
	require.NoError(t, err)
	bad, ok := errors.AsType[*messages.MalformedError](event.Check(ev))
	require.True(t, ok)
	assert.Equal(t, "/timestamp", bad.Path)
}
