package feed

import (
	"errors"
	"fmt"
	"testing"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func value(t testing.TB, text string) state.Value {
	t.Helper()
	v, err := state.Parse([]byte(text))
	require.NoError(t, err)
	return v
}

func thread(msgs ...*messages.Message) *reducer.Thread {
	return &reducer.Thread{ID: "t", Messages: messages.NewList(msgs...)}
}

func called(calls ...*messages.ToolCall) *reducer.Thread {
	return thread(&messages.Message{ID: "m", Role: messages.RoleAssistant, ToolCalls: messages.NewList(calls...)})
}

func said(content messages.Content) *reducer.Thread {
	return thread(&messages.Message{ID: "m", Role: messages.RoleUser, Content: content})
}

func TestChanges(t *testing.T) {
	text := func(s string) *reducer.Thread { return said(messages.Text(s)) }
	parts := func(parts ...messages.Part) *reducer.Thread { return said(messages.Parts(parts...)) }
	shared := func(s string) *reducer.Thread { return &reducer.Thread{ID: "t", State: value(t, s)} }
	ran := func(run *reducer.Run) *reducer.Thread {
		return &reducer.Thread{ID: "t", Runs: messages.NewList(run)}
	}
	image := messages.MediaPart(messages.PartImage, messages.Source{Type: messages.SourceURL, Value: "u"})
	for _, tc := range []struct {
		name       string
		from, to   *reducer.Thread
		want       string
		wantSimply string // with the operations of RFC 6902 alone, if they differ
	}{
		{"a token is appended", text("Hel"), text("Hello"),
			`[{"op":"append","path":"/messages/0/content","value":"lo"}]`, `[{"op":"replace","path":"/messages/0/content","value":"Hello"}]`},
		{"text that begins otherwise is replaced", text("Hel"), text("Jello"), `[{"op":"replace","path":"/messages/0/content","value":"Jello"}]`, ""},
		{"half a character is not appended to", text("\xc3"), text("\xc3\xa9"), `[{"op":"replace","path":"/messages/0/content","value":"é"}]`, ""},
		{"content appears", said(messages.Content{}), text("x"), `[{"op":"add","path":"/messages/0/content","value":"x"}]`, ""},
		{"content disappears", text("x"), said(messages.Content{}), `[{"op":"remove","path":"/messages/0/content"}]`, ""},
		{"text becomes parts", text("x"), parts(messages.TextPart("x")), `[{"op":"replace","path":"/messages/0/content","value":[{"type":"text","text":"x"}]}]`, ""},
		{"a part's text grows, another is replaced, one comes", parts(messages.TextPart("x"), image), parts(messages.TextPart("xy"), messages.TextPart("i"), image),
			`[{"op":"append","path":"/messages/0/content/0/text","value":"y"},{"op":"replace","path":"/messages/0/content/1","value":{"type":"text","text":"i"}},` +
				`{"op":"add","path":"/messages/0/content/2","value":{"type":"image","source":{"type":"url","value":"u"}}}]`,
			`[{"op":"replace","path":"/messages/0/content/0/text","value":"xy"},{"op":"replace","path":"/messages/0/content/1","value":{"type":"text","text":"i"}},` +
				`{"op":"add","path":"/messages/0/content/2","value":{"type":"image","source":{"type":"url","value":"u"}}}]`},
		{"parts go", parts(image, image, image), parts(image), `[{"op":"remove","path":"/messages/0/content/2"},{"op":"remove","path":"/messages/0/content/1"}]`, ""},
		{"a message comes", thread(), text("x"),
			`[{"op":"add","path":"/messages/0","value":{"id":"m","role":"user","content":"x","status":"complete"}}]`, ""},
		{"arguments arrive", called(&messages.ToolCall{ID: "c", Arguments: `{"q":"a`, Status: messages.ToolCallStreaming}),
			called(&messages.ToolCall{ID: "c", Arguments: `{"q":"ab`, Status: messages.ToolCallStreaming}),
			`[{"op":"append","path":"/messages/0/toolCalls/0/function/arguments","value":"b"},{"op":"append","path":"/messages/0/toolCalls/0/args/q","value":"b"}]`,
			`[{"op":"replace","path":"/messages/0/toolCalls/0/function/arguments","value":"{\"q\":\"ab"},{"op":"replace","path":"/messages/0/toolCalls/0/args/q","value":"ab"}]`},
		{"a call is answered", called(&messages.ToolCall{ID: "c"}), called(&messages.ToolCall{ID: "c", Status: messages.ToolCallAnswered}),
			`[{"op":"replace","path":"/messages/0/toolCalls/0/status","value":"answered"}]`, ""},
		{"a call's metadata", called(&messages.ToolCall{ID: "c"}), called(&messages.ToolCall{ID: "c", Metadata: messages.MetadataOf(state.Member{Key: "k", Value: state.Int(1)})}),
			`[{"op":"add","path":"/messages/0/toolCalls/0/metadata","value":{"k":1}}]`, ""},
		{"another call", called(&messages.ToolCall{ID: "c"}), called(&messages.ToolCall{ID: "d", Name: "f", Arguments: "[1"}),
			`[{"op":"replace","path":"/messages/0/toolCalls/0","value":{"id":"d","type":"function","function":{"name":"f","arguments":"[1"},"status":"complete","args":[1]}}]`, ""},
		{"the first call comes", called(), called(&messages.ToolCall{ID: "c", Name: "f"}),
			`[{"op":"add","path":"/messages/0/toolCalls","value":[{"id":"c","type":"function","function":{"name":"f","arguments":""},"status":"complete"}]}]`, ""},
		{"a second call goes", called(&messages.ToolCall{ID: "c"}, &messages.ToolCall{ID: "d"}), called(&messages.ToolCall{ID: "c"}), `[{"op":"remove","path":"/messages/0/toolCalls/1"}]`, ""},
		{"the last call goes", called(&messages.ToolCall{ID: "c"}), called(), `[{"op":"remove","path":"/messages/0/toolCalls"}]`, ""},
		{"a text of the state grows", shared(`{"a/b":{"doc":"x"}}`), shared(`{"a/b":{"doc":"xy"}}`),
			`[{"op":"append","path":"/state/a~1b/doc","value":"y"}]`, `[{"op":"replace","path":"/state/a~1b/doc","value":"xy"}]`},
		{"a text of the state grows where elements have moved", shared(`[0,{"s":"a","k":1},{"s":"zz","k":2}]`), shared(`[{"s":"a","k":1},{"s":"ab","k":2}]`),
			`[{"op":"remove","path":"/state/0"},{"op":"replace","path":"/state/1/s","value":"ab"}]`, ""},
		{"steps begin and end", ran(&reducer.Run{ID: "r", Status: reducer.Running, Steps: messages.NewList(reducer.Step{Name: "a"})}),
			ran(&reducer.Run{ID: "r", Status: reducer.Running, Steps: messages.NewList(reducer.Step{Name: "a", Finished: true}, reducer.Step{Name: "b", Owner: messages.SubagentOwner("s")})}),
			`[{"op":"replace","path":"/runs/0/steps/0","value":{"stepName":"a","finished":true}},{"op":"add","path":"/runs/0/steps/1","value":{"stepName":"b","subagentRunId":"s","finished":false}}]`, ""},
		{"a step is gone", ran(&reducer.Run{Steps: messages.NewList(reducer.Step{Name: "a"})}), ran(&reducer.Run{}), `[{"op":"remove","path":"/runs/0/steps/0"}]`, ""},
		{"a run fails", ran(&reducer.Run{ID: "r", Status: reducer.Running}), ran(&reducer.Run{ID: "r", Status: reducer.Failed, Err: &reducer.AgentError{Message: "no"}}),
			`[{"op":"replace","path":"/status","value":"failed"},{"op":"add","path":"/error","value":{"kind":"run","message":"no"}},` +
				`{"op":"replace","path":"/runs/0/status","value":"failed"},{"op":"add","path":"/runs/0/error","value":{"kind":"run","message":"no"}}]`, ""},
		{"interrupts pend", thread(), &reducer.Thread{ID: "t", Interrupts: []event.Interrupt{{ID: "i", Reason: "ask"}}},
			`[{"op":"add","path":"/interrupts/0","value":{"id":"i","reason":"ask"}}]`, ""},
		{"nothing", text("x"), text("x"), `[]`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			from, to := Snapshot{Thread: tc.from}, Snapshot{Thread: tc.to}
			assert.Equal(t, tc.want, string(AppendChanges(nil, from, to, Append)))
			if tc.wantSimply == "" {
				tc.wantSimply = tc.want
			}
			assert.Equal(t, tc.wantSimply, string(AppendChanges(nil, from, to, RFC6902)))
			for _, way := range [][2]Snapshot{{from, to}, {to, from}} {
				doc := decode(t, AppendView(nil, way[0]))
				for _, op := range decode(t, AppendChanges(nil, way[0], way[1], Append)).([]any) {
					doc = patched(t, doc, op.(map[string]any))
				}
				assert.Equal(t, canonical(t, AppendView(nil, way[1])), string(encode(t, doc)))
			}
		})
	}
	t.Run("phase and queue", func(t *testing.T) {
		from, to := Snapshot{}, Snapshot{Phase: "streaming", Queued: []*messages.Message{messages.UserText("next")}}
		assert.Equal(t, `[{"op":"add","path":"/phase","value":"streaming"},{"op":"add","path":"/queued/0","value":{"id":"","role":"user","content":"next"}}]`,
			string(AppendChanges(nil, from, to, Append)))
		assert.Equal(t, `[{"op":"remove","path":"/phase"},{"op":"remove","path":"/queued/0"}]`, string(AppendChanges(nil, to, from, Append)))
	})
}

func TestView(t *testing.T) {
	th := called(&messages.ToolCall{ID: "c", Name: "f", Arguments: `{"q":"a`, Status: messages.ToolCallStreaming})
	th.Runs = messages.NewList(&reducer.Run{ID: "r", Status: reducer.Running})
	th.Revision = 7
	assert.Equal(t, `{"threadId":"t","status":"running","interrupts":[],"pendingToolCallIds":[],"phase":"streaming","queued":[],`+
		`"messages":[{"id":"m","role":"assistant","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"q\":\"a"},"status":"streaming","args":{"q":"a"}}],"status":"complete"}],`+
		`"state":{},"runs":[{"runId":"r","status":"running","steps":[]}],"subagents":[]}`,
		string(AppendView(nil, Snapshot{Thread: th, Phase: "streaming"})))
	assert.Equal(t, `{"threadId":"","status":"empty","interrupts":[],"pendingToolCallIds":[],"queued":[],"messages":[],"state":{},"runs":[],"subagents":[]}`,
		string(AppendView(nil, Snapshot{})))
}

// streaming is a thread of n messages to whose last one text, or to whose last call arguments, are streamed.
func streaming(t testing.TB, n int) *reducer.Reducer {
	msgs := make([]*messages.Message, n)
	for i := range msgs {
		msgs[i] = &messages.Message{ID: fmt.Sprint("h", i), Role: messages.RoleUser, Content: messages.Text("Lorem ipsum dolor sit amet.")}
	}
	r := reducer.New(&reducer.Options{Thread: thread(msgs...)})
	for _, ev := range []event.Event{
		&event.RunStarted{ThreadID: "t", RunID: "r"},
		&event.TextMessageStart{MessageID: "m"},
		&event.TextMessageContent{MessageID: "m", Delta: "The"},
		&event.ToolCallStart{ToolCallID: "c", ToolCallName: "write", ParentMessageID: messages.Some("m")},
		&event.ToolCallArgs{ToolCallID: "c", Delta: `{"text":"The`},
	} {
		require.NoError(t, r.Apply(ev))
	}
	return r
}

// A token costs its own length: at most 200 bytes in all, whatever the thread holds.
func TestATokenIsShort(t *testing.T) {
	for _, n := range []int{20, 1_000, 100_000} {
		if testing.Short() && n > 1_000 {
			continue
		}
		r := streaming(t, n)
		ring := NewRing("AbCdEf", Options{})
		ring.Put(Snapshot{Thread: r.Thread()})
		for _, ev := range []event.Event{
			&event.TextMessageContent{MessageID: "m", Delta: " token"}, &event.ToolCallArgs{ToolCallID: "c", Delta: " token"},
		} {
			from := ring.Newest()
			require.NoError(t, r.Apply(ev))
			ring.Put(Snapshot{Thread: r.Thread()})
			got := ring.Event(from, Append).Text
			assert.LessOrEqual(t, len(got), 200, "%s", got)
			t.Logf("%d messages: %d bytes", n, len(got))
		}
	}
}

func TestRing(t *testing.T) {
	text := func(s string) Snapshot { return Snapshot{Thread: said(messages.Text(s))} }
	ring := NewRing("name", Options{Snapshots: 3, MaxBytes: 1000})
	assert.Nil(t, ring.Newest())
	assert.Nil(t, ring.Find("name.0.0"))
	first := ring.Put(text("a"))
	second := ring.Put(text("ab"))
	for _, token := range []string{"", "name", "name.", "name.0", "name.2.0", "name.-1.0", "name.0.1", "other.0.0", "NAME.0.0", "name.0.0 ", "name.18446744073709551616.0", "name.0.0\x00", string(make([]byte, 1<<20))} {
		assert.Nil(t, ring.Find(token), "%.20q is foreign or nonsense", token)
	}
	assert.Same(t, first, ring.Find("name.0.0"))
	assert.Same(t, second, ring.Find("name.1.0"))
	before := ring.Encoded
	e := ring.Event(first, Append)
	assert.Equal(t, "id: name.1.0\ndata: [{\"op\":\"append\",\"path\":\"/messages/0/content\",\"value\":\"b\"}]\n\n", string(e.Text))
	assert.Same(t, e, ring.Event(first, Append))
	assert.Equal(t, before, ring.Encoded, "it was encoded when the snapshot came")
	view := ring.Event(nil, Append)
	assert.Same(t, view, ring.Event(nil, RFC6902), "a view is the same in both modes")
	assert.Equal(t, before+1, ring.Encoded)
	assert.Contains(t, string(view.Text), "event: view\nid: name.1.0\ndata: {")

	ring.Put(text("abc"))
	ring.Put(text("abcd"))
	assert.Nil(t, ring.Find("name.0.0"), "of four snapshots three are kept")
	assert.Contains(t, string(ring.Event(first, Append).Text), `"value":"bcd"`, "who still has one that went gets changes")
	last := ring.Put(text(string(make([]byte, 2000))))
	assert.Nil(t, ring.Find("name.3.0"), "what would keep more alive than the bound goes")
	assert.Same(t, last, ring.Find("name.4.0"))
	ring.Put(text("x"))
	assert.NotNil(t, ring.Find("name.4.0"), "what is replaced counts once, for the snapshot that it came with")

	big := NewRing("big", Options{})
	var had, has []*messages.Message
	for i := range 2000 {
		had = append(had, &messages.Message{ID: fmt.Sprint("a", i), Role: messages.RoleUser, Content: messages.Text("x")})
	}
	has = append(has, &messages.Message{ID: "b", Role: messages.RoleUser, Content: messages.Text("x")})
	was := big.Put(Snapshot{Thread: thread(had...)})
	big.Put(Snapshot{Thread: thread(has...)})
	assert.Contains(t, string(big.Event(was, Append).Text), "event: view", "a view is shorter than 2,000 removals")
}

func TestReplicaOfForeignOperations(t *testing.T) {
	view := string(AppendView(nil, Snapshot{Thread: thread(messages.UserText("a"), messages.UserText("b"))}))
	for _, tc := range []struct{ name, changes, want string }{
		{"a message is put before one that has changed", `[{"op":"append","path":"/messages/0/content","value":"1"},{"op":"add","path":"/messages/0","value":{"id":"n","role":"user","content":"new"}}]`, "new a1 b"},
		{"a message is removed before one that has changed", `[{"op":"append","path":"/messages/1/content","value":"1"},{"op":"remove","path":"/messages/0"}]`, "b1"},
		{"one that has changed is removed", `[{"op":"append","path":"/messages/0/content","value":"1"},{"op":"remove","path":"/messages/0"}]`, "b"},
		{"added at the end", `[{"op":"add","path":"/messages/-","value":{"id":"n","role":"user","content":"new"}}]`, "a b new"},
		{"moved", `[{"op":"move","from":"/messages/0","path":"/messages/1"}]`, "b a"},
		{"copied", `[{"op":"copy","from":"/messages/0","path":"/messages/1"}]`, "a a b"},
		{"tested", `[{"op":"test","path":"/messages/0/content","value":"a"},{"op":"replace","path":"/messages/0/content","value":"c"}]`, "c b"},
		{"the list is replaced", `[{"op":"replace","path":"/messages","value":[]}]`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var r Replica
			require.NoError(t, r.Event("view", "n.0.0", []byte(view)))
			require.NoError(t, r.Event("", "n.1.5", []byte(tc.changes)))
			var got string
			for i, m := range r.Snapshot().Thread.Messages.All() {
				if i > 0 {
					got += " "
				}
				got += m.Text()
			}
			assert.Equal(t, tc.want, got)
			assert.EqualValues(t, 5, r.Snapshot().Thread.Revision)
			assert.Equal(t, "n.1.5", r.Token())
		})
	}
}

func TestReplicaRefusesWhatIsMalformed(t *testing.T) {
	view := string(AppendView(nil, Snapshot{Thread: called(&messages.ToolCall{ID: "c", Name: "f"})}))
	for _, tc := range []struct {
		name, event, token, data string
		want                     error
	}{
		{"changes come first", "", "n.1.0", `[]`, ErrNoView},
		{"no token", "view", "", view, ErrToken},
		{"not a number", "view", "n.1.-", view, ErrToken},
		{"not JSON", "view", "n.0.0", `{"threadId"`, new(state.SyntaxError)},
		{"a view that is not an object", "view", "n.0.0", `[]`, new(messages.MalformedError)},
		{"a view without a list", "view", "n.0.0", `{"threadId":"t"}`, new(messages.MalformedError)},
		{"too large", "view", "n.0.0", `{"threadId":"` + fmt.Sprintf("%4000d", 1) + `"}`, state.ErrLimit},
		{"changes that are not a list", "", "n.1.0", `{}`, state.ErrOp},
		{"an append without text", "", "n.1.0", `[{"op":"append","path":"/threadId","value":1}]`, state.ErrOp},
		{"an append to what is no text", "", "n.1.0", `[{"op":"append","path":"/state","value":"x"}]`, state.ErrType},
		{"an append to nothing", "", "n.1.0", `[{"op":"append","path":"/messages/7/content","value":"x"}]`, state.ErrPath},
		{"an operation that nobody knows", "", "n.1.0", `[{"op":"swap","path":"/state","value":"x"}]`, state.ErrOp},
		{"a place that does not exist", "", "n.1.0", `[{"op":"remove","path":"/messages/9"}]`, state.ErrPath},
		{"a list that is none", "", "n.1.0", `[{"op":"replace","path":"/messages","value":{}}]`, new(messages.MalformedError)},
		{"a message that is none", "", "n.1.0", `[{"op":"replace","path":"/messages/0","value":7}]`, new(messages.MalformedError)},
		{"a role that nobody knows", "", "n.1.0", `[{"op":"replace","path":"/messages/0/role","value":"narrator"}]`, new(messages.MalformedError)},
		{"a run that is none", "", "n.1.0", `[{"op":"add","path":"/runs/-","value":[]}]`, new(messages.MalformedError)},
		{"subagents that are none", "", "n.1.0", `[{"op":"replace","path":"/subagents","value":[1]}]`, new(messages.MalformedError)},
		{"interrupts that are none", "", "n.1.0", `[{"op":"replace","path":"/interrupts","value":[1]}]`, new(messages.MalformedError)},
		{"a queue that is none", "", "n.1.0", `[{"op":"replace","path":"/queued","value":[1]}]`, new(messages.MalformedError)},
		{"no state", "", "n.1.0", `[{"op":"remove","path":"/state"}]`, new(messages.MalformedError)},
		{"too much is copied", "", "n.1.0", `[{"op":"add","path":"/state/a","value":"` + fmt.Sprintf("%1500d", 1) + `"},{"op":"copy","from":"/state","path":"/state/b"}]`, state.ErrLimit},
		{"the view becomes a list", "", "n.1.0", `[{"op":"replace","path":"","value":[]}]`, new(messages.MalformedError)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := Replica{MaxBytes: 2000}
			if tc.event == "" && !errors.Is(tc.want, ErrNoView) {
				require.NoError(t, r.Event("view", "n.0.0", []byte(view)))
			}
			before, token := r.Snapshot(), r.Token()
			err := r.Event(tc.event, tc.token, []byte(tc.data))
			switch want := tc.want.(type) {
			case *state.SyntaxError, *messages.MalformedError:
				require.Error(t, err)
				assert.IsType(t, want, unwrapped(err), "%v", err)
			default:
				require.ErrorIs(t, err, want)
			}
			assert.Equal(t, before, r.Snapshot())
			assert.Equal(t, token, r.Token())
		})
	}
}

func unwrapped(err error) error {
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	return err
}

// Calls of a message that may have none are left out; nothing panics.
func TestReplicaOfCallsWhereNoneMayBe(t *testing.T) {
	var r Replica
	view := AppendView(nil, Snapshot{Thread: thread(messages.UserText("a"))})
	require.NoError(t, r.Event("view", "n.0.0", view))
	require.NoError(t, r.Event("", "n.1.0", []byte(`[{"op":"add","path":"/messages/0/toolCalls","value":[{"id":"c"}]}]`)))
	assert.Zero(t, r.Snapshot().Thread.Messages.At(0).ToolCalls.Len())
}

// FuzzReplica: no event panics, and a replica that took it can be encoded.
func FuzzReplica(f *testing.F) {
	view := AppendView(nil, Snapshot{Thread: called(&messages.ToolCall{ID: "c", Name: "f"})})
	f.Add("view", view)
	f.Add("", []byte(`[{"op":"append","path":"/messages/0/toolCalls/0/function/arguments","value":"b"},{"op":"add","path":"/messages/0","value":{"id":"n","role":"user","content":"new"}}]`))
	f.Add("", []byte(`[{"op":"move","from":"/messages/0","path":"/state/x"},{"op":"remove","path":"/messages/0"}]`))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		r := Replica{MaxBytes: 1 << 20}
		require.NoError(t, r.Event("view", "n.0.0", view))
		if r.Event(name, "n.1.0", data) == nil {
			AppendView(nil, r.Snapshot())
		}
	})
}
