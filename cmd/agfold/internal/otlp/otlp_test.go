package otlp_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/cmd/agfold/internal/otlp"
	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/spans"
)

const recorded = "../../../../spans/testdata/two-turns.ndjson"

func write(t *testing.T, text string) string {
	t.Helper()
	rec, err := recording.Open(strings.NewReader(text), nil)
	require.NoError(t, err)
	var b bytes.Buffer
	w := otlp.NewWriter(&b, "v1.2.3")
	_, err = spans.Recording(t.Context(), rec, w, nil)
	require.NoError(t, err)
	require.NoError(t, w.Err())
	return b.String()
}

func TestWriter(t *testing.T) {
	text, err := os.ReadFile(recorded)
	require.NoError(t, err)
	out := write(t, string(text))
	t.Run("the same recording gives the same ids, another one others", func(t *testing.T) {
		assert.Equal(t, out, write(t, string(text)))
		other := write(t, strings.ReplaceAll(string(text), `"r1"`, `"r9"`))
		assert.NotEqual(t, traceIDs(t, out)[0], traceIDs(t, other)[0])
	})
	t.Run("each line is a trace of its own, and its spans hang together", func(t *testing.T) {
		assert.Len(t, traceIDs(t, out), 2)
	})
	t.Run("nothing is written after an error", func(t *testing.T) {
		rec, err := recording.Open(bytes.NewReader(text), nil)
		require.NoError(t, err)
		f := &failing{}
		w := otlp.NewWriter(f, "")
		_, err = spans.Recording(t.Context(), rec, w, nil)
		require.NoError(t, err)
		assert.ErrorIs(t, w.Err(), errFull)
		assert.Equal(t, 1, f.calls)
	})
}

// traceIDs returns the trace of each line, after checking that a line holds one, with a root and parents that are there.
func traceIDs(t *testing.T, text string) []string {
	t.Helper()
	var ids []string
	for line := range strings.Lines(text) {
		var doc struct {
			ResourceSpans []struct {
				ScopeSpans []struct {
					Scope struct{ Version string }
					Spans []struct{ TraceID, SpanID, ParentSpanID, Name string }
				}
			}
		}
		require.NoError(t, json.Unmarshal([]byte(line), &doc))
		assert.Equal(t, "v1.2.3", doc.ResourceSpans[0].ScopeSpans[0].Scope.Version)
		list := doc.ResourceSpans[0].ScopeSpans[0].Spans
		seen := map[string]bool{}
		for _, s := range list {
			assert.Regexp(t, `^[0-9a-f]{32}$`, s.TraceID)
			assert.Regexp(t, `^[0-9a-f]{16}$`, s.SpanID)
			assert.Equal(t, list[0].TraceID, s.TraceID)
			assert.False(t, seen[s.SpanID], "an id comes once")
			seen[s.SpanID] = true
		}
		roots := 0
		for _, s := range list {
			if s.ParentSpanID == "" {
				roots++
			} else {
				assert.True(t, seen[s.ParentSpanID], "the parent of %s", s.Name)
			}
		}
		assert.Equal(t, 1, roots)
		ids = append(ids, list[0].TraceID)
	}
	return ids
}

var errFull = errors.New("the disk is full")

// failing is a writer that fails.
type failing struct{ calls int }

func (f *failing) Write([]byte) (int, error) { f.calls++; return 0, errFull }
