package client

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// DebugCategory is a stage of what happens to a run that a [DebugLog] can speak of.
type DebugCategory string

// The categories, in the order in which a run passes them. The first three are those of an HTTP agent
// ([HTTPOptions.Debug]), the others those of a session ([SessionOptions.Debug]).
const (
	DebugInput     DebugCategory = "input"     // what a run's input holds, by number
	DebugTransport DebugCategory = "transport" // requests, answers and how they end
	DebugFrames    DebugCategory = "frames"    // each event as it came, with the beginning of its data
	DebugUpgrade   DebugCategory = "upgrade"   // what was converted from before 1.0
	DebugChunks    DebugCategory = "chunks"    // what chunks expanded to
	DebugVerify    DebugCategory = "verify"    // the verdict on each event: accepted, dropped, rejected, and what was tolerated
	DebugFold      DebugCategory = "fold"      // what each event changed in the thread
	DebugSession   DebugCategory = "session"   // turns, streams and calls of tools, from their beginning to their end
)

// DebugCategories returns all categories, in a slice of the caller's own.
func DebugCategories() []DebugCategory {
	return []DebugCategory{DebugInput, DebugTransport, DebugFrames, DebugUpgrade, DebugChunks, DebugVerify, DebugFold, DebugSession}
}

// ParseDebugCategories returns the categories in a list such as "chunks,verify"; "all" is all of them, and "" none. Otherwise the
// error names what is not a category.
func ParseDebugCategories(list string) ([]DebugCategory, error) {
	var found []DebugCategory
	for name := range strings.SplitSeq(list, ",") {
		c := DebugCategory(strings.TrimSpace(name))
		switch {
		case c == "":
		case c == "all":
			return DebugCategories(), nil
		case slices.Contains(DebugCategories(), c):
			found = append(found, c)
		default:
			return nil, fmt.Errorf("%q is not a category of the debug log; want all, or some of %s", name, joined(DebugCategories()))
		}
	}
	return found, nil
}

func joined(list []DebugCategory) string {
	names := make([]string, len(list))
	for i, c := range list {
		names[i] = string(c)
	}
	return strings.Join(names, ", ")
}

// DebugLog tells a logger, at level Debug, what happens to runs, for the categories that it was made with. A nil DebugLog says
// nothing and costs a comparison an event. It is safe for concurrent use, and one may serve several agents and sessions. Its
// lines come from the goroutine that does what they are about, so a slow handler slows the run down.
//
// Of a URL, in the text of an error too, neither the user nor the values of the query are logged; of a header only values that
// are known to be harmless. Contents of run inputs are not logged. What agents say is: the category frames has the first 300
// bytes of each event, and errors repeat what servers, agents and tools wrote, whatever it is. The path of a URL is logged whole.
type DebugLog struct {
	log   *slog.Logger
	on    map[DebugCategory]bool
	event bool // some category of events is on
}

// NewDebugLog returns a log to logger; nil means slog.Default(). Without categories it has all of them.
func NewDebugLog(logger *slog.Logger, categories ...DebugCategory) *DebugLog {
	if logger == nil {
		logger = slog.Default()
	}
	if len(categories) == 0 {
		categories = DebugCategories()
	}
	l := &DebugLog{log: logger, on: map[DebugCategory]bool{}}
	for _, c := range categories {
		l.on[c] = true
	}
	l.event = l.on[DebugUpgrade] || l.on[DebugChunks] || l.on[DebugVerify] || l.on[DebugFold]
	return l
}

// has reports whether the category is on.
func (l *DebugLog) has(c DebugCategory) bool {
	return l != nil && l.on[c] && l.log.Enabled(context.Background(), slog.LevelDebug)
}

// say logs a line.
func (l *DebugLog) say(c DebugCategory, text string, attrs ...slog.Attr) {
	l.log.LogAttrs(context.Background(), slog.LevelDebug, text, append([]slog.Attr{slog.String("category", string(c))}, attrs...)...)
}

// with returns a log whose lines have another attribute.
func (l *DebugLog) with(key, value string) *DebugLog {
	if l == nil {
		return nil
	}
	c := *l
	c.log = l.log.With(key, value)
	return &c
}

// maxDebugData bounds, in bytes, what is logged of an event.
const maxDebugData = 300

// Frame logs an event as it came, for the category frames. An agent of [NewHTTP] calls it; it is for other sources of
// events.
func (l *DebugLog) Frame(ordinal int, ev event.Event) {
	if !l.has(DebugFrames) {
		return
	}
	f := event.FrameOfEvent(ev)
	attrs := []slog.Attr{slog.Int("event", ordinal), slog.String("type", f.TypeName()), slog.Int("bytes", f.Size())}
	switch {
	case f.IsNotice():
		l.say(DebugFrames, "nothing but warnings", attrs[0])
		return
	case f.Err() != nil:
		attrs = append(attrs, slog.String("error", safeError(f.Err())))
	}
	l.say(DebugFrames, "frame", append(attrs, slog.String("data", shorten(strings.ToValidUTF8(string(f.Data()), "\uFFFD"), maxDebugData)))...)
}

// Deliver logs what became of the event ev, or of a part of what it expanded to: the delivery that came of it, or the error that
// the stream was rejected with. It is for the categories upgrade, chunks, verify and fold. The fold has no logger: all of it is seen
// from outside. A session calls it; it is for other code that folds.
func (l *DebugLog) Deliver(ev event.Event, d reducer.Delivery, err error) {
	if l == nil || !l.event {
		return
	}
	l.deliver(ev, d, err)
}

func (l *DebugLog) deliver(ev event.Event, d reducer.Delivery, err error) {
	at := slog.Int("event", d.Ordinal)
	name := "nothing"
	if d.Event != nil {
		name = d.Event.Type().String()
	}
	if ev != nil && ev.Type().IsChunk() && l.has(DebugChunks) {
		if err == nil && d.Event != nil {
			l.say(DebugChunks, "expanded", at, slog.String("chunk", ev.Type().String()), slog.String("into", name), slog.String("id", idOf(d.Change)))
		}
	} else if d.Event != nil && ev != nil && d.Event.Type() != ev.Type() && !ev.Type().IsRetired() && err == nil && l.has(DebugChunks) {
		l.say(DebugChunks, "closed", at, slog.String("by", typeName(ev)), slog.String("with", name), slog.String("id", idOf(d.Change)))
	}
	for _, w := range d.Warnings {
		c, text := DebugVerify, "tolerated"
		if strings.HasPrefix(w.Rule, "P-CMP-") {
			c, text = DebugUpgrade, "converted"
		}
		if l.has(c) {
			l.say(c, text, slog.Int("event", w.Ordinal), slog.String("type", w.Type), slog.String("rule", w.Rule), slog.String("path", w.Path), slog.String("what", w.Text))
		}
	}
	if l.has(DebugVerify) {
		switch {
		case err != nil:
			l.say(DebugVerify, "rejected", slog.String("type", typeName(ev)), slog.String("error", safeError(err)))
		case d.Event == nil:
			l.say(DebugVerify, "dropped", at, slog.String("type", typeName(ev)))
		default:
			l.say(DebugVerify, "accepted", at, slog.String("type", name))
		}
	}
	if err == nil && d.Event != nil && l.has(DebugFold) {
		l.say(DebugFold, "changed", append([]slog.Attr{at, slog.String("change", d.Change.Kind.String())}, changeAttrs(d.Change)...)...)
	}
}

// typeName returns the type of an event as it came.
func typeName(ev event.Event) string {
	if f, ok := ev.(event.Frame); ok {
		return f.TypeName()
	}
	if ev == nil {
		return ""
	}
	return ev.Type().String()
}

// idOf returns the id of the call or message that a change is about.
func idOf(c reducer.Change) string {
	if c.ToolCallID != "" {
		return c.ToolCallID
	}
	return c.MessageID
}

// changeAttrs returns what is set in a change.
func changeAttrs(c reducer.Change) (attrs []slog.Attr) {
	text := func(key, value string) {
		if value != "" {
			attrs = append(attrs, slog.String(key, value))
		}
	}
	text("message", c.MessageID)
	text("call", c.ToolCallID)
	text("step", c.StepName)
	text("run", c.RunID)
	if id, ok := c.Subagent.RunID(); ok {
		attrs = append(attrs, slog.String("subagent", id))
	}
	if c.Index >= 0 && c.MessageID != "" {
		attrs = append(attrs, slog.Int("index", c.Index))
	}
	if c.Delta != "" {
		attrs = append(attrs, slog.Int("appended", len(c.Delta)))
	}
	return attrs
}

// input logs what the input of a run holds.
func (l *DebugLog) input(in *event.RunInput, bytes int) {
	if !l.has(DebugInput) {
		return
	}
	tools := make([]string, len(in.Tools))
	for i, t := range in.Tools {
		tools[i] = t.Name
	}
	answers := make([]string, len(in.Resume))
	for i, r := range in.Resume {
		answers[i] = r.InterruptID
	}
	var props []string
	for key := range in.ForwardedProps.Members() {
		props = append(props, key)
	}
	l.say(DebugInput, "input", slog.String("thread", in.ThreadID), slog.String("run", in.RunID), slog.String("version", in.ProtocolVersion.Or("")),
		slog.Int("messages", len(in.Messages)), slog.Any("tools", tools), slog.Int("context", len(in.Context)), slog.Any("resume", answers),
		slog.Int("stateBytes", in.State.Size()), slog.Any("forwardedProps", props), slog.Int("bytes", bytes))
}

// debugObserver is the category session.
type debugObserver struct{ l *DebugLog }

func (o debugObserver) Turn(ctx context.Context, threadID string) (context.Context, func(error)) {
	begun := time.Now()
	o.l.say(DebugSession, "turn begins")
	return ctx, func(err error) { o.ends("turn", begun, err) }
}

func (o debugObserver) Stream(ctx context.Context, in *event.RunInput) (context.Context, StreamObserver) {
	o.l.say(DebugSession, "stream begins", slog.String("run", in.RunID))
	return ctx, &debugStream{o, time.Now(), 0}
}

func (o debugObserver) Tool(ctx context.Context, call *messages.ToolCall) (context.Context, func(messages.Content, error)) {
	begun := time.Now()
	o.l.say(DebugSession, "tool begins", slog.String("call", call.ID), slog.String("name", call.Name), slog.Int("argumentBytes", len(call.Arguments)))
	return ctx, func(_ messages.Content, err error) { o.ends("tool", begun, err, slog.String("call", call.ID)) }
}

// ends logs the end of something.
func (o debugObserver) ends(what string, begun time.Time, err error, attrs ...slog.Attr) {
	attrs = append(attrs, slog.Duration("took", time.Since(begun)))
	if err != nil {
		attrs = append(attrs, slog.String("error", safeError(err)))
	}
	o.l.say(DebugSession, what+" ends", attrs...)
}

// debugStream counts the deliveries of a stream.
type debugStream struct {
	o     debugObserver
	begun time.Time
	n     int
}

func (s *debugStream) Deliver(reducer.Delivery) { s.n++ }

func (s *debugStream) End(err error) {
	s.o.ends("stream", s.begun, err, slog.Int("deliveries", s.n))
}
