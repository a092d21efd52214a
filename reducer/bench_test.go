package reducer_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/reducer"
	"github.com/stretchr/testify/require"
)

// Each benchmark takes events from their JSON text to the thread; Floor is json.Valid of the same text, the
// least that anything which reads JSON does.
func BenchmarkContent(b *testing.B) {
	benchmarkContent(b, []byte(`{"type":"TEXT_MESSAGE_CONTENT","messageId":"msg-7f3a9c","delta":" weather"}`), func(r *reducer.Reducer) {
		apply(b, r, &event.TextMessageStart{MessageID: "msg-7f3a9c"})
	})
}

func BenchmarkArguments(b *testing.B) {
	benchmarkContent(b, []byte(`{"type":"TOOL_CALL_ARGS","toolCallId":"call-7f3a9c","delta":"{\"city\":"}`), func(r *reducer.Reducer) {
		apply(b, r, &event.ToolCallStart{ToolCallID: "call-7f3a9c", ToolCallName: "get_weather"})
	})
}

func BenchmarkChunks(b *testing.B) {
	benchmarkContent(b, []byte(`{"type":"TEXT_MESSAGE_CHUNK","messageId":"msg-7f3a9c","delta":" weather"}`), func(*reducer.Reducer) {})
}

func benchmarkContent(b *testing.B, text []byte, open func(r *reducer.Reducer)) {
	b.Run("Floor", func(b *testing.B) {
		for b.Loop() {
			if !json.Valid(text) {
				b.Fatal("not JSON")
			}
		}
	})
	for _, size := range []int{10, many} {
		for _, snapshots := range []bool{false, true} {
			name := fmt.Sprint("Messages=", size, "/Snapshots=none")
			if snapshots {
				name = fmt.Sprint("Messages=", size, "/Snapshots=every")
			}
			b.Run(name, func(b *testing.B) {
				r := conversation(b, size)
				open(r)
				b.ReportAllocs()
				for b.Loop() {
					frame, err := event.NewFrame(text)
					if err == nil {
						err = r.Apply(frame)
					}
					if err != nil {
						b.Fatal(err)
					}
					if snapshots {
						r.Thread()
					}
				}
			})
		}
	}
}

// BenchmarkTurn folds the turn of an agent: reasoning, text, a call with its result, text again.
func BenchmarkTurn(b *testing.B) {
	var lines [][]byte
	add := func(script string) {
		for _, ev := range parse(b, script) {
			lines = append(lines, event.Append(nil, ev))
		}
	}
	add("run | span r | think r")
	for range 20 {
		add("thought r   and so on")
	}
	add("endthink r | endspan r | text m")
	for range 40 {
		add("say m   a word or two")
	}
	add("endtext m | call c f m")
	for range 10 {
		add(`args c {"city":`)
	}
	add(`endcall c | result t c 4 degrees | patch [{"op":"add","path":"/weather","value":{"oslo":4}}] | text m2`)
	for range 40 {
		add("say m2   a word or two")
	}
	add("endtext m2 | done")
	size := 0
	for _, line := range lines {
		size += len(line)
	}
	b.Run("Floor", func(b *testing.B) {
		b.SetBytes(int64(size))
		for b.Loop() {
			for _, line := range lines {
				if !json.Valid(line) {
					b.Fatal("not JSON")
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(lines)), "ns/event")
	})
	b.Run("Fold", func(b *testing.B) {
		b.SetBytes(int64(size))
		b.ReportAllocs()
		for b.Loop() {
			r := reducer.New(nil)
			for _, line := range lines {
				frame, err := event.NewFrame(line)
				if err == nil {
					err = r.Apply(frame)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(lines)), "ns/event")
	})
}

func BenchmarkMessagesSnapshot(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint("Messages=", n), func(b *testing.B) {
			r := conversation(b, n)
			text := event.Append(nil, &event.MessagesSnapshot{Messages: r.Thread().Messages.Slice()})
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				frame, err := event.NewFrame(text)
				require.NoError(b, err)
				apply(b, r, frame)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/message")
		})
	}
}
