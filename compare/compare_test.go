package compare

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/reducer"
)

func thread(t *testing.T, text string) *reducer.Thread {
	t.Helper()
	th, _ := recording.Fold(strings.NewReader(text), nil)
	return th
}

func open(t *testing.T, text string) *recording.Recording {
	t.Helper()
	rec, err := recording.Open(strings.NewReader(text), nil)
	require.NoError(t, err)
	return rec
}

// agent returns a run of an agent that makes ids up with a prefix.
func agent(prefix, answer, city string, n int) string {
	return strings.ReplaceAll(`{"type":"RUN_STARTED","threadId":"ID-t","runId":"ID-r"}
{"type":"TEXT_MESSAGE_CHUNK","messageId":"ID-m1","delta":"Looking"}
{"type":"TOOL_CALL_CHUNK","toolCallId":"ID-c","toolCallName":"weather","parentMessageId":"ID-m1","delta":"{\"city\":\"`+city+`\"}"}
{"type":"TOOL_CALL_RESULT","messageId":"ID-x","toolCallId":"ID-c","content":"rain"}
{"type":"STATE_SNAPSHOT","snapshot":{"call":"ID-c","id":"kept","n":`+fmt.Sprint(n)+`}}
{"type":"TEXT_MESSAGE_CHUNK","messageId":"ID-m2","delta":"`+answer+`"}
{"type":"RUN_FINISHED","threadId":"ID-t","runId":"ID-r","usage":[{"totalTokens":`+fmt.Sprint(n)+`}]}
`, "ID", prefix)
}

// listed returns the differences as text.
func listed(r *Report) []string {
	var lines []string
	for _, d := range r.Differences {
		lines = append(lines, fmt.Sprintf("%s · %s · %s · %v · %v", d.Section, d.Where, d.Path, d.A, d.B))
	}
	return lines
}

func TestThreads(t *testing.T) {
	a := agent("a", "It rains.", "Oslo", 1)
	for _, row := range []struct {
		name, b string
		o       *Options
		want    []string
	}{
		{"made-up ids are matched, also in the state", agent("b", "It rains.", "Oslo", 1), nil, nil},
		{"a text", agent("b", "It pours.", "Oslo", 1), nil, []string{`messages · message 3 (assistant) · /messages/2/content · "It rains." · "It pours."`}},
		{"arguments", agent("b", "It rains.", "Rome", 1), nil, []string{
			`calls · message 1 (assistant) · /messages/0/toolCalls/0/function/arguments · "{\"city\":\"Oslo\"}" · "{\"city\":\"Rome\"}"`}},
		{"state and usage", agent("b", "It rains.", "Oslo", 2), nil, []string{
			`usage · run 1 · /runs/0/usage/0/totalTokens · 1 · 2`, `state · state · /state/n · 1 · 2`}},
		{"an id of the state's own is not one that was made up", strings.Replace(agent("b", "It rains.", "Oslo", 1), "kept", "other", 1), nil,
			[]string{`state · state · /state/id · "kept" · "other"`}},
		{"what is ignored", agent("b", "It pours.", "Oslo", 2), &Options{Ignore: []string{"usage", "messages", "state"}}, nil},
		{"the rest is counted", agent("b", "It pours.", "Oslo", 2), &Options{Max: 1}, []string{`usage · run 1 · /runs/0/usage/0/totalTokens · 1 · 2`}},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := Threads(thread(t, a), thread(t, row.b), row.o)
			assert.Equal(t, row.want, listed(r))
			assert.Equal(t, row.want == nil, r.Same())
		})
	}
	assert.False(t, Threads(thread(t, a), thread(t, agent("b", "It rains.", "Oslo", 1)), &Options{ExactIDs: true}).Same())
	assert.Equal(t, 2, Threads(thread(t, a), thread(t, agent("b", "It pours.", "Oslo", 2)), &Options{Max: 1}).More)
	assert.True(t, Threads(nil, nil, nil).Same())
}

func TestAMessageMoreDoesNotShiftTheOthers(t *testing.T) {
	a := agent("a", "It rains.", "Oslo", 1)
	b := strings.Replace(agent("b", "It rains.", "Oslo", 1), `{"type":"STATE_SNAPSHOT"`,
		`{"type":"TEXT_MESSAGE_CHUNK","messageId":"more","delta":"Hm."}`+"\n"+`{"type":"STATE_SNAPSHOT"`, 1)
	r := Threads(thread(t, a), thread(t, b), nil)
	assert.Equal(t, []string{`messages · message 3 (assistant) · /messages/2 ·  · {"id":"more","role":"assistant","content":"Hm."}`}, listed(r))
	back := Threads(thread(t, b), thread(t, a), nil)
	require.Len(t, back.Differences, 1)
	assert.False(t, back.Differences[0].B.Exists())
}

func TestStreams(t *testing.T) {
	a := agent("a", "It rains.", "Oslo", 1)
	same, err := Streams(open(t, a), open(t, strings.Replace(agent("b", "It rains.", "Oslo", 1), `"delta":"It rains."`,
		`"delta":"It"}`+"\n"+`{"type":"TEXT_MESSAGE_CHUNK","delta":" rains."`, 1)), nil)
	require.NoError(t, err)
	assert.Nil(t, same, "it does not matter how a text was split")

	d, err := Streams(open(t, a), open(t, agent("b", "It pours.", "Oslo", 1)), nil)
	require.NoError(t, err)
	require.NotNil(t, d)
	assert.Equal(t, "/delta", d.Path)
	assert.Equal(t, 11, d.Event)
	assert.Equal(t, 6, d.LineA)
	assert.Equal(t, 1, d.Run)

	d, err = Streams(open(t, a), open(t, a[:strings.Index(a, `{"type":"RUN_FINISHED"`)]), nil)
	require.NoError(t, err)
	require.NotNil(t, d)
	assert.False(t, d.B.Exists())
	assert.Zero(t, d.LineB)

	_, err = Streams(open(t, a), open(t, a[:len(a)-9]), nil)
	assert.ErrorIs(t, err, reducer.ErrTruncated)
}

func TestManyMessagesArePairedByPlace(t *testing.T) {
	many := func(skip int) string {
		var b strings.Builder
		b.WriteString(`{"type":"RUN_STARTED","threadId":"t","runId":"r"}` + "\n")
		for i := range 2100 {
			fmt.Fprintf(&b, `{"type":"TEXT_MESSAGE_CHUNK","messageId":"m%d","delta":"%d"}`+"\n", i, i*skip)
		}
		return b.String()
	}
	r := Threads(thread(t, many(1)), thread(t, many(2)), &Options{Max: 10})
	assert.Len(t, r.Differences, 10)
	assert.Equal(t, 2099-10, r.More)
}

func TestThreadsAlignMessages(t *testing.T) {
	a, b := agent("a", "It rains.", "Oslo", 1), agent("b", "It rains.", "Oslo", 1)
	assert.Equal(t, []Pair{{0, 0}, {1, 1}, {2, 2}}, Threads(thread(t, a), thread(t, b), nil).Messages)
	assert.Equal(t, []Pair{{-1, 0}, {-1, 1}, {-1, 2}}, Threads(nil, thread(t, b), nil).Messages)
}
