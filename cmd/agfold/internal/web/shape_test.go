package web

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/recording"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// folded returns the log of a recording.
func folded(t *testing.T, text string) *log {
	t.Helper()
	l := newLog("0", "run", modeRecording, 0)
	l.open = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
	l.fold(t.Context())
	return l
}

// recorded returns one of the recordings of this repository.
func recorded(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "testdata", name))
	require.NoError(t, err)
	return string(data)
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

// drawn is the shape as the page gets it.
type drawn struct {
	From, Length int
	Clock        string
	Types, Kinds []string
	Lanes        []struct {
		ID, Name string
		Parent   int
		Rows     []int
	}
	At, Type, Lane []int64
	Spans          struct {
		I, Kind, Lane, Row, From, Mid, To []int
		ID, Label, Status                 []string
	}
	Pauses []struct {
		Lane, From, To int
		Long           int64
		Who, Label     string
	}
}

func decoded(t *testing.T, text []byte) drawn {
	t.Helper()
	var d drawn
	require.NoError(t, json.Unmarshal(text, &d), "%s", text)
	return d
}

// table writes a shape for people.
func (d drawn) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d rows, clock %q\n\nlanes\n", d.Length, d.Clock)
	for i, l := range d.Lanes {
		fmt.Fprintf(&b, "%2d under %2d %q %q rows %v\n", i, l.Parent, l.ID, l.Name, l.Rows)
	}
	b.WriteString("\nspans: lane row kind from (mid) to\n")
	for i := range d.Spans.I {
		mid := ""
		if m := d.Spans.Mid[i]; m > 0 {
			mid = fmt.Sprintf("(%d) ", m)
		}
		fmt.Fprintf(&b, "%2d %d %-9s %4d %s%d %s %q %q\n", d.Spans.Lane[i], d.Spans.Row[i], d.Kinds[d.Spans.Kind[i]], d.Spans.From[i], mid,
			d.Spans.To[i], d.Spans.Status[i], d.Spans.ID[i], d.Spans.Label[i])
	}
	b.WriteString("\npauses\n")
	for _, p := range d.Pauses {
		fmt.Fprintf(&b, "%2d %4d to %d: %d µs, %s %q\n", p.Lane, p.From, p.To, p.Long, p.Who, p.Label)
	}
	return b.String()
}

func TestShapeGolden(t *testing.T) {
	for _, name := range []string{"chat-tools.sse", "cut-off.sse", "frontend-tool.json", "interrupt-resume.json", "rejected.ndjson", "run-error.txt", "subagents.sse"} {
		t.Run(name, func(t *testing.T) {
			golden(t, name+".shape.txt", decoded(t, folded(t, recorded(t, name)).shape.appendJSON(nil, 0)).table())
		})
	}
	t.Run("a timed recording of two runs", func(t *testing.T) {
		golden(t, "timed.shape.txt", decoded(t, folded(t, timed).shape.appendJSON(nil, 0)).table())
	})
}

// timed is a recording in which everything is waited for.
const timed = `{"agfold":"recording/1","start":"2026-03-01T10:00:00Z","input":{"threadId":"t","runId":"r1","messages":[{"id":"u","role":"user","content":"Hi"}],"tools":[],"context":[]}}
{"at":0,"event":{"type":"RUN_STARTED","threadId":"t","runId":"r1"}}
{"at":900,"event":{"type":"TEXT_MESSAGE_START","messageId":"m1","role":"assistant"}}
{"at":910,"event":{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"Let me "}}
{"at":1500,"event":{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"look."}}
{"at":1510,"event":{"type":"TEXT_MESSAGE_END","messageId":"m1"}}
{"at":1520,"event":{"type":"TOOL_CALL_START","toolCallId":"c1","toolCallName":"search"}}
{"at":1530,"event":{"type":"TOOL_CALL_ARGS","toolCallId":"c1","delta":"{}"}}
{"at":1540,"event":{"type":"TOOL_CALL_END","toolCallId":"c1"}}
{"at":4000,"event":{"type":"TOOL_CALL_RESULT","messageId":"x1","toolCallId":"c1","content":"found"}}
{"at":4010,"event":{"type":"SUBAGENT_STARTED","subagentRunId":"s1","name":"critic"}}
{"at":4900,"event":{"type":"TEXT_MESSAGE_START","messageId":"m2","role":"assistant","subagentRunId":"s1"}}
{"at":5000,"event":{"type":"TEXT_MESSAGE_END","messageId":"m2","subagentRunId":"s1"}}
{"at":5010,"event":{"type":"SUBAGENT_FINISHED","subagentRunId":"s1"}}
{"at":6000,"event":{"type":"TEXT_MESSAGE_START","messageId":"m3","role":"assistant"}}
{"at":6100,"event":{"type":"TEXT_MESSAGE_END","messageId":"m3"}}
{"at":6700,"event":{"type":"RUN_FINISHED","threadId":"t","runId":"r1","outcome":{"type":"interrupt","interrupts":[{"id":"i1","reason":"confirm"}]}}}
{"agfold":"recording/1","start":"2026-03-01T10:01:00Z","input":{"threadId":"t","runId":"r2","messages":[{"id":"u","role":"user","content":"Hi"}],"tools":[],"context":[],"resume":[{"interruptId":"i1","status":"resolved","payload":true}]}}
{"at":10,"event":{"type":"RUN_STARTED","threadId":"t","runId":"r2"}}
{"at":20,"event":{"type":"RUN_FINISHED","threadId":"t","runId":"r2"}}
`

// merged adds what is new of a shape to an older part of it, as the page does.
func merged(older, newer drawn) drawn {
	rows := newer.From - 1
	newer.At = append(slices.Clip(older.At[:rows]), newer.At...)
	newer.Type = append(slices.Clip(older.Type[:rows]), newer.Type...)
	newer.Lane = append(slices.Clip(older.Lane[:rows]), newer.Lane...)
	spans := older.Spans
	for k, i := range newer.Spans.I {
		for len(spans.I) <= i {
			spans.I, spans.Kind, spans.Lane, spans.Row = append(spans.I, len(spans.I)), append(spans.Kind, 0), append(spans.Lane, 0), append(spans.Row, 0)
			spans.From, spans.Mid, spans.To = append(spans.From, 0), append(spans.Mid, 0), append(spans.To, 0)
			spans.ID, spans.Label, spans.Status = append(spans.ID, ""), append(spans.Label, ""), append(spans.Status, "")
		}
		spans.Kind[i], spans.Lane[i], spans.Row[i] = newer.Spans.Kind[k], newer.Spans.Lane[k], newer.Spans.Row[k]
		spans.From[i], spans.Mid[i], spans.To[i] = newer.Spans.From[k], newer.Spans.Mid[k], newer.Spans.To[k]
		spans.ID[i], spans.Label[i], spans.Status[i] = newer.Spans.ID[k], newer.Spans.Label[k], newer.Spans.Status[k]
	}
	newer.Spans = spans
	pauses := slices.Clone(older.Pauses)
	for _, p := range newer.Pauses {
		if p.To >= newer.From {
			pauses = append(pauses, p)
		}
	}
	newer.Pauses, newer.From = pauses, 1
	return newer
}

// A page that asks for what is new, however often, has what one that asks once gets.
func TestShapeGrows(t *testing.T) {
	for _, text := range []string{timed, recorded(t, "subagents.sse"), recorded(t, "interrupt-resume.json"), recorded(t, "cut-off.sse")} {
		for _, every := range []int{1, 7} {
			s, got := newShape(), drawn{Length: 0}
			stepsOf(t, text, func(st step) {
				s.step(st)
				if st.n%every == 0 {
					got = merged(got, decoded(t, s.appendJSON(nil, got.Length+1)))
				}
			})
			got = merged(got, decoded(t, s.appendJSON(nil, got.Length+1)))
			want := decoded(t, s.appendJSON(nil, 0))
			assert.Equal(t, want.table(), got.table())
			assert.Equal(t, want.At, got.At)
			assert.Equal(t, want.Type, got.Type)
			assert.Equal(t, want.Lane, got.Lane)
		}
	}
}

// stepsOf makes the steps of a recording.
func stepsOf(t *testing.T, text string, each func(step)) {
	t.Helper()
	rec, err := recording.Open(strings.NewReader(text), nil)
	require.NoError(t, err)
	var last recording.Entry
	var head *recording.Head
	f := recording.NewFolder(rec, &recording.FoldOptions{OnEntry: func(e recording.Entry) {
		if head = cmp.Or(e.Head, head); e.Head == nil && e.Err == nil {
			last = e
		}
	}})
	n, before := 0, f.Thread()
	for d, err := range f.Deliveries() {
		if err != nil {
			break
		}
		n++
		each(step{n: n, delivery: d, raw: last.Event, at: last.At, line: last.Line, head: head, thread: f.Thread(), before: before})
		head, before = nil, f.Thread()
	}
	if th := f.End(nil); th != before {
		each(step{n: n + 1, at: -1, thread: th, before: before, end: f.Err()})
	}
}

func TestTimestampsStandInForTimes(t *testing.T) {
	d := decoded(t, folded(t, `{"type":"RUN_STARTED","threadId":"t","runId":"r","timestamp":1700000000000}
{"type":"CUSTOM","name":"a","value":1}
{"type":"CUSTOM","name":"b","value":1,"timestamp":1700000001500}
{"type":"CUSTOM","name":"earlier","value":1,"timestamp":1600000000000}
{"type":"RUN_FINISHED","threadId":"t","runId":"r","timestamp":9007199254740991}
`).shape.appendJSON(nil, 0))
	assert.Equal(t, "timestamps", d.Clock)
	assert.Equal(t, []int64{0, 0, 1_500_000, 0}, d.At[:4])
	assert.GreaterOrEqual(t, d.At[4], int64(0))
}

// What a producer can make many or long of is bounded.
func TestShapeIsBounded(t *testing.T) {
	var b strings.Builder
	long := strings.Repeat("é", 1000)
	fmt.Fprintf(&b, `{"type":"RUN_STARTED","threadId":"t","runId":"%s"}`+"\n", long)
	for i := range 600 {
		fmt.Fprintf(&b, `{"type":"SUBAGENT_STARTED","subagentRunId":"%d%s","name":"%s"}`+"\n", i, long, long)
		fmt.Fprintf(&b, `{"type":"TEXT_MESSAGE_START","messageId":"m%d","role":"assistant"}`+"\n", i)
		fmt.Fprintf(&b, `{"type":"UNKNOWN_%d"}`+"\n", i)
	}
	d := decoded(t, folded(t, b.String()).shape.appendJSON(nil, 0))
	assert.Equal(t, 1+3*600+1, d.Length, "and the end")
	assert.Len(t, d.Lanes, mostLanes)
	assert.LessOrEqual(t, len(d.Types), mostTypes+1)
	assert.Equal(t, mostRows, d.Lanes[0].Rows[groupMessage])
	for _, l := range d.Lanes {
		assert.LessOrEqual(t, len([]rune(l.ID)), mostRunes+1)
		assert.LessOrEqual(t, len([]rune(l.Name)), mostRunes+1)
	}
	assert.Len(t, d.Spans.I, 1+2*600)

	var p pauses
	for i := range 3 * mostPauses {
		p.add(pause{to: i, long: int64(i)})
	}
	assert.Less(t, len(p.list), 2*mostPauses)
	assert.True(t, slices.IsSortedFunc(p.list, func(a, b pause) int { return cmp.Compare(a.to, b.to) }))
	assert.Equal(t, 3*mostPauses-1, p.list[len(p.list)-1].to, "the longest stay")
}

// A tree in which an invocation would be its own ancestor stays a tree.
func TestLanesAreATree(t *testing.T) {
	s := newShape()
	stepsOf(t, `{"type":"RUN_STARTED","threadId":"t","runId":"r"}
{"type":"SUBAGENT_STARTED","subagentRunId":"a","name":"a"}
{"type":"SUBAGENT_STARTED","subagentRunId":"b","name":"b","parentSubagentRunId":"a"}
{"type":"SUBAGENT_FINISHED","subagentRunId":"b"}
{"type":"SUBAGENT_FINISHED","subagentRunId":"a"}
{"type":"RUN_FINISHED","threadId":"t","runId":"r"}
{"type":"RUN_STARTED","threadId":"t","runId":"r2"}
{"type":"SUBAGENT_STARTED","subagentRunId":"b","name":"b"}
{"type":"SUBAGENT_STARTED","subagentRunId":"a","name":"a","parentSubagentRunId":"b"}
{"type":"SUBAGENT_FINISHED","subagentRunId":"a"}
{"type":"SUBAGENT_FINISHED","subagentRunId":"b"}
{"type":"RUN_FINISHED","threadId":"t","runId":"r2"}
`, s.step)
	a, b := s.laneOf[messages.SubagentOwner("a")], s.laneOf[messages.SubagentOwner("b")]
	assert.Equal(t, b, s.lanes[a].parent)
	assert.Equal(t, 0, s.lanes[b].parent)
}
