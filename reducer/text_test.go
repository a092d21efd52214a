package reducer_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestText(t *testing.T) {
	const parts = `messages [{"id":"m1","role":"user","content":[{"type":"text","text":"a"},{"type":"image","source":{"type":"url","value":"u"}}]}]`
	const trailing = `messages [{"id":"m1","role":"user","content":[{"type":"image","source":{"type":"url","value":"u"}},{"type":"text","id":"p","text":"a"}]}]`
	runRows(t, []row{
		{name: "P-TXT-1 START creates an empty assistant message", script: "run | text m1", messages: `assistant m1 ""`},
		{name: "P-TXT-1 START with role and name", script: `run | text m1 + {"role":"developer","name":"Ann"}`, messages: `developer m1 name=Ann ""`},
		{name: "P-TXT-1 the empty name is a name", script: `run | text m1 + {"name":""}`, messages: `assistant m1 name= ""`},
		{name: "P-TXT-1 a new message has the event's owner", script: "run | text @s1 m1", messages: `assistant m1 @s1 ""`},
		{name: "P-TXT-1 the empty id is an id", script: "run | text _ | say _ x | endtext _ | done", messages: `assistant  "x"`},
		{name: "P-TXT-1 CONTENT appends", script: "run | text m1 | say m1 Hello, | say m1  world", messages: `assistant m1 "Hello, world"`},
		{name: "P-TXT-1 empty CONTENT changes nothing", script: `run | text m1 | say m1 a | say m1 _ | say m1 b`, messages: `assistant m1 "ab"`},
		{name: "P-TXT-1 messages grow side by side", script: "run | text m1 | text m2 | say m2 x | say m1 a | say m2 y", messages: `assistant m1 "a" | assistant m2 "xy"`},
		{name: "P-TXT-1 reopening: role, name and owner stay", script: `run | text @s1 m1 + {"role":"user","name":"Ann"} | endtext m1 | done | run b | text @s2 m1 + {"role":"system","name":"Bob"} | say m1 x`, messages: `user m1 @s1 name=Ann "x"`},
		{name: "P-TXT-1 re-entering a message that a snapshot brought", script: `run | messages [{"id":"m1","role":"assistant","content":"a"}] | text m1 | say m1 b`, messages: `assistant m1 "ab"`},
		{name: "P-TXT-1 re-entering leaves a message without content alone", script: `run | call c1 f m1 | text m1`, messages: `assistant m1 [c1 f() streaming]`},
		{name: "P-TXT-1 text for a message without content", script: `run | call c1 f m1 | text m1 | say m1 a | endtext m1`, messages: `assistant m1 "a" [c1 f() streaming]`},
		{name: "P-TXT-1 re-entering leaves the order", script: "run | text m1 | endtext m1 | text m2 | text m1 | say m1 x", messages: `assistant m1 "x" | assistant m2 ""`},
		{name: "D-5 text after parts becomes a text part", script: "run | " + parts + " | text m1 | say m1 b | say m1 c",
			messages: `user m1 [{"type":"text","text":"a"},{"type":"image","source":{"type":"url","value":"u"}},{"type":"text","text":"bc"}]`},
		{name: "D-5 text is appended to a trailing text part", script: "run | " + trailing + " | text m1 | say m1 b | say m1 c | endtext m1",
			messages: `user m1 [{"type":"image","source":{"type":"url","value":"u"}},{"type":"text","id":"p","text":"abc"}]`},
		{name: "D-5 parts of a second snapshot start anew", script: "run | " + trailing + " | text m1 | say m1 b | " + trailing + " | say m1 c",
			messages: `user m1 [{"type":"image","source":{"type":"url","value":"u"}},{"type":"text","id":"p","text":"ac"}]`},
		{name: "P-TXT-2 CONTENT for a message that is gone", script: "run | text m1 | messages [] | say m1 x", warnings: "P-TXT-2 m1"},
		{name: "P-TXT-2 END for a message that is gone", script: "run | text m1 | messages [] | endtext m1 | done", warnings: "P-TXT-2 m1"},
		{name: "P-TXT-2 reasoning that is gone", script: `run | think r1 | messages [{"id":"r2","role":"reasoning","content":""}] | thought r1 x | endthink r1`, messages: `reasoning r2 ""`, warnings: "P-TXT-2 r1, P-TXT-2 r1"},
		{name: "P-TXT-2 a call that is gone", script: "run | call c1 f | messages [] | args c1 x | endcall c1 | done", warnings: "P-TXT-2 c1, P-TXT-2 c1"},
		{name: "P-TXT-2 START makes it anew", script: "run | text m1 | say m1 a | messages [] | endtext m1 | text m1 | say m1 b", messages: `assistant m1 "b"`, warnings: "P-TXT-2 m1"},
		{name: "P-MSG-1 an open message continues from what the snapshot says", script: `run | text m1 | say m1 ab | messages [{"id":"m1","role":"assistant","content":"abc"}] | say m1 d`, messages: `assistant m1 "abcd"`},
		{name: "P-ENF-5 an unknown role is the assistant's", script: `run | text m1 + {"role":"narrator"}`, messages: `assistant m1 ""`, warnings: "P-ENF-5 /role"},
	})
}

func TestChunksAtTheEndOfInput(t *testing.T) {
	t.Run("P-CHK-7 nothing is made up for a stream that is cut off", func(t *testing.T) {
		p := play(t, "run | chunk m1 Hel | chunk m1 lo", nil)
		th := p.r.End(nil)
		assert.Equal(t, "RUN_STARTED TEXT_MESSAGE_START TEXT_MESSAGE_CONTENT TEXT_MESSAGE_CONTENT", p.types())
		assert.Equal(t, `assistant m1 "Hello"`, show(th))
		assert.Equal(t, reducer.Truncated, th.Status())
		require.ErrorIs(t, p.r.Err(), reducer.ErrTruncated)
	})
	t.Run("P-CHK-7 RUN_FINISHED closes every lane", func(t *testing.T) {
		p := play(t, "run | chunk m1 a | chunk @s1 m2 b | done", nil)
		require.NoError(t, p.err)
		assert.Equal(t, "RUN_STARTED TEXT_MESSAGE_START TEXT_MESSAGE_CONTENT TEXT_MESSAGE_START TEXT_MESSAGE_CONTENT TEXT_MESSAGE_END TEXT_MESSAGE_END RUN_FINISHED", p.types())
		assert.Equal(t, reducer.Succeeded, p.r.End(nil).Status())
	})
}

func TestSplitPairs(t *testing.T) {
	rows := []struct{ name, script, want string }{
		{"text: the halves join", `run | text m1 | say m1 a\ud83d | say m1 \ude00b`, `assistant m1 "a😀b"`},
		{"text: with an empty delta between", `run | text m1 | say m1 \ud83d | say m1 _ | say m1 \ude00`, `assistant m1 "😀"`},
		{"text: a waiting half shows nothing", `run | text m1 | say m1 a\ud83d`, `assistant m1 "a"`},
		{"text: a high half before something else", `run | text m1 | say m1 \ud83d | say m1 b`, `assistant m1 "�b"`},
		{"text: two high halves", `run | text m1 | say m1 \ud83d | say m1 \ud83d | say m1 \ude00`, `assistant m1 "�😀"`},
		{"text: a lone low half", `run | text m1 | say m1 a\ude00b`, `assistant m1 "a�b"`},
		{"text: a lone high half inside", `run | text m1 | say m1 a\ud83db`, `assistant m1 "a�b"`},
		{"text: a high half at the end", `run | text m1 | say m1 a\ud83d | endtext m1`, `assistant m1 "a�"`},
		{"text: the pair does not join over END", `run | text m1 | say m1 \ud83d | endtext m1 | text m1 | say m1 \ude00`, `assistant m1 "��"`},
		{"text: RUN_ERROR gives up waiting", `run | text m1 | say m1 a\ud83d | fail x`, `assistant m1 "a�"`},
		{"text: nothing waits over runs", `run | text m1 | say m1 a\ud83d | fail x | run b | text m1 | say m1 \ude00`, `assistant m1 "a��"`},
		{"text: a violation gives up waiting", `run | text m1 | say m1 a\ud83d | run`, `assistant m1 "a�"`},
		{"text: a half that a snapshot left waits too", `run | messages [{"id":"m1","role":"assistant","content":"a\ud83d"}] | text m1 | say m1 \ude00`, `assistant m1 "a😀"`},
		{"reasoning: the halves join", `run | think r1 | thought r1 \ud83d | thought r1 \ude00`, `reasoning r1 "😀"`},
		{"arguments: the halves join", `run | call c1 f | args c1 {"a":"\ud83d | args c1 \ude00"} | endcall c1`, `assistant c1 [c1 f({"a":"😀"}) complete]`},
		{"arguments: a waiting half shows nothing", `run | call c1 f | args c1 x\ud83d`, `assistant c1 [c1 f(x) streaming]`},
		{"arguments: a high half at the end", `run | call c1 f | args c1 \ud83d | endcall c1`, `assistant c1 [c1 f(�) complete]`},
		{"arguments: RUN_ERROR gives up waiting", `run | call c1 f | args c1 \ud83d | fail x`, `assistant c1 [c1 f(�) broken]`},
		{"chunks: the halves join", `run | chunk m1 \ud83d | chunk m1 \ude00 | done`, `assistant m1 "😀"`},
		{"messages wait each for their own", `run | text m1 | text m2 | say m1 \ud83d | say m2 \ude00 | say m1 \ude00`, `assistant m1 "😀" | assistant m2 "�"`},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			p := play(t, r.script, nil)
			assert.Equal(t, r.want, show(p.th))
		})
	}
	t.Run("the end of the stream gives up waiting", func(t *testing.T) {
		p := play(t, `run | text m1 | say m1 a\ud83d`, nil)
		before := p.th
		assert.Equal(t, `assistant m1 "a�"`, show(p.r.End(nil)))
		assert.Equal(t, `assistant m1 "a"`, show(before))
	})
	t.Run("text made in Go is valid UTF-8 at any time", func(t *testing.T) {
		r := reducer.New(nil)
		apply(t, r, &event.RunStarted{ThreadID: "t", RunID: "r"}, &event.TextMessageStart{MessageID: "m1"})
		for _, delta := range []string{"\xff", "a\xf0\x9f", "\x98\x80", "\xed\xa0\xbd", "\xed\xb8\x80", "\xed\xa0", "é"} {
			apply(t, r, &event.TextMessageContent{MessageID: "m1", Delta: delta})
			assert.True(t, utf8.ValidString(r.Thread().Messages.At(0).Text()))
		}
		assert.True(t, strings.HasSuffix(r.Thread().Messages.At(0).Text(), "é"))
	})
}

func TestOldTextsStay(t *testing.T) {
	r := reducer.New(nil)
	apply(t, r, &event.RunStarted{ThreadID: "t", RunID: "r"}, &event.TextMessageStart{MessageID: "m1"})
	var threads []*reducer.Thread
	for range 200 {
		apply(t, r, &event.TextMessageContent{MessageID: "m1", Delta: "ab"})
		threads = append(threads, r.Thread())
	}
	apply(t, r, &event.TextMessageEnd{MessageID: "m1"}, &event.TextMessageStart{MessageID: "m1"}, &event.TextMessageContent{MessageID: "m1", Delta: "c"})
	for i, th := range threads {
		require.Equal(t, strings.Repeat("ab", i+1), th.Messages.At(0).Text())
	}
	assert.Equal(t, strings.Repeat("ab", 200)+"c", r.Thread().Messages.At(0).Text())
}

func TestOldPartsStay(t *testing.T) {
	parts := messages.Parts(messages.TextPart("a"), messages.MediaPart(messages.PartImage, messages.Source{Type: messages.SourceURL, Value: "u"}), messages.TextPart(""))
	held := &messages.Message{ID: "m1", Role: messages.RoleUser, Content: parts}
	r := reducer.New(&reducer.Options{Input: &event.RunInput{ThreadID: "t", RunID: "r", Messages: []*messages.Message{held}}})
	apply(t, r, &event.RunStarted{ThreadID: "t", RunID: "r"}, &event.TextMessageStart{MessageID: "m1"})
	first := r.Thread()
	apply(t, r, &event.TextMessageContent{MessageID: "m1", Delta: "x"}, &event.TextMessageContent{MessageID: "m1", Delta: "y"})
	second := r.Thread()
	apply(t, r, &event.TextMessageContent{MessageID: "m1", Delta: "z"}, &event.TextMessageContent{MessageID: "m1", Delta: "!"})
	assert.Equal(t, "a\n", held.Text())
	assert.Equal(t, "a\n", first.Messages.At(0).Text())
	assert.Equal(t, "a\nxy", second.Messages.At(0).Text())
	assert.Equal(t, "a\nxyz!", r.Thread().Messages.At(0).Text())
}

// apply applies events that must be in order.
func apply(t testing.TB, r *reducer.Reducer, events ...event.Event) {
	t.Helper()
	for _, ev := range events {
		err := r.Apply(ev)
		require.NoError(t, err)
	}
}
