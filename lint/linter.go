package lint

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// Options configures a [Linter]; nil means defaults.
type Options struct {
	// Off are the codes of checks to leave out, and Only, if there are any, the only ones to make.
	Off, Only []string
	// MaxFindings bounds the findings of one check; the rest is counted in the last one. 0 means 20.
	MaxFindings int
	// MaxGap is the longest time that may pass between two events of a run; 0 means 30 seconds.
	MaxGap time.Duration
	// MaxStateBytes is the largest state in bytes of JSON; 0 means 1 MiB.
	MaxStateBytes int
	// MinDeltas is how many deltas a text must have before their lengths are judged; 0 means 40.
	MinDeltas int
	// OnEvent, if not nil, is called by Recording with the number of events so far. If it returns false, Recording stops
	// with what was found so far.
	OnEvent func(n int) bool
	// MinSnapshots is how many snapshots a run must have before their share is judged; 0 means 8.
	MinSnapshots int
	// Capabilities is what the agent declares about itself, nil if that is not known (P-CAP-2).
	Capabilities *event.Capabilities
}

// Finding is something that an agent's author likely did not mean.
type Finding struct {
	Code    string
	Level   Level
	Ordinal int    // the place of the event in the stream, counted from 1; 0 if it is about no event
	Type    string // the event's type, "" if it is about no event
	ID      string // of the message, call, step, subagent or run that it is about, or a path, or ""
	Text    string // what was found, a sentence
	More    int    // how many findings of this check are left out after this one
}

// String returns the finding in one line.
func (f Finding) String() string {
	s := string(f.Level) + " " + f.Code
	if f.Ordinal > 0 {
		s += fmt.Sprintf(" event %d %s", f.Ordinal, f.Type)
	}
	s += ": " + f.Text
	if f.More > 0 {
		s += fmt.Sprintf(" (and %d more)", f.More)
	}
	return s
}

// A Linter lints one stream, which may hold several runs. For each event call [Linter.Event] and, for each of its
// deliveries, [Linter.Deliver]; at the end call [Linter.End]. It needs memory for the ids of a run and a few bytes for each
// message of the thread. It is for one goroutine at a time.
type Linter struct {
	o        Options
	on       map[string]bool
	findings []Finding
	count    map[string]int
	last     map[string]int // the place of a check's last finding

	seed     maphash.Seed
	raw      event.Event
	at       time.Duration
	timed    bool
	stateMax bool
	runIDs   map[string]bool
	texts    map[string]uint64   // what assistant messages say, by id
	callRuns map[string]int      // the run that a call came in
	owners   map[string]struct{} // text messages of the parent agent

	run       int
	events    int
	snapshots int
	begun     map[string]bool // messages that the run started
	calls     []string
	answered  map[string]bool
	deltas    map[opened]*deltaCount
	announced map[messages.Owner]bool
	before    state.Value
	against   *event.Contradictions
}

type deltaCount struct{ n, size int }

// New returns a Linter for one stream.
func New(o *Options) *Linter {
	l := &Linter{on: make(map[string]bool), count: make(map[string]int), last: make(map[string]int), seed: maphash.MakeSeed()}
	if o != nil {
		l.o = *o
	}
	l.o.MaxFindings = cmp.Or(l.o.MaxFindings, 20)
	l.o.MaxGap = cmp.Or(l.o.MaxGap, 30*time.Second)
	l.o.MaxStateBytes = cmp.Or(l.o.MaxStateBytes, 1<<20)
	l.o.MinDeltas = cmp.Or(l.o.MinDeltas, 40)
	l.o.MinSnapshots = cmp.Or(l.o.MinSnapshots, 8)
	for _, c := range checks {
		l.on[c.Code] = (len(l.o.Only) == 0 || slices.Contains(l.o.Only, c.Code)) && !slices.Contains(l.o.Off, c.Code)
	}
	l.against = l.o.Capabilities.Contradictions()
	l.runIDs, l.texts, l.callRuns, l.owners = make(map[string]bool), make(map[string]uint64), make(map[string]int), make(map[string]struct{})
	l.beginRun()
	return l
}

func (l *Linter) beginRun() {
	l.events, l.snapshots, l.calls = 0, 0, nil
	l.begun, l.answered, l.deltas = make(map[string]bool), make(map[string]bool), make(map[opened]*deltaCount)
	l.announced = make(map[messages.Owner]bool)
}

// Findings returns the findings so far, in the order of the stream. The caller must not change them.
func (l *Linter) Findings() []Finding { return l.findings }

// find notes a finding.
func (l *Linter) find(code string, ordinal int, typ, id, format string, args ...any) {
	if !l.on[code] {
		return
	}
	if l.count[code]++; l.count[code] > l.o.MaxFindings {
		l.findings[l.last[code]].More++
		return
	}
	c, _ := CheckOf(code)
	l.last[code] = len(l.findings)
	l.findings = append(l.findings, Finding{
		Code: code, Level: c.Level, Ordinal: ordinal, Type: typ, ID: id, Text: fmt.Sprintf(format, args...),
	})
}

// Event notes an event as it came, before it is folded, and when it came since its run's start; a negative time is not
// known.
func (l *Linter) Event(ev event.Event, ordinal int, at time.Duration) {
	l.raw = ev
	if at >= 0 {
		if gap := at - l.at; l.timed && gap > l.o.MaxGap {
			l.find("gap", ordinal, typeName(ev), "", "nothing came for %s before it", gap.Round(time.Millisecond))
		}
		l.at, l.timed = at, true
	}
}

// Head says that another stream continues the thread: the next run of a recording. Times count from its start.
func (l *Linter) Head() { l.timed = false }

// typeName returns the type of an event as it came.
func typeName(ev event.Event) string {
	if f, ok := ev.(event.Frame); ok {
		return f.TypeName()
	}
	return ev.Type().String()
}

// Deliver notes a delivery of the event noted last. thread returns the thread right after it; it is called only when it is
// needed.
func (l *Linter) Deliver(d reducer.Delivery, thread func() *reducer.Thread) {
	l.warnings(d, thread)
	if d.Event == nil {
		return
	}
	l.events++
	typ := d.Event.Type().String()
	l.owner(d, typ)
	for _, w := range l.against.Of(d.Event) {
		l.find("capability-denied", d.Ordinal, typ, w.Path, "%s", w.Text)
	}
	switch e := d.Event.(type) {
	case *event.RunStarted:
		l.beginRun()
		l.events = 1
		if l.run++; l.runIDs[e.RunID] {
			l.find("run-id-reused", d.Ordinal, typ, e.RunID, "the id %q is that of an earlier run", e.RunID)
		}
		l.runIDs[e.RunID] = true
		l.before = thread().State
	case *event.RunFinished:
		l.finished(e, d.Ordinal)
	case *event.RunError:
		l.ended(d.Ordinal, typ, e.Usage == nil)
		if run := thread().LastRun(); run != nil {
			l.unfinished(run, d.Ordinal, typ)
		}
	case *event.TextMessageStart:
		l.start(d, typ, e.MessageID)
		if e.SubagentRunID.IsParent() && d.Change.Kind == reducer.MessageAdded {
			l.owners[e.MessageID] = struct{}{}
		}
	case *event.ReasoningMessageStart:
		l.start(d, typ, e.MessageID)
	case *event.TextMessageContent:
		l.delta(d, typ, e.MessageID, e.Delta, e.Metadata)
	case *event.ReasoningMessageContent:
		l.delta(d, typ, e.MessageID, e.Delta, e.Metadata)
	case *event.ToolCallArgs:
		l.delta(d, typ, e.ToolCallID, e.Delta, e.Metadata)
	case *event.TextMessageEnd:
		l.end(d, typ, e.MessageID)
		if m := at(thread(), d.Change.Index); m != nil && m.Role == messages.RoleAssistant && m.Text() != "" {
			l.texts[m.ID] = maphash.String(l.seed, m.Text())
		}
	case *event.ReasoningMessageEnd:
		l.end(d, typ, e.MessageID)
	case *event.ToolCallStart:
		if d.Change.Kind == reducer.ToolCallReopened {
			l.find("call-restated", d.Ordinal, typ, e.ToolCallID, "the call %q (%s) was started before", e.ToolCallID, e.ToolCallName)
		} else {
			l.callRuns[e.ToolCallID] = l.run
		}
		l.calls = append(l.calls, e.ToolCallID)
	case *event.ToolCallEnd:
		l.end(d, typ, e.ToolCallID)
		if m := at(thread(), d.Change.Index); m != nil && d.Change.Call < m.ToolCalls.Len() {
			args := m.ToolCalls.At(d.Change.Call).Arguments
			if _, err := state.Parse([]byte(args)); err != nil && args != "" {
				l.find("arguments-not-json", d.Ordinal, typ, e.ToolCallID, "the arguments of %q: %v", e.ToolCallID, err)
			}
		}
	case *event.ToolCallResult:
		if run, known := l.callRuns[e.ToolCallID]; known && run != l.run {
			l.find("result-late", d.Ordinal, typ, e.ToolCallID, "the call %q was made %d runs before", e.ToolCallID, l.run-run)
		}
		if d.Change.Kind == reducer.MessageReplaced {
			l.find("result-twice", d.Ordinal, typ, e.ToolCallID, "the result %q of the call %q is sent again", e.MessageID, e.ToolCallID)
		}
		l.answered[e.ToolCallID] = true
	case *event.StateSnapshot:
		l.snapshots++
		now := thread().State
		if l.before.Equal(now) {
			l.find("snapshot-same", d.Ordinal, typ, "", "the state is the same as before")
		}
		l.stateIs(now, d.Ordinal, typ)
	case *event.StateDelta:
		l.roots(e.Delta, d, typ, "the state")
		l.stateIs(thread().State, d.Ordinal, typ)
	case *event.ActivityDelta:
		l.roots(e.Patch, d, typ, fmt.Sprintf("the activity %q", e.MessageID))
	case *event.MessagesSnapshot:
		l.snapshots++
		l.restated(e, d.Ordinal, typ)
	case *event.SubagentStarted:
		l.announced[e.SubagentRunID] = true
	}
}

func at(th *reducer.Thread, i int) *messages.Message {
	if i < 0 || i >= th.Messages.Len() {
		return nil
	}
	return th.Messages.At(i)
}

// owner judges the tag of an event.
func (l *Linter) owner(d reducer.Delivery, typ string) {
	o := d.Event.Owner()
	id, tagged := o.RunID()
	if !tagged {
		return
	}
	if _, isStart := d.Event.(*event.SubagentStarted); !isStart && !l.announced[o] {
		l.announced[o] = true
		l.find("subagent-unannounced", d.Ordinal, typ, id, "the subagent %q was not announced in this run", id)
	}
	f, ok := l.raw.(event.Frame)
	if !ok || !f.Owner().IsParent() {
		return
	}
	switch f.Type() {
	case event.TypeTextMessageChunk, event.TypeReasoningMessageChunk:
		if !f.Value().Get("messageId").Exists() {
			l.find("lane-ambiguous", d.Ordinal, f.TypeName(), id, "the chunk names nothing and continues what the subagent %q streams", id)
		}
	case event.TypeToolCallChunk:
		if !f.Value().Get("toolCallId").Exists() {
			l.find("lane-ambiguous", d.Ordinal, f.TypeName(), id, "the chunk names nothing and continues what the subagent %q streams", id)
		}
	}
}

// start judges a START.
func (l *Linter) start(d reducer.Delivery, typ, id string) {
	key := typ + id
	if l.begun[key] {
		l.find("id-reused", d.Ordinal, typ, id, "the message %q was complete, and is opened again", id)
	}
	l.begun[key] = true
}

// opened is a text, reasoning message or call that is open. Each kind has ids of its own (P-VER-2).
type opened struct{ kind, id string }

// kindOf returns what the type of an event of an open text or call begins with.
func kindOf(typ string) string {
	i := strings.LastIndexByte(typ, '_')
	return typ[:max(i, 0)]
}

// delta judges a delta.
func (l *Linter) delta(d reducer.Delivery, typ, id, delta string, meta messages.Metadata) {
	if delta == "" && !meta.Exists() {
		l.find("delta-empty", d.Ordinal, typ, id, "a delta of %q is empty", id)
	}
	key := opened{kindOf(typ), id}
	c := l.deltas[key]
	if c == nil {
		c = new(deltaCount)
		l.deltas[key] = c
	}
	c.n++
	c.size += utf8.RuneCountInString(delta)
}

// end judges the deltas of a text that is complete.
func (l *Linter) end(d reducer.Delivery, typ, id string) {
	key := opened{kindOf(typ), id}
	if c := l.deltas[key]; c != nil {
		if c.n >= l.o.MinDeltas && c.size*2 <= c.n*3 {
			l.find("delta-tiny", d.Ordinal, typ, id, "%d characters of %q came in %d deltas", c.size, id, c.n)
		}
		delete(l.deltas, key)
	}
}

// roots finds operations that replace a whole document.
func (l *Linter) roots(patch state.Patch, d reducer.Delivery, typ, what string) {
	for _, op := range patch {
		if op.Path == "" && (op.Kind == state.OpAdd || op.Kind == state.OpReplace) {
			l.find("patch-root", d.Ordinal, typ, "", "the patch replaces the whole of %s", what)
			return
		}
	}
}

// stateIs notes the state.
func (l *Linter) stateIs(now state.Value, ordinal int, typ string) {
	l.before = now
	large := now.Size() > l.o.MaxStateBytes
	if large && !l.stateMax {
		l.find("state-grows", ordinal, typ, "", "the state has %d bytes", now.Size())
	}
	l.stateMax = large
}

// restated judges a MESSAGES_SNAPSHOT.
func (l *Linter) restated(e *event.MessagesSnapshot, ordinal int, typ string) {
	held := make(map[string]bool, len(e.Messages))
	for _, m := range e.Messages {
		held[m.ID] = true
	}
	gone := make(map[uint64]string)
	for id, text := range l.texts {
		if !held[id] {
			gone[text] = id
			delete(l.texts, id)
		}
	}
	for _, m := range e.Messages {
		if _, ours := l.owners[m.ID]; ours && !m.Owner.IsParent() {
			id, _ := m.Owner.RunID()
			l.find("owner-claimed", ordinal, typ, m.ID, "the message %q was streamed without a tag and is now of the subagent %q", m.ID, id)
			delete(l.owners, m.ID)
		}
		if m.Role != messages.RoleAssistant || m.Text() == "" {
			continue
		}
		text := maphash.String(l.seed, m.Text())
		if _, known := l.texts[m.ID]; !known && gone[text] != "" {
			l.find("id-unstable", ordinal, typ, m.ID, "what was streamed as %q is now %q", gone[text], m.ID)
		}
		l.texts[m.ID] = text
	}
}

// finished judges the end of a run that finishes.
func (l *Linter) finished(e *event.RunFinished, ordinal int) {
	typ := e.Type().String()
	l.ended(ordinal, typ, e.Usage == nil)
	if e.Outcome.Type == event.OutcomeCancelled {
		return
	}
	named := make(map[string]bool)
	for _, id := range e.Outcome.PendingToolCallIDs {
		named[id] = true
	}
	for _, in := range e.Outcome.Interrupts {
		named[in.ToolCallID.Or("")] = true
	}
	for _, id := range l.calls {
		if !l.answered[id] && !named[id] {
			l.find("call-unanswered", ordinal, typ, id, "the call %q has no result, and the outcome does not name it", id)
		}
	}
}

// ended judges the end of a run.
func (l *Linter) ended(ordinal int, typ string, noUsage bool) {
	if noUsage {
		l.find("usage-missing", ordinal, typ, "", "the run does not tell its usage")
	}
	if l.snapshots >= l.o.MinSnapshots && l.snapshots*4 >= l.events {
		l.find("snapshot-flood", ordinal, typ, "", "%d of the run's %d events are snapshots", l.snapshots, l.events)
	}
}

func (l *Linter) unfinished(run *reducer.Run, ordinal int, typ string) {
	for _, s := range run.Steps.All() {
		if !s.Finished {
			l.find("step-unfinished", ordinal, typ, s.Name, "the step %q was never finished", s.Name)
		}
	}
}

// End says that the stream has ended, with its final thread, whose last run says how.
func (l *Linter) End(th *reducer.Thread) {
	run := th.LastRun()
	if run == nil {
		return
	}
	ordinal, typ := 0, ""
	switch run.Status {
	case reducer.Rejected:
		ordinal, typ = place(run.Err)
		l.find("rejected", ordinal, typ, run.ID, "%v", run.Err)
	case reducer.Truncated:
		l.find("truncated", ordinal, typ, run.ID, "%v", run.Err)
		l.unfinished(run, ordinal, typ)
	}
}
