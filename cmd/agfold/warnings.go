package main

import (
	"fmt"

	"github.com/agfold/agfold/event"
)

// What is kept of warnings that are shown only later: so many, and so many bytes of what they say.
const (
	maxWarnings     = 10_000
	maxWarningBytes = 16 << 20
)

// warningList keeps warnings, a bounded number of them. The zero value is empty.
type warningList struct {
	kept  []event.Warning
	bytes int
	count int           // of all
	last  event.Warning // of all
}

func (l *warningList) add(w event.Warning) {
	l.count++
	l.last = w
	if size := len(w.Type) + len(w.Path) + len(w.Text); len(l.kept) < maxWarnings && l.bytes+size <= maxWarningBytes {
		l.kept = append(l.kept, w)
		l.bytes += size
	}
}

// all returns the warnings that were kept, and as the last one how many were not.
func (l *warningList) all() []event.Warning {
	more := l.count - len(l.kept)
	if more == 0 {
		return l.kept
	}
	text := fmt.Sprintf("%d more warnings", more)
	if more == 1 {
		text = "1 more warning"
	}
	return append(l.kept[:len(l.kept):len(l.kept)], event.Warning{Rule: "agfold", Text: text + " came and went without being kept"})
}
