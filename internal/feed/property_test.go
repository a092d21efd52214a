package feed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/stretchr/testify/require"
)

// story makes a random history of one thread: runs that end well or not, snapshots of the messages, edits by the
// client, and returns to an older thread.
type story struct {
	*rand.Rand
	fold *reducer.Reducer
	old  []*reducer.Thread
	now  Snapshot
}

func newStory(seed uint64) *story {
	s := &story{Rand: rand.New(rand.NewPCG(seed, 1))}
	s.continueFrom(&reducer.Thread{ID: "t"})
	return s
}

func (s *story) continueFrom(t *reducer.Thread) {
	s.fold = reducer.New(&reducer.Options{Thread: t, OnWarning: func(event.Warning) {}})
	s.now.Thread = t
	s.old = append(s.old, t)
}

func (s *story) of(words ...string) string { return words[s.IntN(len(words))] }

func (s *story) id(kind string) string { return kind + s.of("1", "2", "3", "4") }

func (s *story) text() string {
	return s.of("a", " word", "é", `\n`, `\"`, `\ud83d`, `\ude00`, "", "longer than what a buffer holds at the beginning")
}

// frames returns the next events as JSON lines.
func (s *story) frames() []string {
	f := fmt.Sprintf
	m, c, r, a := s.id("m"), s.id("c"), s.id("r"), s.id("a")
	tag := s.of("", "", "", `,"subagentRunId":"s1"`)
	meta := s.of("", "", "", `,"metadata":{"k":"`+s.text()+`"}`)
	switch s.IntN(18) {
	case 0, 1, 2:
		return []string{f(`{"type":"TEXT_MESSAGE_CONTENT","messageId":%q,"delta":"%s"%s}`, m, s.text(), meta)}
	case 3:
		return []string{f(`{"type":"TEXT_MESSAGE_START","messageId":%q%s%s%s}`, m, s.of("", "", `,"role":"user"`), meta, tag)}
	case 4:
		return []string{f(`{"type":"TEXT_MESSAGE_END","messageId":%q}`, m)}
	case 5:
		return []string{f(`{"type":"TOOL_CALL_START","toolCallId":%q,"toolCallName":"f","parentMessageId":%q%s%s}`, c, m, meta, tag)}
	case 6, 7:
		return []string{f(`{"type":"TOOL_CALL_ARGS","toolCallId":%q,"delta":"%s"}`, c, s.of(`{\"a\":\"`, `x`, `y\\n`, `\",\"b\":[1,`, `2]`, `}`, s.text()))}
	case 8:
		return []string{f(`{"type":"TOOL_CALL_END","toolCallId":%q}`, c)}
	case 9:
		return []string{f(`{"type":"TOOL_CALL_RESULT","messageId":%q,"toolCallId":%q,"content":"%s"%s}`, s.id("t"), c, s.text(), meta)}
	case 10:
		return []string{f(`{"type":"STATE_DELTA","delta":[{"op":"add","path":"/%s","value":%s}]}`, s.of("a", "b", "c~1d", "l/-"), s.of("1", "1.0", `"x"`, `"xy"`, `[]`, `{"k":[1,2,{"z":"`+s.text()+`"}]}`, "null"))}
	case 11:
		return []string{f(`{"type":"STATE_SNAPSHOT","snapshot":%s}`, s.of(`{"l":[]}`, `{"l":[1,2,3],"doc":"x"}`, `{"doc":"x`+s.text()+`","l":[3,1]}`, `[1]`, `null`, `"`+s.text()+`"`))}
	case 12:
		return []string{
			f(`{"type":"ACTIVITY_SNAPSHOT","messageId":%q,"activityType":%q,"content":{"items":[1,2]}%s}`, a, s.of("plan", "map"), tag),
			f(`{"type":"ACTIVITY_DELTA","messageId":%q,"activityType":"plan","patch":[{"op":"add","path":"/items/0","value":"%s"}]}`, a, s.text()),
		}
	case 13:
		return []string{f(`{"type":"MESSAGES_SNAPSHOT","messages":[%s]}`, s.documents())}
	case 14:
		return []string{
			f(`{"type":"REASONING_MESSAGE_START","messageId":%q,"role":"reasoning"}`, r),
			f(`{"type":"REASONING_MESSAGE_CONTENT","messageId":%q,"delta":"%s"}`, r, s.text()),
			f(`{"type":"REASONING_ENCRYPTED_VALUE","subtype":%q,"entityId":%q,"encryptedValue":%q}`, s.of("message", "tool-call"), s.of(m, c, r), s.of("v", "w")),
			f(`{"type":"REASONING_MESSAGE_END","messageId":%q}`, r),
		}[:1+s.IntN(4)]
	case 15:
		return []string{f(`{"type":"STEP_%s","stepName":%q%s}`, s.of("STARTED", "FINISHED"), s.of("s", "p"), tag)}
	case 16:
		return []string{s.of(`{"type":"SUBAGENT_STARTED","subagentRunId":"s1","name":"n"}`, `{"type":"SUBAGENT_STARTED","subagentRunId":"s2","name":"n","parentSubagentRunId":"s1"}`,
			`{"type":"SUBAGENT_FINISHED","subagentRunId":"s2","result":{"x":1}}`, `{"type":"SUBAGENT_ERROR","subagentRunId":"s1","message":"no"}`,
			`{"type":"SUBAGENT_FINISHED","subagentRunId":"s1","outcome":{"type":"suspended","interruptIds":["i1"]}}`)}
	}
	return []string{s.of(`{"type":"RUN_ERROR","message":"it broke","code":"E"}`,
		`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i1","reason":"ask","message":"Really?"}]}}`,
		`{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":{"ok":true}}`, `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"cancelled"}}`)}
}

func (s *story) documents() string {
	var docs []string
	for _, i := range s.Perm(4)[:s.IntN(4)] {
		docs = append(docs, []string{
			`{"id":"m1","role":"assistant","content":"held","toolCalls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}`,
			`{"id":"m2","role":"user","content":[{"type":"text","text":"p"},{"type":"image","source":{"type":"url","value":"u"}},{"type":"text","text":"q"}]}`,
			`{"id":"m3","role":"assistant","toolCalls":[{"id":"c2","type":"function","function":{"name":"g","arguments":""}},{"id":"c3","type":"function","function":{"name":"g","arguments":"[1"}}]}`,
			`{"id":"r1","role":"reasoning","content":"because"}`,
		}[i])
	}
	return strings.Join(docs, ",")
}

// next moves on and returns the snapshot.
func (s *story) next() Snapshot {
	switch s.IntN(40) {
	case 0:
		s.continueFrom(s.now.Thread.ReplaceMessages(messages.UserText("edited")))
	case 1:
		edited := *s.now.Thread
		if n := edited.Messages.Len(); n > 0 {
			edited.Messages = edited.Messages.Remove(s.IntN(n))
		}
		edited.Revision++
		s.continueFrom(&edited)
	case 2:
		s.continueFrom(s.old[s.IntN(len(s.old))])
	case 3:
		s.now.Phase = s.of("", "idle", "streaming")
	case 4:
		s.now.Queued = nil
		for range s.IntN(3) {
			s.now.Queued = append(s.now.Queued, messages.UserText(s.text()))
		}
	case 5:
		named := *s.now.Thread
		named.ID = s.of("t", "u")
		s.continueFrom(&named)
	default:
		if s.fold.Thread().Status() != reducer.Running {
			s.apply(`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`)
		}
		for _, line := range s.frames() {
			s.apply(line)
		}
		s.now.Thread = s.fold.Thread()
	}
	s.old = append(s.old, s.now.Thread)
	return s.now
}

func (s *story) apply(line string) {
	frame, err := event.NewFrame([]byte(line))
	if err != nil {
		panic(line + ": " + err.Error())
	}
	if err := s.fold.Apply(frame); err != nil { // most are told without regard to what is open
		if s.IntN(4) > 0 {
			s.continueFrom(s.now.Thread) // as if it had not been told
			return
		}
		s.continueFrom(s.fold.Thread())
	}
}

// tab is a reader that knows nothing of this package: operations of RFC 6902 are applied by a library, those with append
// by hand.
type tab struct {
	mode  Mode
	token string
	doc   []byte
	own   Replica
}

// read reads an event of which n bytes have come.
func (t *tab) read(tb testing.TB, text []byte, n int) {
	tb.Helper()
	if n < len(text) {
		return // a reader of server-sent events does not dispatch what is cut
	}
	var name, id, data string
	for line := range strings.Lines(string(text)) {
		switch key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); key {
		case "event":
			name = value
		case "id":
			id = value
		case "data":
			data = value
		}
	}
	require.NoError(tb, t.own.Event(name, id, []byte(data)), "%s", data)
	t.token = id
	switch {
	case name == "view":
		t.doc = []byte(data)
	case t.mode == RFC6902:
		patch, err := jsonpatch.DecodePatch([]byte(data))
		require.NoError(tb, err)
		t.doc, err = patch.Apply(t.doc)
		require.NoError(tb, err, "%s", data)
	default:
		doc := decode(tb, t.doc)
		for _, op := range decode(tb, []byte(data)).([]any) {
			doc = patched(tb, doc, op.(map[string]any))
		}
		t.doc = encode(tb, doc)
	}
}

// patched applies one operation as docs/feed.md says.
func patched(tb testing.TB, doc any, op map[string]any) any {
	path := op["path"].(string)
	if path == "" {
		require.Equal(tb, "replace", op["op"])
		return op["value"]
	}
	head, rest, deep := strings.Cut(path[1:], "/")
	key := strings.NewReplacer("~1", "/", "~0", "~").Replace(head)
	inner := map[string]any{"op": op["op"], "path": "/" + rest, "value": op["value"]}
	switch at := doc.(type) {
	case map[string]any:
		switch {
		case deep:
			at[key] = patched(tb, at[key], inner)
		case op["op"] == "append":
			at[key] = at[key].(string) + op["value"].(string)
		case op["op"] == "remove":
			require.Contains(tb, at, key)
			delete(at, key)
		default:
			if op["op"] == "replace" {
				require.Contains(tb, at, key)
			}
			at[key] = op["value"]
		}
		return at
	case []any:
		i, err := strconv.Atoi(key)
		require.NoError(tb, err)
		switch {
		case deep:
			at[i] = patched(tb, at[i], inner)
		case op["op"] == "append":
			at[i] = at[i].(string) + op["value"].(string)
		case op["op"] == "remove":
			return slices.Delete(at, i, i+1)
		case op["op"] == "add":
			return slices.Insert(at, i, op["value"])
		default:
			at[i] = op["value"]
		}
		return at
	}
	require.Failf(tb, "no place", "%v in %v", op, doc)
	return nil
}

func decode(tb testing.TB, text []byte) (v any) {
	tb.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	require.NoError(tb, d.Decode(&v), "%s", text)
	return v
}

func encode(tb testing.TB, v any) []byte {
	tb.Helper()
	text, err := json.Marshal(v)
	require.NoError(tb, err)
	return text
}

// canonical returns the JSON with its members in the order of their names.
func canonical(tb testing.TB, text []byte) string {
	tb.Helper()
	return string(encode(tb, decode(tb, text)))
}

// However a reader is cut, wherever it resumes and whatever happens to the thread: after each event it has, byte for byte,
// the view that a fresh reader gets, and a replica has the thread.
func TestChangesLeadToTheView(t *testing.T) {
	seeds, steps := 60, 60
	if testing.Short() {
		seeds = 6
	}
	for seed := range uint64(seeds) {
		s := newStory(seed)
		ring := NewRing("ring", Options{Snapshots: 1 + s.IntN(20)})
		tabs := []*tab{{mode: Append}, {mode: RFC6902}, {mode: Append}, {mode: RFC6902}}
		held := make([]*Entry, len(tabs)) // what the server knows that the tab has
		for step := range steps {
			now := s.next()
			newest := ring.Put(now)
			require.Same(t, newest, ring.Put(now))
			for i, tab := range tabs {
				if step > 0 && s.IntN(3) == 0 {
					continue // it is slow
				}
				if s.IntN(5) == 0 {
					held[i] = ring.Find(tab.token) // it has reconnected
				}
				if held[i] == newest {
					continue
				}
				e := ring.Event(held[i], tab.mode)
				n := len(e.Text)
				if s.IntN(8) == 0 {
					n = s.IntN(n) // it is cut
				}
				if tab.read(t, e.Text, n); n < len(e.Text) {
					held[i] = ring.Find(tab.token)
					continue
				}
				held[i] = e.To
				want := canonical(t, AppendView(nil, now))
				require.Equal(t, want, canonical(t, tab.doc), "seed %d, step %d, tab %d: %s", seed, step, i, e.Text)
				got := tab.own.Snapshot()
				require.Equal(t, canonical(t, now.Thread.AppendJSON(nil)), canonical(t, got.Thread.AppendJSON(nil)), "seed %d, step %d", seed, step)
				require.Equal(t, want, canonical(t, AppendView(nil, got)), "seed %d, step %d", seed, step)
			}
		}
	}
}
