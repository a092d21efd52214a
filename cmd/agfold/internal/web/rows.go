package web

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/agfold/agfold/cmd/agfold/internal/transcript"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/feed"
)

// maxSaid bounds the text of a row, in runes.
const maxSaid = 160

// maxRows bounds the rows, and the changes, of one answer.
const maxRows = 4096

// maxChanges bounds the size of the changes of one answer; the last one may exceed it.
const maxChanges = 8 << 20

// row is a position for a list or a tooltip.
type row struct {
	N        int      `json:"n"`
	Ordinal  int32    `json:"ordinal"`
	Line     int32    `json:"line,omitempty"`
	Run      int32    `json:"run"`
	Type     string   `json:"type"`
	Owner    *string  `json:"owner,omitempty"` // of a subagent
	At       *float64 `json:"at,omitempty"`    // in milliseconds
	ID       string   `json:"id,omitempty"`
	Said     string   `json:"said"`
	Nothing  bool     `json:"nothing,omitempty"` // the event delivered nothing
	Warnings int32    `json:"warnings,omitempty"`
}

// rows returns the rows from one position to another, both included.
func (l *log) rows(from, to int) []row {
	type kept struct {
		entry
		raw, delivered []byte
		why            string
	}
	var list []kept
	l.read(func() {
		from, to = max(from, 1), min(to, len(l.entries), from+maxRows-1)
		for n := from; n <= to; n++ {
			e := l.entries[n-1]
			list = append(list, kept{e, l.events.get(e.raw), l.events.get(e.delivered), l.ends[n]})
		}
	})
	rows := make([]row, 0, len(list))
	decoder := event.NewDecoder(nil)
	for i, k := range list {
		r := row{N: from + i, Ordinal: k.ordinal, Line: k.line, Run: k.run, Nothing: k.nothing, Warnings: k.warnings}
		if k.at >= 0 {
			at := float64(k.at) / 1000
			r.At = &at
		}
		if k.end {
			r.Type, r.Said = endType, short(k.why)
		} else {
			r.describe(decoder, k.raw, k.delivered, k.nothing)
		}
		rows = append(rows, r)
	}
	return rows
}

// describe says what the row's event is.
func (r *row) describe(decoder *event.Decoder, raw, delivered []byte, nothing bool) {
	text := raw
	if len(delivered) > 0 {
		text = delivered
	}
	if len(text) > maxDescribed {
		r.said(text)
		return
	}
	frame, err := event.NewFrame(text)
	if err != nil {
		r.Type, r.Said = "?", short(string(raw))
		return
	}
	r.Type = short(frame.TypeName())
	ev, _, err := decoder.Decode(frame)
	if err != nil || ev == nil || nothing {
		r.Said = short(string(raw))
		return
	}
	r.Type, r.ID = ev.Type().String(), short(idOf(ev))
	if id, ok := ev.Owner().RunID(); ok {
		id = short(id)
		r.Owner = &id
	}
	r.Said = short(transcript.Said(ev).String())
}

// maxDescribed bounds an event that is decoded to describe it.
const maxDescribed = 64 << 10

// said describes a large event by its beginning.
func (r *row) said(text []byte) {
	if frame, err := event.NewFrame(text); err == nil {
		r.Type = short(frame.TypeName())
	}
	r.Said = short(string(text[:maxDescribed]))
}

// short cuts a text to maxSaid runes.
func short(s string) string {
	n := 0
	for i := range s {
		if n++; n > maxSaid {
			return s[:i] + "…"
		}
	}
	if !utf8.ValidString(s) {
		return string([]rune(s))
	}
	return s
}

// idOf returns the id of what an event is about, "" if it has none.
func idOf(ev event.Event) string {
	switch e := ev.(type) {
	case *event.RunStarted:
		return e.RunID
	case *event.RunFinished:
		return e.RunID
	case *event.StepStarted:
		return e.StepName
	case *event.StepFinished:
		return e.StepName
	case *event.TextMessageStart:
		return e.MessageID
	case *event.TextMessageContent:
		return e.MessageID
	case *event.TextMessageEnd:
		return e.MessageID
	case *event.ReasoningStart:
		return e.MessageID
	case *event.ReasoningEnd:
		return e.MessageID
	case *event.ReasoningMessageStart:
		return e.MessageID
	case *event.ReasoningMessageContent:
		return e.MessageID
	case *event.ReasoningMessageEnd:
		return e.MessageID
	case *event.ToolCallStart:
		return e.ToolCallID
	case *event.ToolCallArgs:
		return e.ToolCallID
	case *event.ToolCallEnd:
		return e.ToolCallID
	case *event.ToolCallResult:
		return e.ToolCallID
	case *event.ActivitySnapshot:
		return e.MessageID
	case *event.ActivityDelta:
		return e.MessageID
	case *event.ReasoningEncryptedValue:
		return e.EntityID
	case *event.Custom:
		return e.Name
	case *event.SubagentStarted, *event.SubagentFinished, *event.SubagentError:
		id, _ := ev.Owner().RunID()
		return id
	}
	return ""
}

// appendChanges appends the lists of operations from one position to another; fewer if they are large.
func (l *log) appendChanges(dst []byte, from, to int) []byte {
	dst = append(dst, '[')
	l.read(func() {
		to = min(to, len(l.entries), from+maxRows)
		for n := max(from, 0); n < to && len(dst) < maxChanges; n++ {
			if len(dst) > 1 {
				dst = append(dst, ',')
			}
			if ops := l.changes.get(l.entries[n].changes); len(ops) > 0 {
				dst = append(dst, ops...)
			} else {
				dst = append(dst, "[]"...)
			}
		}
	})
	return append(dst, ']')
}

// appendView appends the view at the last checkpoint not after n; or, if the reader has that of the checkpoint have, the
// operations that lead there.
func (l *log) appendView(dst []byte, n, have int) []byte {
	var to, from feed.Snapshot
	at, known := 0, false
	l.read(func() {
		if len(l.checkpoints) == 0 {
			return
		}
		at = min(max(n, 0)/checkpointEvery, len(l.checkpoints)-1)
		to = l.checkpoints[at]
		if have >= 0 && have%checkpointEvery == 0 && have/checkpointEvery < len(l.checkpoints) {
			from, known = l.checkpoints[have/checkpointEvery], true
		}
	})
	dst = append(dst, `{"n":`...)
	dst = append(dst, strconv.Itoa(at*checkpointEvery)...)
	if known {
		return append(feed.AppendChanges(append(dst, `,"changes":`...), from, to, feed.Append), '}')
	}
	return append(feed.AppendView(append(dst, `,"view":`...), to), '}')
}

// eventOf is a position in full.
type eventOf struct {
	N         int             `json:"n"`
	Delivered json.RawMessage `json:"delivered"` // null if nothing was delivered
	Raw       string          `json:"raw"`       // the text as it came
	Cut       int             `json:"cut,omitempty"`
	Warnings  []event.Warning `json:"warnings,omitempty"`

	plain bool // it was delivered as it came
}

// maxShown bounds the text of an event for the page.
const maxShown = 1 << 20

// event returns the event at a position, and whether there is one.
func (l *log) event(n int) (eventOf, bool) {
	var e entry
	var raw, delivered []byte
	out := eventOf{N: n}
	l.read(func() {
		if n < 1 || n > len(l.entries) {
			n = 0
			return
		}
		e = l.entries[n-1]
		raw, delivered = l.events.get(e.raw), l.events.get(e.delivered)
		out.Warnings = l.warnings[n]
	})
	if n == 0 {
		return out, false
	}
	if len(delivered) == 0 && !e.nothing {
		if frame, err := event.NewFrame(raw); err == nil {
			if ev, _, err := event.NewDecoder(nil).Decode(frame); err == nil && ev != nil {
				delivered = event.Append(nil, ev)
				out.plain = len(out.Warnings) == 0 && out.Cut == 0
			}
		}
	}
	out.Raw = string(raw)
	if len(raw) > maxShown {
		out.Raw, out.Cut = string(raw[:maxShown]), len(raw)-maxShown
	}
	if len(delivered) > 0 && len(delivered) <= maxShown {
		out.Delivered = delivered
	}
	return out, true
}
