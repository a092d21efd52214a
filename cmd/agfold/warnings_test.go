package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/event"
)

func TestWarningsAreKeptUpToABound(t *testing.T) {
	var l warningList
	for i := range maxWarnings {
		l.add(event.Warning{Rule: "P-ENF-1", Ordinal: i + 1})
	}
	require.Len(t, l.all(), maxWarnings)
	l.add(event.Warning{Rule: "P-ENF-1", Ordinal: -1})
	require.Len(t, l.all(), maxWarnings+1)
	assert.Equal(t, "agfold: 1 more warning was not kept", l.all()[maxWarnings].String())
	l.add(event.Warning{Rule: "P-ENF-1", Ordinal: -2})
	require.Len(t, l.all(), maxWarnings+1)
	assert.Equal(t, "agfold: 2 more warnings were not kept", l.all()[maxWarnings].String())
	assert.Len(t, l.kept, maxWarnings)

	t.Run("long ones count by their bytes", func(t *testing.T) {
		var l warningList
		for range 5 {
			l.add(event.Warning{Text: strings.Repeat("x", maxWarningBytes/4)})
		}
		assert.Len(t, l.kept, 4)
		assert.Len(t, l.all(), 5)
	})
}

func TestJSONHoldsABoundedNumberOfWarnings(t *testing.T) {
	const n = maxWarnings + 5
	stream := sseOf(began) + strings.Repeat(sseOf(`{"type":"NEW"}`), n) + sseOf(finished)
	url, _, _ := serving(t, stream)
	for name, got := range map[string]result{
		"run":    talk(t, counted(), "", "--url", url, "--message", "x", "--json"),
		"replay": agfold(t, stream, "replay", "--json", "-"),
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, exitOK, got.status)
			assert.Equal(t, 1, strings.Count(got.stderr, "P-ENF-1"), "one line")
			assert.Contains(t, got.stderr, "NEW: dropped: AG-UI 1.0 knows no event of this type (10005 times)\n")
			warnings := threadOf(t, got).Get("warnings")
			require.Equal(t, maxWarnings+1, warnings.Len())
			assert.Equal(t, "5 more warnings were not kept", at[string](t, warnings, "/10000/text"))
		})
	}
}

func TestARetiredStreamIsWarnedOfOnce(t *testing.T) {
	delta := `{"type":"THINKING_TEXT_MESSAGE_CONTENT","delta":"x"}`
	stream := ndjson(began, `{"type":"THINKING_TEXT_MESSAGE_START"}`) + strings.Repeat(delta+"\n", 3000) +
		ndjson(`{"type":"THINKING_TEXT_MESSAGE_END"}`, finished)
	got := agfold(t, stream, "replay", "-")
	assert.Equal(t, exitOK, got.status)
	assert.Equal(t, 3, strings.Count(got.stderr, "\n"), "a line a type:\n%s", got.stderr)
	assert.Contains(t, got.stderr, "THINKING_TEXT_MESSAGE_CONTENT")
	assert.Contains(t, got.stderr, " (3000 times)\n")
}

func TestWarningsAreToldOnceAKind(t *testing.T) {
	var l warningTally
	for i, w := range []event.Warning{
		{Rule: "P-ENF-2", Type: "CUSTOM", Path: "/x", Text: "removed"}, {Rule: "P-ENF-2", Type: "CUSTOM", Path: "/y", Text: "removed"},
		{Rule: "P-ENF-2", Type: "RAW", Path: "/x", Text: "removed"}, {Rule: "P-CMP-2", Type: "CUSTOM", Path: "/x", Text: "removed"},
		{Rule: "P-ENF-2", Type: "CUSTOM", Path: "/x", Text: "removed again"},
	} {
		w.Ordinal = i + 1
		l.add(w)
	}
	assert.Equal(t, strings.Join([]string{
		"f: warning: P-ENF-2 event 1 CUSTOM /x: removed (2 times)",
		"f: warning: P-ENF-2 event 2 CUSTOM /y: removed",
		"f: warning: P-ENF-2 event 3 RAW /x: removed",
		"f: warning: P-CMP-2 event 4 CUSTOM /x: removed", "",
	}, "\n"), l.lines(term.Lit("f: ")).String())
	assert.Empty(t, l.lines(term.Lit("f: ")), "they are forgotten")

	for i := range maxWarnings + 2 {
		l.add(event.Warning{Rule: "P-ENF-2", Path: strings.Repeat("x", i)})
	}
	assert.LessOrEqual(t, len(l.counts), maxWarnings, "what is kept is bounded")
	assert.Contains(t, l.lines(term.Text{}).String(), "more warnings were not kept\n")
}
