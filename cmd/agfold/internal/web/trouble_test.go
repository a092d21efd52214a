package web

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/lint"
	"github.com/agfold/agfold/recording"
)

// listed is the trouble as the page gets it.
type listed struct {
	Problems []struct {
		N, Ordinal                   int
		Kind, Rule, Type, Path, Text string
	}
	More  int
	Rules map[string]struct{ Text, Advice string }

	Findings []struct {
		N, Ordinal                  int
		Level, Code, Type, ID, Text string
		More                        int
	}
	Checks map[string]struct{ Title, Why, Mend string }
}

func troubleOf(t *testing.T, l *log) listed {
	t.Helper()
	var got listed
	text := l.trouble.appendJSON(nil)
	require.NoError(t, json.Unmarshal(text, &got), "%s", text)
	for _, p := range got.Problems {
		if p.Rule != "" && p.Rule != "recording" {
			assert.NotEmpty(t, got.Rules[p.Rule].Text, p.Rule)
		}
		if p.N > 0 {
			assert.LessOrEqual(t, p.N, len(l.entries))
		}
	}
	for _, f := range got.Findings {
		assert.NotEmpty(t, got.Checks[f.Code].Why, f.Code)
		assert.LessOrEqual(t, f.N, len(l.entries))
		if f.Ordinal > 0 {
			assert.EqualValues(t, f.Ordinal, l.entries[f.N-1].ordinal, "the position is that of the event")
		}
	}
	return got
}

// lines writes the problems for people.
func (l listed) lines() (lines []string) {
	for _, p := range l.Problems {
		lines = append(lines, fmt.Sprintf("%d %s %s %s %s", p.N, p.Kind, p.Rule, p.Type, p.Path))
	}
	return lines
}

func TestTrouble(t *testing.T) {
	begin := `{"type":"RUN_STARTED","threadId":"t","runId":"r"}` + "\n"
	end := `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}` + "\n"
	head := `{"agfold":"recording/1","input":{"threadId":"t","runId":"r","messages":[],"tools":[],"context":[]}}` + "\n"
	timed := func(events string) string {
		var b strings.Builder
		for line := range strings.Lines(events) {
			fmt.Fprintf(&b, `{"at":1,"event":%s}`+"\n", strings.TrimSpace(line))
		}
		return b.String()
	}
	for _, row := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", begin + end, nil},
		{"P-ENF-1 an unknown type", begin + `{"type":"NEW"}` + "\n" + end, []string{"2 warning P-ENF-1 NEW "}},
		{"P-VER-2 a text without a start; a chunk before it makes two positions",
			begin + `{"type":"TEXT_MESSAGE_CHUNK","messageId":"a","delta":"x"}` + "\n" + `{"type":"TEXT_MESSAGE_CONTENT","messageId":"b","delta":"x"}` + "\n" + end,
			[]string{"4 rejected P-VER-2 TEXT_MESSAGE_CONTENT b"}},
		{"P-ENF-4 malformed", begin + `{"type":"STEP_STARTED","stepName":1}` + "\n", []string{"2 rejected P-ENF-4 STEP_STARTED /stepName"}},
		{"the agent's failure", begin + `{"type":"RUN_ERROR","message":"no","code":"E"}` + "\n", []string{"2 failed  RUN_ERROR "}},
		{"a subagent's failure", begin + `{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n"}` + "\n" + `{"type":"SUBAGENT_ERROR","subagentRunId":"s","message":"no"}` + "\n" + end,
			[]string{"3 failed  SUBAGENT_ERROR "}},
		{"cut off", begin, []string{"2 cut   "}},
		{"two runs, the first is rejected and the second cut off",
			head + timed(begin+`{"type":"STEP_FINISHED","stepName":"s"}`+"\n"+end) + head + timed(begin),
			[]string{"2 rejected P-VER-4 STEP_FINISHED s", "5 cut   "}},
		{"a file that breaks off", head + timed(begin+end) + `{"at":3,"ev`, []string{"2 damaged   "}},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.want, troubleOf(t, folded(t, row.text)).lines())
		})
	}
}

// The findings are those of package lint.
func TestFindingsAreThoseOfTheLinter(t *testing.T) {
	for _, name := range []string{"chat-tools.sse", "cut-off.sse", "chunks.ndjson", "rejected.ndjson", "interrupt-resume.json", "subagents.sse", "thinking.ndjson"} {
		text := recorded(t, name)
		rec, err := recording.Open(strings.NewReader(text), nil)
		require.NoError(t, err)
		found, _ := lint.Recording(rec, nil)
		var want, got []string
		for _, f := range found {
			want = append(want, fmt.Sprint(f.Ordinal, f.Code, f.Text, f.More))
		}
		for _, f := range troubleOf(t, folded(t, text)).Findings {
			got = append(got, fmt.Sprint(f.Ordinal, f.Code, f.Text, f.More))
		}
		assert.Equal(t, want, got, name)
	}
}

func TestTroubleIsBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"type":"RUN_STARTED","threadId":"t","runId":"r"}` + "\n")
	long := strings.Repeat("x", 10_000)
	for i := range mostProblems + 10 {
		fmt.Fprintf(&b, `{"type":"%d%s"}`+"\n", i, long)
	}
	l := folded(t, b.String())
	got := troubleOf(t, l)
	assert.Len(t, got.Problems, mostProblems)
	assert.Equal(t, 10+1, got.More, "and the end")
	assert.Less(t, len(l.trouble.appendJSON(nil)), mostProblems*10*mostRunes)
}

func TestPlaces(t *testing.T) {
	var p places
	for _, at := range [][2]int{{1, 1}, {2, 2}, {2, 3}, {3, 4}, {4, 5}, {4, 6}, {4, 7}, {5, 8}, {7, 9}} {
		p.note(at[0], at[1])
	}
	for ordinal, want := range map[int]int{0: 1, 1: 1, 2: 2, 3: 4, 4: 5, 5: 8, 7: 9, 8: 9, 100: 9} {
		assert.Equal(t, want, p.position(ordinal, 9), ordinal)
	}
	assert.Equal(t, 0, new(places).position(5, 0))
}
