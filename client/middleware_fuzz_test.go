package client

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/recording"
)

// FuzzMiddleware holds that the shipped middleware panics on nothing, keeps every event's place in the stream
// and delivers only frames; and that a filter which refuses nothing changes nothing.
func FuzzMiddleware(f *testing.F) {
	f.Add(started+"\n"+content+"\n"+finished, "1")
	f.Add(`{"type":"TOOL_CALL_START","toolCallId":"1","toolCallName":"rm"}`+"\n"+`{"type":"TOOL_CALL_CHUNK","delta":"x"}`, "rm")
	f.Add(`{"type":"TOOL_CALL_CHUNK","toolCallId":"1","toolCallName":"rm","subagentRunId":"s"}`+"\n"+`{"type":"TOOL_CALL_CHUNK","delta":"x"}`, "rm")
	f.Add(`{"type":"RUN_FINISHED","outcome":{"interrupts":[{"subagentRunId":1}],"pendingToolCallIds":[1,"1"]}}`, "")
	f.Add(`{"type":"MESSAGES_SNAPSHOT","messages":[{"subagentRunId":"s"}]}`+"\n"+`{"type":"SUBAGENT_STARTED","subagentRunId":null}`, "")
	f.Add(`{"type":"MESSAGES_SNAPSHOT","messages":[{"subagentRunId":"s"}]}`+"\n"+`{"type":"SUBAGENT_STARTED","su","`, "")
	f.Fuzz(func(t *testing.T, events, name string) {
		run := func(ms ...Middleware) (got []string, err error) {
			for ev, e := range Chain(answering(events), ms...).Run(t.Context(), input) {
				if err = e; err != nil {
					break
				}
				frame := ev.(event.Frame)
				if !frame.IsNotice() && frame.Err() == nil { // data that is not an event passes, for enforcement to reject
					_, e := event.NewFrame(frame.Data())
					require.NoError(t, e)
				}
				got = append(got, string(frame.Data()))
			}
			return got, err
		}
		plain, err := run()
		_, none := errors.AsType[*recording.FormatError](err)
		if none && len(plain) == 0 || strings.Contains(events, `"agfold"`) {
			return
		}
		kept, _ := run(FilterToolCalls(func(string) bool { return true }))
		require.Equal(t, plain, kept)
		filtered, _ := run(FilterToolCalls(func(n string) bool { return n != name }), Peer("0.0.39"))
		require.Len(t, filtered, len(plain))
	})
}
