package transcript

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agfold/agfold/reducer"
)

// runOf draws the last run of a thread.
func runOf(th *reducer.Thread) string {
	v := Style{}.View(th)
	p := v.page()
	v.run(p, th.LastRun())
	return p.b.Text().String()
}

func TestRun(t *testing.T) {
	for _, row := range []struct {
		name   string
		events []string
		want   string
	}{
		{"one that is running", nil, "… r · running\n"},
		{"steps, those of subagents by name",
			[]string{`{"type":"STEP_STARTED","stepName":"plan"}`, `{"type":"STEP_FINISHED","stepName":"plan"}`, `{"type":"STEP_STARTED","stepName":"look","subagentRunId":"s"}`},
			"… r · running\n  steps    plan, s › look (not finished)\n"},
		{"result, pending calls and usage",
			[]string{`{"type":"TOOL_CALL_START","toolCallId":"c1","toolCallName":"f"}`, `{"type":"TOOL_CALL_END","toolCallId":"c1"}`,
				`{"type":"TOOL_CALL_START","toolCallId":"c2","toolCallName":"f"}`, `{"type":"TOOL_CALL_END","toolCallId":"c2"}`,
				`{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":[1],"outcome":{"type":"success"},"usage":[{"inputTokens":1234567,"cacheWriteInputTokens":0},{"provider":"p"},{}]}`},
			"✓ r · succeeded\n  result   [1]\n  pending  f (c1), f (c2)\n  tokens   1 234 567 in, 0 cache write\n  tokens   p\n  tokens   not reported\n"},
		{"one that failed",
			[]string{`{"type":"RUN_ERROR","message":"overloaded","code":"E"}`}, "✗ r · failed\n  agent failed: overloaded (E)\n"},
		{"one that was cancelled",
			[]string{`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"cancelled"}}`}, "! r · cancelled\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, row.want, runOf(folded(t, row.events...)))
		})
	}
}

func TestManyStepsAreCounted(t *testing.T) {
	var events []string
	for range maxSteps + 3 {
		events = append(events, `{"type":"STEP_STARTED","stepName":"s"}`, `{"type":"STEP_FINISHED","stepName":"s"}`)
	}
	assert.Contains(t, runOf(folded(t, events...)), "s, s, and 3 more\n")
}

func TestInterrupts(t *testing.T) {
	th := folded(t, `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"confirm","message":"Go on?","toolCallId":"c","subagentRunId":"s","expiresAt":"2026-01-01T00:00:00Z","responseSchema":{"type":"boolean"}},{"id":"j","reason":"input"}]}}`)
	assert.Equal(t, `? i · confirm
  Go on?
  call     c
  from     s
  expires  2026-01-01T00:00:00Z
  schema   {"type": "boolean"}
? j · input
`, strings.SplitAfterN(Style{}.View(th).Interrupts().String(), "\n", 2)[1])
}

func TestAnInterruptWithoutAMessageShowsWhatItIsAbout(t *testing.T) {
	th := folded(t, `{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"rm","delta":"{\"path\":\"/tmp\"}"}`,
		`{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"confirm","toolCallId":"c","metadata":{"risk":"high"}}]}}`)
	assert.Equal(t, `? i · confirm
  call     rm (c)
  {"path": "/tmp"}
  {"risk": "high"}
`, Style{}.View(th).Interrupt(th.Interrupts[0]).String())
}

func TestARunShowsWhatItAskedUnlessThatStillPends(t *testing.T) {
	asked := `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"confirm","message":"Sure?"}]}}`
	assert.NotContains(t, Style{}.View(folded(t, asked)).Runs().String(), "Sure?")
	assert.Contains(t, Style{}.View(folded(t, asked, `{"type":"RUN_STARTED","threadId":"t","runId":"r2"}`, finish)).Runs().String(),
		"‖ r · interrupted\n  asked    i: Sure?\n")
	assert.Equal(t, "✓ r · succeeded\n  retired  i: Sure?\n",
		runOf(folded(t, asked, `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`, finish)), "it was not answered")
}

func TestUsageOfAllRunsIsSummed(t *testing.T) {
	end := `{"type":"RUN_FINISHED","threadId":"t","runId":"r","usage":[{"model":"m","outputTokens":2}]}`
	got := drawn(t, Style{}, end, `{"type":"RUN_STARTED","threadId":"t","runId":"r2"}`, end)
	assert.Contains(t, got, "all runs\n  tokens   m: 4 out\n")
}
