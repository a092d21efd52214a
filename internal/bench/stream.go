package main

import (
	"bytes"
	"fmt"

	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// stream is a run of some thousand events of one kind, as SSE.
type stream struct{ open, next, shut string }

var (
	texts = stream{
		`{"type":"TEXT_MESSAGE_START","messageId":"message-1","role":"assistant"}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"message-1","delta":"token %d and more"}`,
		`{"type":"TEXT_MESSAGE_END","messageId":"message-1"}`,
	}
	chunked = stream{
		`{"type":"TEXT_MESSAGE_CHUNK","messageId":"message-1","role":"assistant"}`,
		`{"type":"TEXT_MESSAGE_CHUNK","messageId":"message-1","delta":"token %d and more"}`,
		`{"type":"RAW","event":0}`,
	}
	arguments = stream{
		`{"type":"TOOL_CALL_START","toolCallId":"call-1","toolCallName":"f"}`,
		`{"type":"TOOL_CALL_ARGS","toolCallId":"call-1","delta":"{\"n\":%d,\"more\":1}"}`,
		`{"type":"TOOL_CALL_END","toolCallId":"call-1"}`,
	}
	patches = stream{
		`{"type":"STATE_SNAPSHOT","snapshot":{"rows":[{"id":1,"done":false}],"title":"t"}}`,
		`{"type":"STATE_DELTA","delta":[{"op":"replace","path":"/rows/0/id","value":%d}]}`,
		`{"type":"RAW","event":0}`,
	}
)

func (t stream) bytes() []byte {
	var b bytes.Buffer
	put := func(format string, args ...any) { fmt.Fprintf(&b, "data: "+format+"\n\n", args...) }
	put(`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`)
	put(t.open)
	for i := range streamed {
		put(t.next, i%10)
	}
	put(t.shut)
	put(`{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`)
	return b.Bytes()
}

// history is a thread of n messages.
func history(n int) *reducer.Thread {
	msgs := make([]*messages.Message, n)
	for i := range msgs {
		msgs[i] = &messages.Message{
			ID: fmt.Sprintf("h%d", i), Role: messages.RoleUser, Content: messages.Text("Lorem ipsum dolor sit amet."),
		}
	}
	return &reducer.Thread{Messages: messages.NewList(msgs...)}
}
