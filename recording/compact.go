package recording

import (
	"io"
	"iter"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// CompactOptions configures [Compact] and [CompactEvents]; nil means defaults.
type CompactOptions struct {
	// PassedThrough keeps RAW and CUSTOM events, and the rawEvent of the events that stay. They have no effect on the
	// thread, so they go by default.
	PassedThrough bool
	// OnEvent is called with each event of the recording before it is folded, to show progress or count; or nil.
	OnEvent func(Entry)
	// OnWarning is called with each warning about the recording; nil drops them. The warnings about events that are
	// left out or merged are missing when the result is folded.
	OnWarning func(event.Warning)
}

// Compact yields the entries of a shorter recording with the same fold: the messages, the state, the runs and the
// subagents are the same at the end of each run. Chunks and retired shapes become ordinary events. Nothing is reordered.
//
//   - The deltas of one message, or of the arguments of one call, are merged.
//   - The state's events of a run become one: a patch, or a snapshot if that is shorter. So do those of an activity.
//   - An encrypted value that a later one replaces goes, and so do reasoning spans, events without an effect, and, by
//     default, RAW and CUSTOM.
//   - What a later MESSAGES_SNAPSHOT of the run restates goes, if the thread is then the same. That is tried out.
//
// The order of members in the state may differ. If a stream is rejected, the event at fault stays as it is and what
// came before it is compacted; the ordinal in the error is a lower one, and its rule may be another one.
//
// Compact needs memory for the thread and the compacted run, not for the recording. Nothing else may read from rec.
// Errors are those of [Recording.Entries].
func Compact(rec *Recording, o *CompactOptions) iter.Seq2[Entry, error] {
	if o == nil {
		o = new(CompactOptions)
	}
	return func(yield func(Entry, error) bool) {
		c := &compactor{passed: o.PassedThrough, yield: yield}
		c.folder = NewFolder(rec, &FoldOptions{OnWarning: o.OnWarning, OnEntry: c.entry})
		c.folder.continued = c.headFolded
		c.onEvent = o.OnEvent
		c.base, c.input = c.folder.Thread(), c.folder.rec.Input()
		c.begin()
		for d, err := range c.folder.Deliveries() {
			if err != nil {
				if c.end() {
					yield(Entry{}, err)
				}
				return
			}
			if c.deliver(d); c.stopped {
				return
			}
		}
		c.end()
	}
}

// CompactEvents is [Compact] for a stream of events. The stream may hold several runs. What it yields are frames. An
// error of the stream comes alone and last.
func CompactEvents(events iter.Seq2[event.Event, error], o *CompactOptions) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		next, stop := iter.Pull2(events)
		defer stop()
		rec := &Recording{form: FormLines, src: pulled(next)}
		for e, err := range Compact(rec, o) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(e.Event, nil) {
				return
			}
		}
	}
}

// pulled is a stream of events as a source.
type pulled func() (event.Event, error, bool)

func (p pulled) next() (Entry, error) {
	ev, err, ok := p()
	if !ok {
		return Entry{}, io.EOF
	}
	if err != nil {
		return Entry{}, err
	}
	return Entry{Event: event.FrameOfEvent(ev)}, nil
}

// compactor makes the compacted run at hand: a list of items, in which a later event may change an earlier item.
type compactor struct {
	passed  bool
	yield   func(Entry, error) bool
	stopped bool
	onEvent func(Entry)
	folder  *Folder
	at      Entry // being folded

	base     *reducer.Thread // before the run
	input    *event.RunInput // of the run, if it begins a stream
	rejected bool            // the stream
	hasState bool            // what was yielded sets the state

	first, last *item
	seen        map[messages.Owner]bool // the owners that events of the run were tagged with
	texts       map[entity]*item        // what a delta may be appended to
	secrets     map[entity]*item        // the last encrypted value of a message or call
	activities  map[string]*item        // what holds an activity's content
	state       *item                   // the last event of the state, unless it must stay
	current     state.Value             // the state as it is
	restated    *item                   // the last MESSAGES_SNAPSHOT
	era         *reducer.Thread         // when the run or that snapshot began
	eraContents map[string]state.Value  // of the activities, as they are
}

// entity names something that events of the run are about.
type entity struct {
	kind messages.Kind // KindNone: a tool call
	id   string
}

// begin forgets the run.
func (c *compactor) begin() {
	c.first, c.last, c.state, c.restated = nil, nil, nil, nil
	c.seen = make(map[messages.Owner]bool)
	c.forget()
}

// forget says that what comes must not be merged into what came.
func (c *compactor) forget() {
	c.texts, c.secrets = make(map[entity]*item), make(map[entity]*item)
	c.activities, c.era, c.eraContents = make(map[string]*item), nil, nil
}

// entry sees each entry before it is folded.
func (c *compactor) entry(e Entry) {
	if c.reject(); c.stopped {
		return
	}
	switch c.at = e; {
	case e.Head != nil:
		c.flush()
		c.rejected = false
		c.send(e)
	case e.Err != nil:
		c.flush()
		c.send(e)
	case c.onEvent != nil:
		c.onEvent(e)
	}
}

// headFolded says that the client's changes before a run were folded.
func (c *compactor) headFolded(in *event.RunInput) { c.base, c.input = c.folder.Thread(), in }

// reject keeps the event that a stream was rejected for.
func (c *compactor) reject() {
	if c.folder.reducer.Err() != nil && !c.rejected && c.folder.broke == nil {
		c.rejected = true
		c.add(c.at.Event)
		c.flush()
	}
}

// end sends what is left, and reports whether more may be sent.
func (c *compactor) end() bool {
	if !c.stopped {
		c.reject()
		c.flush()
	}
	return !c.stopped
}

func (c *compactor) send(e Entry) {
	if !c.stopped {
		c.stopped = !c.yield(e, nil)
	}
}

// flush sends the run as it is.
func (c *compactor) flush() {
	if !c.rejected {
		c.elide()
	}
	for it := c.first; it != nil && !c.stopped; it = it.next {
		ev := c.made(it)
		if ev == nil {
			continue
		}
		c.hasState = c.hasState || ev.Type() == event.TypeStateSnapshot || ev.Type() == event.TypeStateDelta
		f := event.FrameOfEvent(ev)
		if !c.passed && f.Err() == nil {
			f = withoutRaw(f)
		}
		c.send(Entry{Event: f, At: it.at, Line: it.line})
	}
	c.begin()
}

// deliver takes note of a delivery, which was folded just now.
func (c *compactor) deliver(d reducer.Delivery) {
	if d.Event == nil {
		return
	}
	if c.era == nil {
		c.era = c.folder.Thread()
	}
	c.place(d)
	if o := d.Event.Owner(); !o.IsParent() {
		c.seen[o] = true
	}
	if d.Change.Kind == reducer.RunEnded {
		c.flush()
		c.base, c.input = c.folder.Thread(), nil
	}
}

// place puts the event of a delivery into the run.
func (c *compactor) place(d reducer.Delivery) {
	switch e := d.Event.(type) {
	case *event.TextMessageStart:
		c.opens(entity{messages.KindText, e.MessageID}, d, e.Metadata)
	case *event.ReasoningMessageStart:
		c.opens(entity{messages.KindReasoning, e.MessageID}, d, e.Metadata)
	case *event.ToolCallStart:
		c.opens(entity{messages.KindNone, e.ToolCallID}, d, e.Metadata)
	case *event.TextMessageContent:
		c.content(entity{messages.KindText, e.MessageID}, d, e.Delta, e.Metadata)
	case *event.ReasoningMessageContent:
		c.content(entity{messages.KindReasoning, e.MessageID}, d, e.Delta, e.Metadata)
	case *event.ToolCallArgs:
		c.content(entity{messages.KindNone, e.ToolCallID}, d, e.Delta, e.Metadata)
	case *event.TextMessageEnd:
		c.add(e)
		delete(c.texts, entity{messages.KindText, e.MessageID})
	case *event.ReasoningMessageEnd:
		c.add(e)
		delete(c.texts, entity{messages.KindReasoning, e.MessageID})
	case *event.ToolCallEnd:
		c.add(e)
		delete(c.texts, entity{messages.KindNone, e.ToolCallID})
	case *event.ReasoningStart, *event.ReasoningEnd:
		c.add(e).span = true
	case *event.ReasoningEncryptedValue:
		c.secret(e, d.Change)
	case *event.StateSnapshot, *event.StateDelta:
		c.stateEvent(e, d.Change)
	case *event.ActivitySnapshot:
		c.activitySnapshot(e, d.Change)
	case *event.ActivityDelta:
		c.activityDelta(e, d.Change)
	case *event.Raw, *event.Custom:
		if c.passed {
			c.add(e)
		} else {
			c.skip(e)
		}
	case *event.MessagesSnapshot:
		c.forget()
		c.era, c.restated = c.folder.Thread(), c.add(e)
	case *event.RunStarted:
		c.current = c.folder.Thread().State
		c.add(e)
	default:
		c.add(e)
	}
}
