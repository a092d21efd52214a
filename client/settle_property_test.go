package client_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/stretchr/testify/require"
)

// babbler is an agent whose runs are random, mostly in order, and may break off anywhere. It checks the history of
// each request.
type babbler struct {
	t      *testing.T
	rand   *rand.Rand
	log    []string
	faults []string
	sent   int
	asked  map[string]bool // calls that the interrupts of earlier runs are about
	n      int
}

func (b *babbler) pick(words ...string) string { return words[b.rand.IntN(len(words))] }
func (b *babbler) note(format string, args ...any) {
	b.log = append(b.log, fmt.Sprintf(format, args...))
}

// Run checks the request and babbles.
func (b *babbler) Run(_ context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
	b.sent++
	open := map[string]bool{}
	if len(in.Resume) > 0 { // the agent's own, and those that it asked about
		for _, m := range in.Messages {
			for _, tc := range m.ToolCalls.All() {
				open[tc.ID] = tc.Name == "theirs" || b.asked[tc.ID]
			}
		}
	}
	if faults := historyFaults(bodyOf(b.t, in), open); len(faults) > 0 {
		b.faults = append(b.faults, fmt.Sprintf("request %d: %s\n%s", b.sent, strings.Join(faults, "; "), strings.Join(sentAs(in), "\n")))
	}
	if err := event.Check(&event.MessagesSnapshot{Messages: in.Messages}); err != nil {
		b.faults = append(b.faults, fmt.Sprintf("request %d: %v", b.sent, err))
	}
	return func(yield func(event.Event, error) bool) {
		if b.rand.IntN(12) == 0 {
			b.note("  no stream")
			yield(nil, errors.New("401"))
			return
		}
		for _, line := range b.stream(in.RunID) {
			b.note("  %s", line)
			if line == "cut" {
				return
			}
			if line == "reset" {
				yield(nil, errors.New("reset"))
				return
			}
			frame, err := event.NewFrame([]byte(line))
			require.NoError(b.t, err)
			if !yield(frame, nil) {
				return
			}
		}
	}
}

// stream tells one run.
func (b *babbler) stream(run string) []string {
	lines := []string{fmt.Sprintf(`{"type":"RUN_STARTED","threadId":"t","runId":%q}`, run)}
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	text, calls := map[string]bool{}, map[string]bool{}
	tag := ""
	for range 2 + b.rand.IntN(14) {
		m, c := b.pick("m1", "m2", "m3"), b.pick("c1", "c2", "c3", "c4", "c5")
		switch b.rand.IntN(11) {
		case 0, 1:
			if text[m] {
				say(`{"type":"TEXT_MESSAGE_%s","messageId":%q,"delta":"x"}`, b.pick("CONTENT", "CONTENT", "END"), m)
				text[m] = !strings.Contains(lines[len(lines)-1], "_END")
			} else {
				say(`{"type":"TEXT_MESSAGE_START","messageId":%q}`, m)
				text[m] = true
			}
		case 2, 3, 4, 5:
			switch {
			case !calls[c]:
				if b.rand.IntN(4) == 0 {
					tag = `,"subagentRunId":"s1"`
				} else {
					tag = ""
				}
				say(`{"type":"TOOL_CALL_START","toolCallId":%q,"toolCallName":%q%s%s}`, c, b.pick("now", "mine", "mine", "theirs", "stop"), b.pick("", `,"parentMessageId":"m1"`, `,"parentMessageId":"m2"`), tag)
				calls[c] = true
			case b.rand.IntN(2) == 0:
				say(`{"type":"TOOL_CALL_ARGS","toolCallId":%q,"delta":%q}`, c, b.pick("{}", `{"a":`, "1}", "[", "null", `"`, "\\u00e9"))
			default:
				say(`{"type":"TOOL_CALL_END","toolCallId":%q}`, c)
				calls[c] = false
			}
		case 6:
			say(`{"type":"TOOL_CALL_RESULT","messageId":%q,"toolCallId":%q,"content":"r"}`, b.pick("t1", "t2", "t3"), c)
		case 7:
			say(`{"type":"ACTIVITY_SNAPSHOT","messageId":"a1","activityType":"p","content":{}}`)
		case 8:
			say(`{"type":"TOOL_CALL_CHUNK","toolCallId":%q,"toolCallName":"theirs","delta":%q}`, b.pick("k1", "k2"), b.pick("{}", "{"))
		case 9:
			if b.rand.IntN(3) == 0 {
				say("%s", b.snapshot())
			}
		case 10:
			say(`{"type":"REASONING_ENCRYPTED_VALUE","subtype":"tool-call","entityId":%q,"encryptedValue":"e"}`, c)
		}
	}
	if b.rand.IntN(2) == 0 { // else some stay open, and the end is a violation
		for _, m := range slices.Sorted(maps(text)) {
			say(`{"type":"TEXT_MESSAGE_END","messageId":%q}`, m)
		}
		for _, c := range slices.Sorted(maps(calls)) {
			say(`{"type":"TOOL_CALL_END","toolCallId":%q}`, c)
		}
	}
	switch b.rand.IntN(8) {
	case 0:
		say("cut")
	case 1:
		say("reset")
	case 2:
		say(`{"type":"RUN_ERROR","message":"x"}`)
	case 3:
		b.n++
		about := b.pick("c1", "c2", "none")
		b.asked[about] = true
		say(`{"type":"RUN_FINISHED","threadId":"t","runId":%q,"outcome":{"type":"interrupt","interrupts":[{"id":"i%d","reason":"ask","toolCallId":%q}]}}`, run, b.n, about)
	case 4:
		say(`{"type":"RUN_FINISHED","threadId":"t","runId":%q,"outcome":{"type":%q}}`, run, b.pick("cancelled", "success"))
	default:
		say(`{"type":"RUN_FINISHED","threadId":"t","runId":%q}`, run)
	}
	if b.rand.IntN(3) == 0 { // cut anywhere
		lines = append(lines[:b.rand.IntN(len(lines))], b.pick("cut", "reset"))
	}
	return lines
}

// maps yields the keys of those that are open.
func maps(open map[string]bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		for k, is := range open {
			if is && !yield(k) {
				return
			}
		}
	}
}

// snapshot restates a conversation in any order, with results anywhere.
func (b *babbler) snapshot() string {
	var ms []string
	for _, i := range b.rand.Perm(7)[:1+b.rand.IntN(6)] {
		ms = append(ms, [...]string{
			`{"id":"u","role":"user","content":"hi"}`,
			callJSON(b.pick("c1", "c2"), "theirs"),
			strings.Replace(callJSON("c3", "now"), `[{`, `[`+`{"id":"c3","type":"function","function":{"name":"now","arguments":""}},{`, 1),
			resultJSON("t1", b.pick("c1", "c3")), resultJSON("t2", b.pick("c1", "c2")), resultJSON("t3", "c3"),
			`{"id":"a1","role":"activity","activityType":"p","content":{}}`,
		}[i])
	}
	return restated(ms...)
}

// TestHistoryCanAlwaysBeSent holds P-HIS-1: whatever an agent streams, wherever it is cut or stopped and however its user
// continues, the next request has one result for each call, directly after its message, and arguments that are JSON objects.
func TestHistoryCanAlwaysBeSent(t *testing.T) {
	seeds := uint64(2000)
	if testing.Short() {
		seeds = 300
	}
	requests, settled, listed := 0, 0, 0
	for seed := range seeds {
		b := &babbler{t: t, rand: rand.New(rand.NewPCG(seed, 13)), asked: map[string]bool{}}
		_, cancel := context.WithCancel(t.Context())
		var stops atomic.Pointer[context.CancelFunc] // a tool may outlive its run
		first := cancel
		stops.Store(&first)
		tools := []client.Tool{
			{Tool: event.Tool{Name: "mine"}},
			{Tool: event.Tool{Name: "now"}, Call: func(context.Context, *messages.ToolCall) (any, error) { return "noon", nil }},
			{Tool: event.Tool{Name: "stop"}, Call: func(ctx context.Context, _ *messages.ToolCall) (any, error) {
				(*stops.Load())()
				<-ctx.Done()
				return nil, ctx.Err()
			}},
		}
		options := client.SessionOptions{
			NewID: counting(), // goes on after a thread is loaded
			Tools: tools, MaxRounds: 2, AnswerUnknownTools: b.rand.IntN(2) == 0,
			Unanswered: []client.Unanswered{client.SettleUnanswered, client.DeclineUnanswered}[b.rand.IntN(2)],
			OnWarning: func(w event.Warning) {
				if strings.HasPrefix(w.Rule, "P-HIS") {
					settled++
				}
			},
		}
		s := client.NewSession(b, quiet(options))
		for range 8 {
			o := &client.RunOptions{Resume: client.AnswerAll(s.Thread().Interrupts, func(in event.Interrupt) client.Answer { return client.Decline(in.ID) })}
			if b.rand.IntN(3) > 0 {
				o.Messages = append(o.Messages, messages.UserText("go on"))
			}
			stop := b.rand.IntN(20)
			b.note("run, stopped after %d", stop)
			cancel()
			next, stopNext := context.WithCancel(t.Context())
			cancel = stopNext
			stops.Store(&stopNext)
			var last error
			for _, err := range s.Run(next, o) {
				if last = err; stop == 0 {
					break
				}
				stop--
			}
			var waits *client.PendingCallError
			if errors.As(last, &waits) {
				listed++
				require.NotEqual(t, client.DeclineUnanswered, options.Unanswered)
				b.note("answer %d", len(waits.Calls))
				for _, tc := range waits.Calls {
					require.NoError(t, s.AddMessages(messages.ToolResult(tc.ID, "yes")))
				}
			}
			if b.rand.IntN(5) == 0 {
				b.note("store and load")
				var th reducer.Thread
				require.NoError(t, th.UnmarshalJSON(s.Thread().AppendJSON(nil)))
				options.Thread = &th
				s = client.NewSession(b, quiet(options))
			}
		}
		cancel()
		require.Empty(t, b.faults, "seed %d\n%s", seed, strings.Join(b.log, "\n"))
		requests += b.sent
	}
	t.Logf("%d requests, %d things settled, %d times calls listed", requests, settled, listed)
	require.Positive(t, settled)
	require.Positive(t, listed)
}
