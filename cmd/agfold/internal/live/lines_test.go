package live

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/cmd/agfold/internal/demo"
	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

var update = flag.Bool("update", false, "write the golden files anew")

// story returns the thread of the demo agent's first run after each of its events.
func story(t *testing.T) []*reducer.Thread {
	user := messages.UserText(demo.DefaultMessage)
	user.ID = "u-1"
	in := &event.RunInput{ThreadID: "t-1", RunID: "r-1", Messages: []*messages.Message{user}}
	r := reducer.New(&reducer.Options{Input: in})
	threads := []*reducer.Thread{r.Thread()}
	for ev, err := range demo.Agent(0).Run(t.Context(), *in) {
		require.NoError(t, err)
		require.NoError(t, r.Apply(ev))
		threads = append(threads, r.Thread())
	}
	return threads
}

// find returns the first thread that fits.
func find(t *testing.T, threads []*reducer.Thread, fits func(*reducer.Thread) bool) *reducer.Thread {
	for _, th := range threads {
		if fits(th) {
			return th
		}
	}
	require.Fail(t, "there is no such moment in the story")
	return nil
}

func says(id, text string) func(*reducer.Thread) bool {
	return func(th *reducer.Thread) bool {
		m, _ := th.Message(id)
		return m != nil && strings.HasSuffix(m.Text(), text)
	}
}

func TestLinesGolden(t *testing.T) {
	threads := story(t)
	for _, c := range []struct {
		name          string
		th            *reducer.Thread
		width, height int
		color         bool
		note          string
	}{
		{"waiting", threads[0], 80, 24, false, ""},
		{"reasoning", find(t, threads, says("r-1-thoughts", "hilly, ")), 80, 24, true, ""},
		{"arguments", find(t, threads, func(th *reducer.Thread) bool {
			call, _ := th.ToolCall("r-1-prices")
			return call != nil && len(call.Arguments) > 40
		}), 80, 24, false, ""},
		{"subagents-80x24", find(t, threads, says("r-1-sights-answer", "tram ")), 80, 24, false, ""},
		{"subagents-120x40", find(t, threads, says("r-1-sights-answer", "tram ")), 120, 40, false, ""},
		{"small", find(t, threads, says("r-1-sights-answer", "tram ")), 30, 8, false, ""},
		{"interrupted", threads[len(threads)-1], 80, 24, false, "warning: P-ENF-2 something"},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines := Lines(c.th, Look{
				Width: c.width, Height: c.height, Color: term.Colors(c.color), Title: term.Lit("demo agent"),
				Elapsed: 12345 * time.Millisecond, Note: term.Line(c.note),
			})
			got := joined(lines) + "\n"
			file := filepath.Join("testdata", c.name+".txt")
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Equal(t, string(want), got)
		})
	}
}

func TestLinesFitTheTerminal(t *testing.T) {
	threads := story(t)
	for i := 0; i < len(threads); i += 7 {
		for _, size := range [][2]int{{0, 0}, {24, 4}, {25, 11}, {40, 12}, {80, 24}, {99, 13}, {100, 5}, {100, 24}, {200, 60}} {
			look := Look{Width: size[0], Height: size[1], Color: i%2 == 0, Title: term.Lit("https://host.example/agent"), Note: term.Lit("n")}
			lines := Lines(threads[i], look)
			require.Less(t, len(lines), max(size[1], minHeight))
			for _, line := range lines {
				require.LessOrEqual(t, line.Columns(), max(size[0], minWidth), "%q at %v", line, size)
			}
		}
	}
}

func TestLines(t *testing.T) {
	threads := story(t)
	draw := func(th *reducer.Thread, elapsed time.Duration) string {
		return joined(Lines(th, Look{Width: 80, Height: 24, Elapsed: elapsed}))
	}
	t.Run("between two runs the phase is what is seen, not the status of the run before", func(t *testing.T) {
		ended := threads[len(threads)-1]
		for phase, want := range map[client.Phase]string{
			client.PhaseSending: "⠋ sending", client.PhaseCallingTools: "⠋ calling tools",
			client.PhaseStreaming: "interrupted", client.PhaseWaiting: "interrupted",
		} {
			line := Lines(ended, Look{Width: 80, Height: 24, Phase: phase})[0].String()
			assert.Contains(t, strings.ReplaceAll(line, " · ", ""), want, phase)
		}
	})
	t.Run("the end of a long conversation is what is seen", func(t *testing.T) {
		var msgs []*messages.Message
		for range 1000 {
			msgs = append(msgs, messages.UserText("hello"))
		}
		last := messages.UserText("the last words")
		th := &reducer.Thread{Messages: messages.NewList(append(msgs, last)...)}
		lines := Lines(th, Look{Width: 80, Height: 24})
		assert.Len(t, lines, 23)
		assert.Contains(t, lines[22].String(), "the last words")
	})
	t.Run("the newest of a text without spaces is in view", func(t *testing.T) {
		for _, word := range []string{"漢字", "สวัสดี", "https://example.com/a/b?c=", "👨‍👩‍👧✅"} {
			m := messages.AssistantText(strings.Repeat(word, 5000) + "END")
			m.Streaming = true
			th := &reducer.Thread{Messages: messages.NewList(m)}
			lines := Lines(th, Look{Width: 80, Height: 24})
			require.Len(t, lines, 23)
			assert.Contains(t, lines[22].String(), "END▌")
			assert.Greater(t, lines[21].Columns(), 70, "the lines are full")
		}
	})
	t.Run("the newest of arguments that arrive is in view", func(t *testing.T) {
		call := &messages.ToolCall{ID: "c", Name: "write", Status: messages.ToolCallStreaming,
			Arguments: `{"text":"` + strings.Repeat("lorem ipsum ", 10_000) + "the newest words"}
		th := &reducer.Thread{Messages: messages.NewList(&messages.Message{
			ID: "m", Role: messages.RoleAssistant, ToolCalls: messages.NewList(call)})}
		assert.Contains(t, draw(th, 0), "the newest words")
	})
	t.Run("a picture costs what it shows", func(t *testing.T) {
		cost := func(count, size int) float64 {
			var msgs []*messages.Message
			for range count {
				msgs = append(msgs, messages.AssistantText(strings.Repeat("some words\n", size)))
			}
			th := &reducer.Thread{Messages: messages.NewList(msgs...)}
			return testing.AllocsPerRun(5, func() { draw(th, 0) })
		}
		assert.Less(t, cost(20_000, 1), 1.5*cost(200, 1), "many messages")
		assert.Less(t, cost(1, 100_000), 1.5*cost(1, 5_000), "a long one")
	})
	t.Run("a text that streams has a cursor, one that ended has none", func(t *testing.T) {
		assert.Contains(t, draw(find(t, threads, says("r-1-thoughts", "hilly, ")), 0), "hilly,▌")
		assert.NotContains(t, draw(threads[len(threads)-1], 0), "▌")
	})
	t.Run("each subagent at work has its own", func(t *testing.T) {
		th := find(t, threads, says("r-1-sights-answer", "tram "))
		assert.Contains(t, draw(th, 0), "tram▌")
	})
	t.Run("the clock continues and the spinner turns", func(t *testing.T) {
		assert.Contains(t, draw(threads[1], 59_990*time.Millisecond), "59.9 s")
		assert.Contains(t, draw(threads[1], 61*time.Second), "1:01")
		assert.NotEqual(t, draw(threads[1], 0)[:3], draw(threads[1], 100*time.Millisecond)[:3])
	})
	t.Run("the state and the tree are cut with a note", func(t *testing.T) {
		var members []state.Member
		for i := range 100 {
			members = append(members, state.Member{Key: strings.Repeat("k", i+1), Value: state.Int(int64(i))})
		}
		got := draw(&reducer.Thread{State: state.Object(members...)}, 0)
		assert.Contains(t, got, "more lines")
	})
	t.Run("no control character of an agent gets through", func(t *testing.T) {
		const evil = "\x1b[2J\x1b]0;title\x07\u009b31m\rover\u202e"
		r := reducer.New(nil)
		owner := messages.SubagentOwner(evil)
		for _, ev := range []event.Event{
			&event.RunStarted{ThreadID: evil, RunID: evil},
			&event.StepStarted{StepName: evil},
			&event.SubagentStarted{Attribution: event.By(owner), Name: evil, Description: messages.Some(evil)},
			&event.TextMessageStart{MessageID: evil, Name: messages.Some(evil), Attribution: event.By(owner)},
			&event.TextMessageContent{MessageID: evil, Delta: evil},
			&event.ToolCallStart{ToolCallID: evil, ToolCallName: evil},
			&event.ToolCallArgs{ToolCallID: evil, Delta: evil},
			&event.ActivitySnapshot{MessageID: "a", ActivityType: evil, Content: state.Object(state.Member{Key: evil, Value: state.String(evil)})},
			&event.StateSnapshot{Snapshot: state.Object(state.Member{Key: evil, Value: state.String(evil)})},
		} {
			err := r.Apply(ev)
			require.NoError(t, err)
		}
		for _, width := range []int{80, 120} {
			for _, line := range Lines(r.Thread(), Look{Width: width, Height: 50, Title: term.Line(evil), Note: term.Line(evil)}) {
				assert.False(t, strings.ContainsFunc(line.String(), func(r rune) bool {
					return r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x202e
				}), "%q", line)
			}
		}
	})
}

func joined(lines []term.Text) string {
	var texts []string
	for _, line := range lines {
		texts = append(texts, line.String())
	}
	return strings.Join(texts, "\n")
}
