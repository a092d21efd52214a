package main

import (
	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/event"
)

// Limits on the warnings that are kept to be printed later: their number, and the bytes of their texts.
const (
	maxWarnings     = 10_000
	maxWarningBytes = 16 << 20
)

// warningList keeps a bounded number of warnings. The zero value is empty.
type warningList struct {
	kept  []event.Warning
	bytes int
	count int // of all
}

func (l *warningList) add(w event.Warning) {
	l.count++
	if size := len(w.Type) + len(w.Path) + len(w.Text); len(l.kept) < maxWarnings && l.bytes+size <= maxWarningBytes {
		l.kept = append(l.kept, w)
		l.bytes += size
	}
}

// all returns the warnings that were kept. If some were not, the last warning says how many.
func (l *warningList) all() []event.Warning {
	more := l.count - len(l.kept)
	if more == 0 {
		return l.kept
	}
	return append(l.kept[:len(l.kept):len(l.kept)], event.Warning{Rule: "agfold", Text: notKept(more).String()})
}

func notKept(n int) term.Text {
	if n == 1 {
		return term.Lit("1 more warning was not kept")
	}
	return term.Sprintf("%d more warnings were not kept", n)
}

// warningTally counts warnings by rule, type and path, so that each kind is printed once. The zero value is empty.
type warningTally struct {
	list   warningList // the first of each kind
	counts map[warningKind]int
	total  int
	lost   int // of kinds that are too many to keep
	last   event.Warning
}

// warningKind is what repeated warnings share.
type warningKind struct{ rule, typ, path string }

func kindOf(w event.Warning) warningKind { return warningKind{w.Rule, w.Type, w.Path} }

func (l *warningTally) add(w event.Warning) {
	l.total++
	l.last = w
	k := kindOf(w)
	if l.counts[k] == 0 {
		if l.list.add(w); l.list.count > len(l.list.kept) {
			l.list.count--
			l.lost++
			return
		}
	}
	if l.counts == nil {
		l.counts = map[warningKind]int{}
	}
	l.counts[k]++
}

// lines draws the warnings, each kind in one line after a prefix, and forgets them.
func (l *warningTally) lines(prefix term.Text) term.Text {
	var b term.Builder
	for _, w := range l.list.kept {
		b.Add(prefix, term.Sprintf("warning: %s", w))
		if n := l.counts[kindOf(w)]; n > 1 {
			b.Add(term.Sprintf(" (%d times)", n))
		}
		b.Add(term.Lit("\n"))
	}
	if l.lost > 0 {
		b.Add(prefix, term.Lit("warning: "), notKept(l.lost), term.Lit("\n"))
	}
	*l = warningTally{}
	return b.Text()
}
