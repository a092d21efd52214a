package chunks_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/chunks"
	"github.com/agfold/agfold/event"
)

// lines splits a text with one JSON object a line, indented as one likes.
func lines(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

// events decodes one event a line, all of which must be free of fault.
func events(t testing.TB, text string) []event.Event {
	t.Helper()
	decoder := event.NewDecoder(nil)
	var all []event.Event
	for _, line := range lines(text) {
		frame, err := event.NewFrame([]byte(line))
		require.NoError(t, err, line)
		ev, warnings, err := decoder.Decode(frame)
		require.NoError(t, err, line)
		require.Empty(t, warnings, line)
		require.NotNil(t, ev, line)
		all = append(all, ev)
	}
	return all
}

// wire encodes events, one a line.
func wire(all []event.Event) []string {
	encoded := make([]string, 0, len(all))
	for _, ev := range all {
		encoded = append(encoded, string(event.Append(nil, ev)))
	}
	return encoded
}

// expand expands all, up to the first error.
func expand(x *chunks.Expander, all []event.Event) (out []event.Event, err error) {
	for _, ev := range all {
		if out, err = x.Expand(out, ev); err != nil {
			return out, err
		}
	}
	return out, nil
}

// assertWire compares events with expected ones, one JSON object a line; the order of members is free.
func assertWire(t testing.TB, want string, got []event.Event) {
	t.Helper()
	wanted, encoded := lines(want), wire(got)
	if !assert.Len(t, encoded, len(wanted), "got\n%s", strings.Join(encoded, "\n")) {
		return
	}
	for i := range wanted {
		assert.JSONEq(t, wanted[i], encoded[i], "event %d of\n%s", i+1, strings.Join(encoded, "\n"))
	}
}
