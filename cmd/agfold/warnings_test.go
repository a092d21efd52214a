package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
	assert.Equal(t, "agfold: 1 more warning came and went without being kept", l.all()[maxWarnings].String())
	l.add(event.Warning{Rule: "P-ENF-1", Ordinal: -2})
	require.Len(t, l.all(), maxWarnings+1)
	assert.Equal(t, "agfold: 2 more warnings came and went without being kept", l.all()[maxWarnings].String())
	assert.Equal(t, -2, l.last.Ordinal)
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
	url, _, _ := serve(t, stream)
	for name, got := range map[string]result{
		"run":    talk(t, counted(), "", "--url", url, "--message", "x", "--json"),
		"replay": agfold(t, stream, "replay", "--json", "-"),
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, exitOK, got.status)
			assert.Equal(t, n, strings.Count(got.stderr, "P-ENF-1"), "each was told when it arose")
			warnings := threadOf(t, got).Get("warnings")
			require.Equal(t, maxWarnings+1, warnings.Len())
			assert.Equal(t, "5 more warnings came and went without being kept", at[string](t, warnings, "/10000/text"))
		})
	}
}

func TestRunKeepsNoWarningThatNobodyPrintsAgain(t *testing.T) {
	var ws warnings
	assert.True(t, ws.add(event.Warning{Text: "told at once"}))
	assert.Zero(t, ws.list.count)
	ws.hold()
	assert.False(t, ws.add(event.Warning{Text: "held back"}))
	assert.Equal(t, "warning: : held back", ws.note())
	assert.Len(t, ws.release(), 1)
	assert.Empty(t, ws.release())
	assert.Empty(t, ws.note())
}
