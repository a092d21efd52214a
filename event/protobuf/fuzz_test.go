package protobuf

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// seeds are events of all kinds.
func seeds() []event.Event {
	by := event.By(messages.SubagentOwner("s"))
	any, _ := state.Parse([]byte(`{"a":[null,true,-1.5,"x",{}],"":9007199254740991}`))
	return []event.Event{
		&event.RunStarted{ThreadID: "t", RunID: "r", Input: &event.RunInput{ThreadID: "t", RunID: "r", State: any, Messages: []*messages.Message{{ID: "u", Role: messages.RoleUser, Content: messages.Text("hi")}}}},
		&event.TextMessageStart{Base: event.Base{Timestamp: messages.Some[int64](-1), RawEvent: any}, MessageID: "m", Role: messages.RoleUser},
		&event.TextMessageContent{Attribution: by, MessageID: "m", Delta: "d"}, &event.ToolCallArgs{ToolCallID: "c", Delta: "{}"},
		&event.ReasoningMessageContent{Base: event.Base{Timestamp: messages.Some[int64](1)}, MessageID: "m", Delta: "\u00e9"},
		&event.TextMessageChunk{MessageID: messages.Some(""), Role: messages.RoleSystem, Delta: messages.Some("d"), Name: messages.Some("n")},
		&event.ToolCallChunk{Attribution: by, ToolCallID: messages.Some("c"), ToolCallName: messages.Some("n"), ParentMessageID: messages.Some("p")},
		&event.ReasoningMessageChunk{Delta: messages.Some("")},
		&event.StateSnapshot{Snapshot: any}, &event.StateDelta{Delta: state.Patch{{Kind: state.OpMove, From: "/a", Path: "/b"}, {Kind: state.OpTest, Path: "", Value: any}}},
		&event.MessagesSnapshot{Messages: []*messages.Message{{ID: "u", Role: messages.RoleUser, Content: messages.Text("hi")}}},
		&event.RunFinished{ThreadID: "t", RunID: "r", Outcome: event.Outcome{Type: event.OutcomeInterrupt, Interrupts: []event.Interrupt{{ID: "i"}}}, Usage: []event.TokenUsage{{InputTokens: messages.Some[int64](3)}}},
		&event.SubagentFinished{Attribution: by, Result: any}, &event.Custom{Name: "n", Value: any},
		&event.ToolCallResult{MessageID: "m", ToolCallID: "c", Content: messages.Text("x")},
	}
}

// FuzzMessage: nothing panics; the straight way decodes to the same as the general one; and what is an event has an encoding
// that decodes to the same event.
func FuzzMessage(f *testing.F) {
	for _, ev := range seeds() {
		data, _, err := appendEvent(nil, ev)
		require.NoError(f, err)
		f.Add(data)
	}
	f.Add([]byte("\x9a\x06\x00"))
	f.Add([]byte("\x3a\x0c\x0a\x02\x08\x06\x12\x06\x32\x04\x0a\x02\x08\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		d := decoder{data: data, place: place{rule: "P-PB-4"}}
		general, fault := d.decode()
		require.GreaterOrEqual(t, d.offset, 0)
		require.LessOrEqual(t, d.offset, len(data))
		if straight := decodeHot(data, new(idCache)); straight != nil {
			require.Empty(t, fault)
			require.NoError(t, event.Check(straight))
			require.NoError(t, event.Check(general))
			require.True(t, event.FrameOfEvent(straight).Value().Equal(general.(event.Frame).Value()), "%s\n%s", event.Append(nil, straight), event.Append(nil, general))
			out, ok := appendHot(nil, straight)
			slow, _, err := appendEvent(nil, general)
			require.NoError(t, err)
			if ok {
				require.Equal(t, slow, out)
			}
		}
		if fault != "" {
			return
		}
		frame := general.(event.Frame)
		if frame.IsNotice() {
			require.Len(t, frame.Warnings(), 1)
			return
		}
		_, _, disorder := event.NewDecoder(&event.DecodeOptions{Strict: true}).Decode(frame)
		again, _, err := appendEvent(nil, frame)
		if disorder != nil { // it may lose what is out of order
			return
		}
		require.NoError(t, err)
		d = decoder{data: again, place: place{rule: "P-PB-4"}}
		back, fault := d.decode()
		require.Empty(t, fault)
		require.True(t, frame.Value().Equal(back.(event.Frame).Value()), "%s\n%s", event.Append(nil, frame), event.Append(nil, back))
	})
}

// FuzzReader: nothing panics, and how the bytes are split changes nothing.
func FuzzReader(f *testing.F) {
	var all []byte
	for _, ev := range seeds() {
		all, _, _ = Binding{}.Append(all, ev)
	}
	f.Add(all, 10)
	f.Add(all[:len(all)-1], 0)
	f.Add(binary.BigEndian.AppendUint32(nil, 1<<30), 1<<20)
	f.Fuzz(func(t *testing.T, data []byte, most int) {
		read := func(src io.Reader) (texts []string, err error) {
			r := NewReader(src, most)
			for {
				ev, err := r.Next()
				if err != nil {
					_, again := r.Next()
					require.Equal(t, err, again)
					return texts, err
				}
				text := string(event.Append(nil, ev))
				if frame, ok := ev.(event.Frame); ok && frame.Err() != nil {
					text = frame.Err().Error()
				}
				texts = append(texts, text)
			}
		}
		whole, wholeErr := read(bytes.NewReader(data))
		split, splitErr := read(iotest.OneByteReader(bytes.NewReader(data)))
		require.Equal(t, whole, split)
		require.Equal(t, wholeErr, splitErr)
	})
}
