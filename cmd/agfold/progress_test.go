package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestProgress(t *testing.T) {
	line := `{"type":"CUSTOM","name":"filler","value":"` + strings.Repeat("x", 1000) + `"}` + "\n"
	big := write(t, "big.ndjson", began+"\n"+`{"type":"NEW"}`+"\n"+strings.Repeat(line, progressBytes/len(line)+1)+finished)
	for _, row := range []struct {
		name string
		live bool
		args []string
		cols int
		want bool
	}{
		{"on a terminal", true, nil, 0, true},
		{"not elsewhere", false, nil, 0, false},
		{"not between events on the same terminal", true, []string{"--events"}, 80, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			clock := time.Unix(0, 0)
			ticks := 0
			var stdout, stderr bytes.Buffer
			on := newTerminal(nil, &stdout, &stderr)
			on.live, on.width = row.live, row.cols
			on.now = func() time.Time { ticks++; clock = clock.Add(time.Millisecond); return clock }
			status := run(t.Context(), append([]string{"replay", big}, row.args...), on)
			assert.Equal(t, exitOK, status)
			drawn := strings.Count(stderr.String(), "% ")
			assert.Equal(t, row.want, drawn > 0)
			assert.LessOrEqual(t, drawn, ticks/100+1, "at most ten times a second")
			if row.want {
				assert.Regexp(t, `\r\x1b\[K.*big\.ndjson +\d+%  \d of 8 MB  \d+ events`, stderr.String())
				assert.Less(t, strings.LastIndex(stderr.String(), "% "), strings.LastIndex(stderr.String(), "\r\x1b[K"), "it is taken away at the end")
			}
			assert.Contains(t, stderr.String(), "P-ENF-1 event 2 NEW")
		})
	}
}
