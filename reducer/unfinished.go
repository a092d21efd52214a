package reducer

import (
	"strconv"

	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/messages"
)

// unfinished is an element of the member unfinished of a thread's JSON: what of one message is still arriving or broke
// off. The wire shape of messages has no place for it.
type unfinished struct {
	index     int // of the message
	messageID string
	text      string // "streaming" or "cut", "" if the text is complete
	calls     []unfinishedCall
}

type unfinishedCall struct {
	index  int // in the message
	id     string
	status messages.ToolCallStatus // streaming or broken
}

var (
	unfinishedTexts = []string{"streaming", "cut"}
	unfinishedCalls = []string{messages.ToolCallStreaming.String(), messages.ToolCallBroken.String()}
)

// unfinishedOf returns what of a message is unfinished, and whether anything is.
func unfinishedOf(i int, m *messages.Message) (unfinished, bool) {
	u := unfinished{index: i, messageID: m.ID}
	switch {
	case m.Streaming:
		u.text = "streaming"
	case m.Cut:
		u.text = "cut"
	}
	for j, tc := range m.ToolCalls.All() {
		if tc.Status == messages.ToolCallStreaming || tc.Status == messages.ToolCallBroken {
			u.calls = append(u.calls, unfinishedCall{j, tc.ID, tc.Status})
		}
	}
	return u, u.text != "" || len(u.calls) > 0
}

func (u unfinished) append(dst []byte) []byte {
	dst = codec.AppendInteger(append(dst, '{'), "index", int64(u.index))
	dst = codec.AppendString(dst, "messageId", u.messageID)
	dst = codec.AppendNonEmpty(dst, "text", u.text)
	if len(u.calls) > 0 {
		dst = append(codec.AppendKey(dst, "toolCalls"), '[')
		for i, c := range u.calls {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = codec.AppendInteger(append(dst, '{'), "index", int64(c.index))
			dst = codec.AppendString(dst, "toolCallId", c.id)
			dst = append(codec.AppendString(dst, "status", c.status.String()), '}')
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// readUnfinished reads the member unfinished into messages that are not shared yet. Only what is in a run that is running
// is still arriving.
func readUnfinished(c *codec.Codec, msgs []*messages.Message, running bool) {
	var list []unfinished
	codec.OptObjects(c, "unfinished", &list, func(u *unfinished, c *codec.Codec) {
		m := pick(c, msgs)
		if m == nil {
			return
		}
		var text string
		codec.OptEnum(c, "text", &text, unfinishedTexts)
		m.Streaming = text == "streaming" && running
		m.Cut = text != "" && !m.Streaming
		codec.OptObjects(c, "toolCalls", &u.calls, func(_ *unfinishedCall, c *codec.Codec) {
			tc := pick(c, m.ToolCalls.Slice())
			if tc == nil {
				return
			}
			if status := readName(c, "status", unfinishedCalls); status == 0 && running {
				tc.Status = messages.ToolCallStreaming
			} else {
				tc.Status = messages.ToolCallBroken
			}
		})
	})
}

// pick returns the element of a list that the member index names.
func pick[T any](c *codec.Codec, list []*T) *T {
	i := readInteger(c, "index")
	if i >= int64(len(list)) {
		c.Reject("index", "less than "+strconv.Itoa(len(list)), strconv.FormatInt(i, 10))
		return nil
	}
	return list[i]
}
