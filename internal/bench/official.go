package main

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
)

var perEvent = regexp.MustCompile(`([0-9.]+) us/event`)

// official times the official TypeScript client on the stream that our rows fold.
func official(dir string, quick bool) []group {
	events := 2000
	if quick {
		events = 20
	}
	client := func(history, events int) row {
		return row{
			name: fmt.Sprintf("official client, %d messages before", history),
			direct: func() figure {
				cmd := exec.Command("node", "bench.mjs", strconv.Itoa(events), strconv.Itoa(history))
				cmd.Dir = dir
				out, err := cmd.Output()
				if err != nil {
					return figure{err: fmt.Errorf("node bench.mjs: %w", err)}
				}
				m := perEvent.FindSubmatch(out)
				if m == nil {
					return figure{err: fmt.Errorf("node bench.mjs printed %q", out)}
				}
				us, err := strconv.ParseFloat(string(m[1]), 64)
				return figure{ns: us * 1e3, err: err}
			},
		}
	}
	return []group{
		{
			title: "The official client on the same stream, no history, one subscriber",
			goal:  "at least 300 times faster",
			rows:  []row{client(0, events), typedRow(0, true), pipelineRow("ours, from SSE bytes", 0, snapshotNever)},
		},
		{
			title: "The official client on the same stream, 1,000 messages before, one subscriber",
			goal:  "at least 2,000 times faster",
			rows:  []row{client(1000, events/4), typedRow(1000, true), pipelineRow("ours, from SSE bytes", 1000, snapshotNever)},
		},
	}
}
