// Package audit checks a log from the outside: it knows the form of its messages, and nothing of who writes them.
package audit

import (
	"bytes"
	"fmt"

	"github.com/agfold/agfold/adapters/jetstream/internal/entry"
)

// Message is one message of a log, as it is stored.
type Message struct {
	Subject  string
	Sequence uint64
	Data     []byte
}

// Log checks the logs of threads, message by message in the order of the stream. The zero Log has seen nothing.
type Log struct {
	// Purged says that the beginnings of logs may be missing.
	Purged bool

	threads  map[string]*thread
	findings []string
	entries  int
	writers  int
}

// thread is what is known of one log.
type thread struct {
	writer  uint64
	next    uint64
	part    entry.Header // the last part of what is not complete
	partial bool
	closed  bool
	replica *entry.Replica
	done    map[uint64]bool // tokens of writers that have a successor
}

func (l *Log) find(m Message, format string, args ...any) {
	l.findings = append(l.findings, fmt.Sprintf("%s at %d: %s", m.Subject, m.Sequence, fmt.Sprintf(format, args...)))
}

// Findings returns what is wrong: an entry that is lost, doubled or out of order, two writers at once, a writer that writes
// after its successor or after it has closed the log, an entry that cannot be read.
func (l *Log) Findings() []string { return l.findings }

// Entries and Writers return how much was seen.
func (l *Log) Entries() int { return l.entries }
func (l *Log) Writers() int { return l.writers }

// Add checks the next message of the stream.
func (l *Log) Add(m Message) {
	if l.threads == nil {
		l.threads = make(map[string]*thread)
	}
	t := l.threads[m.Subject]
	begins := t == nil
	if begins {
		t = &thread{done: make(map[uint64]bool), replica: new(entry.Replica)}
		l.threads[m.Subject] = t
	}
	h, rest, err := entry.ParseHeader(m.Data)
	if err != nil {
		l.find(m, "it is no message of a log: %v", err)
		return
	}
	switch {
	case begins && l.Purged:
		t.writer, t.next = h.Token, h.First
		t.replica.Damage(fmt.Errorf("the beginning is missing"))
	case h.Token != t.writer:
		l.succeed(m, t, h)
	}
	if t.closed {
		l.find(m, "writer %d writes after it has closed the log", h.Token)
	}
	l.order(m, t, h)
	if h.Part == 0 && !bytes.HasPrefix(rest, []byte{'{'}) {
		l.find(m, "it does not begin with an entry")
	}
	l.apply(m, t, h, rest)
}

// succeed checks that a writer may follow another one.
func (l *Log) succeed(m Message, t *thread, h entry.Header) {
	l.writers++
	if h.Token < t.writer || t.done[h.Token] {
		l.find(m, "writer %d writes after writer %d: two hold the thread", h.Token, t.writer)
	}
	t.done[t.writer] = true
	t.writer, t.next, t.closed, t.partial = h.Token, 0, false, false
}

// order checks that no entry is lost or doubled.
func (l *Log) order(m Message, t *thread, h entry.Header) {
	switch {
	case t.partial && (h.First != t.part.First || h.Part != t.part.Part+1 || h.Parts != t.part.Parts):
		l.find(m, "part %d of %d follows part %d of %d", h.Part+1, h.Parts, t.part.Part+1, t.part.Parts)
	case !t.partial && h.Part != 0:
		l.find(m, "part %d of %d has no part before it", h.Part+1, h.Parts)
	case h.First < t.next:
		l.find(m, "the entries from %d came before", h.First)
	case h.First > t.next:
		l.find(m, "the entries from %d to %d are lost", t.next, h.First-1)
	}
	t.part, t.partial = h, !h.Last()
	if h.Last() {
		t.next = h.First + uint64(h.Count)
		l.entries += h.Count
	}
}

// apply reads the entries of a message that is complete by itself.
func (l *Log) apply(m Message, t *thread, h entry.Header, rest []byte) {
	if h.Parts > 1 {
		return
	}
	count := 0
	for line := range bytes.Lines(rest) {
		count++
		line = bytes.TrimSuffix(line, []byte{'\n'})
		if err := t.replica.Apply(line); err != nil {
			l.find(m, "entry %d cannot be read: %v", h.First+uint64(count)-1, err)
		}
	}
	if count != h.Count {
		l.find(m, "it has %d entries and says %d", count, h.Count)
	}
	t.closed = t.replica.Closed
}
