package reducer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// showStreaming writes the messages that are streaming, divided by spaces.
func showStreaming(th *reducer.Thread) string {
	var ids []string
	for _, m := range th.Messages.All() {
		if m.Streaming {
			ids = append(ids, m.ID)
		}
	}
	return strings.Join(ids, " ")
}

// showCut writes the messages whose text broke off, divided by spaces.
func showCut(th *reducer.Thread) string {
	var ids []string
	for _, m := range th.Messages.All() {
		if m.Cut {
			ids = append(ids, m.ID)
		}
	}
	return strings.Join(ids, " ")
}

func TestCut(t *testing.T) {
	const held = `[{"id":"m1","role":"assistant","content":"held"}]`
	for _, r := range []struct{ name, script, want string }{
		{"P-TXT-3 RUN_ERROR cuts the open ones", "run | text m1 | text m2 | endtext m2 | think r1 | fail x", "m1 r1"},
		{"P-TXT-3 a violation does", "run | text m1 | run", "m1"},
		{"P-TXT-3 not the run's end", "run | text m1 | endtext m1 | done", ""},
		{"P-TXT-3 not a late error", "run | text m1 | endtext m1 | done | fail x", ""},
		{"P-TXT-3 it stays in later runs", "run | text m1 | fail x | run b | done b", "m1"},
		{"P-TXT-3 until it is opened again", "run | text m1 | fail x | run b | text m1", ""},
		{"P-TXT-3 or a snapshot has the whole", "run | text m1 | fail x | run b | messages " + held, ""},
		{"P-TXT-3 a message made for a call has no text", "run | call c1 f m1 | fail x", ""},
	} {
		t.Run(r.name, func(t *testing.T) {
			assert.Equal(t, r.want, showCut(play(t, r.script, nil).th))
		})
	}
}

func TestStreaming(t *testing.T) {
	const held = `[{"id":"m1","role":"assistant","content":"held"},{"id":"m2","role":"user","content":"held"}]`
	for _, r := range []struct{ name, script, want string }{
		{"P-TXT-1 a message that was started", "run | text m1", "m1"},
		{"P-TXT-1 while text comes", "run | text m1 | say m1 a", "m1"},
		{"P-TXT-1 one that was closed", "run | text m1 | say m1 a | endtext m1", ""},
		{"P-TXT-1 one that was closed before anything came", "run | text m1 | endtext m1", ""},
		{"P-TXT-1 one that was opened again", "run | text m1 | endtext m1 | text m1", "m1"},
		{"P-TXT-1 one that was opened again in a later run", "run | text m1 | endtext m1 | done | run b | text m1", "m1"},
		{"P-TXT-1 one that came whole and was opened", `run + {"input":{"threadId":"t","runId":"r","messages":` + held + `,"tools":[],"context":[]}} | text m2`, "m2"},
		{"P-TXT-1 several side by side", "run | text m1 | text m2 | text m3 | endtext m2", "m1 m3"},
		{"P-CHK-1 chunks, until something else comes", "run | chunk m1 a", "m1"},
		{"P-CHK-1 the message after them", "run | chunk m1 a | chunk m2 b", "m2"},
		{"P-REA-1 a reasoning message", "run | think m1 | thought m1 a", "m1"},
		{"P-REA-1 a reasoning message that was closed", "run | think m1 | thought m1 a | endthink m1", ""},
		{"P-REA-1 a span is not a message", "run | span m1", ""},
		{"P-ID-1 if two share an id, the open one", "run | text m1 | endtext m1 | think m1", "m1"},
		{"P-TOL-1 a message made for a call has no text to come", "run | call c1 f m1", ""},
		{"P-TXT-1 a message made for a call and then opened", "run | call c1 f m1 | text m1", "m1"},
		{"P-MSG-1 a restated message that is open", "run | text m1 | messages " + held, "m1"},
		{"P-MSG-1 a restated message that was closed", "run | text m1 | endtext m1 | messages " + held, ""},
		{"P-MSG-1 a message that the snapshot brought", "run | messages " + held, ""},
		{"P-MSG-1 dropped while it was open, then closed", "run | text m1 | messages [] | endtext m1 | messages " + held, ""},
		{"P-MSG-1 dropped while it was open, then restated", "run | text m1 | messages [] | messages " + held, "m1"},
		{"P-MSG-1 dropped while it was open, then made for a call", "run | text m1 | messages [] | call c1 f m1", "m1"},
		{"P-MSG-2 reasoning that a snapshot leaves alone", "run | think r1 | messages " + held, "r1"},
		{"P-RUN-1 RUN_ERROR ends them all", "run | text m1 | say m1 a | text m2 | think r1 | fail x", ""},
		{"P-RUN-1 RUN_ERROR after one was dropped", "run | text m1 | text m2 | messages " + `[{"id":"m2","role":"assistant","content":""}]` + " | fail x", ""},
		{"P-RUN-1 a violation ends them all", "run | text m1 | think r1 | say m2 x", ""},
		{"P-RUN-1 a malformed event ends them all", `run | text m1 | {"type":"TEXT_MESSAGE_CONTENT","messageId":7,"delta":"x"}`, ""},
		{"P-RUN-1 the run after a failed one starts with none", "run | text m1 | fail x | run b", ""},
	} {
		t.Run(r.name, func(t *testing.T) {
			assert.Equal(t, r.want, showStreaming(play(t, r.script, nil).th))
		})
	}
	t.Run("P-RUN-1 a truncated run ends them all", func(t *testing.T) {
		p := play(t, "run | text m1 | say m1 a | think r1 | call c1 f m1", nil)
		assert.Equal(t, "m1 r1", showStreaming(p.th))
		th := p.r.End(nil)
		assert.Empty(t, showStreaming(th))
		assert.Equal(t, messages.ToolCallBroken, th.Messages.At(0).ToolCalls.At(0).Status)
		assert.Equal(t, "m1 r1", showCut(th))
		assert.Equal(t, []int{0, 1}, th.ChangesSince(p.th).Messages)
		assert.Equal(t, "m1 r1", showStreaming(p.th), "the snapshot stays")
	})
	t.Run("a message says nothing of it on the wire", func(t *testing.T) {
		th := play(t, "run | text m1", nil).th
		assert.Equal(t, `{"id":"m1","role":"assistant","content":""}`, string(th.Messages.At(0).AppendJSON(nil)))
	})
	t.Run("what is taken from a thread while it streams comes whole elsewhere", func(t *testing.T) {
		th := play(t, "run | text m1 | say m1 a", nil).th
		m := th.Messages.At(0)
		in := &event.RunInput{ThreadID: "t", RunID: "r", Messages: []*messages.Message{m}}
		assert.Empty(t, showStreaming(reducer.New(&reducer.Options{Thread: th}).Thread()))
		assert.Empty(t, showStreaming(reducer.New(&reducer.Options{Input: in}).Thread()))
		assert.Empty(t, showStreaming(new(reducer.Thread).WithMessages(m)))
		assert.Empty(t, showStreaming(th.ReplaceMessages(m)))
		for _, ev := range []event.Event{
			&event.RunStarted{ThreadID: "t", RunID: "r", Input: in},
			&event.MessagesSnapshot{Messages: in.Messages},
		} {
			r := reducer.New(nil)
			if ev.Type() != event.TypeRunStarted {
				apply(t, r, &event.RunStarted{ThreadID: "t", RunID: "r"})
			}
			apply(t, r, ev)
			assert.Equal(t, 1, r.Thread().Messages.Len())
			assert.Empty(t, showStreaming(r.Thread()), ev.Type())
		}
		assert.True(t, m.Streaming, "and stays what it was")
	})
}

// checkStreaming compares, after each event, the messages that are streaming with those that the delivered
// events have opened and not closed.
func checkStreaming(t testing.TB, events []event.Event) {
	type key struct {
		kind messages.Kind
		id   string
	}
	open := map[key]bool{}
	r := reducer.New(nil)
	for i, ev := range events {
		delivered, err := deliver(r, ev)
		for _, s := range delivered {
			switch e := s.Event.(type) {
			case *event.TextMessageStart:
				open[key{messages.KindText, e.MessageID}] = true
			case *event.TextMessageEnd:
				delete(open, key{messages.KindText, e.MessageID})
			case *event.ReasoningMessageStart:
				open[key{messages.KindReasoning, e.MessageID}] = true
			case *event.ReasoningMessageEnd:
				delete(open, key{messages.KindReasoning, e.MessageID})
			case *event.RunFinished, *event.RunError:
				clear(open)
			}
		}
		if err != nil {
			clear(open)
		}
		if i%2 == 0 && err == nil { // let some be changed in place
			continue
		}
		for _, m := range r.Thread().Messages.All() {
			require.Equal(t, open[key{m.Kind(), m.ID}], m.Streaming, fmt.Sprint(m.Role, " ", m.ID, " after event ", i+1))
		}
		if err != nil {
			return
		}
	}
	require.Empty(t, showStreaming(r.End(nil)))
}
