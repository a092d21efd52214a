package reducer

import (
	"github.com/agfold/agfold/messages"
)

// namespace is one of the four kinds of thing that are opened and closed (P-VER-2).
type namespace uint8

const (
	textMessages namespace = iota
	reasoningMessages
	reasoningSpans
	toolCalls
	numNamespaces
)

var namespaceNames = [numNamespaces]string{"text message", "reasoning message", "reasoning span", "tool call"}

// lifetime is what verification knows of one entity. It holds for the run whose number it names, so a new
// run starts with nothing open and no owners remembered (P-VER-1).
type lifetime struct {
	openIn  uint64 // the run that it is open in
	ownedIn uint64 // the run that knows its owner
	opened  uint64 // when it was opened, to name the first one that is still open
	owner   messages.Owner
}

// own records the entity's owner for the current run.
func (l *lifetime) own(run uint64, owner messages.Owner) { l.owner, l.ownedIn = owner, run }

// entry is a message as the reducer knows it.
type entry struct {
	lifetime
	msg   *messages.Message // nil once the thread does not hold it any more
	epoch uint64            // msg may be changed in place while this is the reducer's epoch
	// text grows the message's text; it is in use once appending is set.
	text      buffer
	appending bool
	clipped   bool
	partsIn   uint64 // the parts of msg's content, if it has any, may be changed in place during this epoch
	// ord orders the entries as the list does, with gaps to insert into; hint is where the message was
	// last seen.
	ord  uint64
	hint int
	// lastResult is the last tool result known to follow an assistant message.
	lastResult *entry
}

// call is a tool call as the reducer knows it.
type call struct {
	lifetime
	parent     *entry             // the message that holds it
	index      int                // its place there
	tc         *messages.ToolCall // nil once the thread does not hold it any more
	epoch      uint64
	args       buffer
	appending  bool
	clipped    bool
	startedIn  uint64 // the run that started it
	answeredIn uint64 // the run that its RESULT came in
	answers    int    // how many tool messages of the thread answer it
	stale      int    // how many of them answered it before this run started it again
}

const ordGap = 1 << 32

// find returns the entry of a message that the thread holds, or of which this run knows the owner; nil if none.
func (r *Reducer) find(kind messages.Kind, id string) *entry {
	if r.lastEntry != nil && r.lastKind == kind && r.lastID == id {
		return r.lastEntry
	}
	e := r.entries[kind][id]
	if e == nil && len(r.gone) > 0 {
		e = r.gone[messageKey{kind, id}]
	}
	if e != nil {
		r.lastEntry, r.lastKind, r.lastID = e, kind, id
	}
	return e
}

// held is find for messages that the thread holds now.
func (r *Reducer) held(kind messages.Kind, id string) *entry {
	if e := r.find(kind, id); e != nil && e.msg != nil {
		return e
	}
	return nil
}

// entryFor returns the entry of that kind and id, made if need be.
func (r *Reducer) entryFor(kind messages.Kind, id string) *entry {
	e := r.find(kind, id)
	if e == nil {
		if len(r.room) > 0 {
			e, r.room = &r.room[0], r.room[1:]
		} else {
			e = new(entry)
		}
		r.keep(kind, id, e)
	}
	return e
}

// keep puts an entry where those of messages that the thread holds, or is about to hold, are found.
func (r *Reducer) keep(kind messages.Kind, id string, e *entry) {
	if r.entries[kind] == nil {
		r.entries[kind] = make(map[string]*entry)
	}
	r.entries[kind][id] = e
	r.lastEntry, r.lastKind, r.lastID = e, kind, id
}

// edit returns the entry's message for the caller to change: the one that is there if no snapshot can hold
// it, else a copy that has taken its place.
func (r *Reducer) edit(e *entry) *messages.Message {
	if e.epoch == r.epoch {
		return e.msg
	}
	c := *e.msg
	r.list = r.list.Set(r.locate(e), &c)
	e.msg, e.epoch = &c, r.epoch
	return e.msg
}

// locate returns the message's place in the list: mostly where it was last seen, else by binary search.
func (r *Reducer) locate(e *entry) int {
	n := r.list.Len()
	if e.hint < n && r.list.At(e.hint) == e.msg {
		return e.hint
	}
	lo, hi := 0, n
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		m := r.list.At(mid)
		if r.entries[m.Kind()][m.ID].ord < e.ord {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	e.hint = lo
	return lo
}

// add appends a message to the thread as the entry's. The epoch is the reducer's, or 0 if somebody else
// holds the message too.
func (r *Reducer) add(e *entry, m *messages.Message, epoch uint64) {
	e.hint = r.list.Len()
	e.ord = r.nextOrd()
	r.list = r.list.Append(m)
	r.hold(e, m, epoch)
}

func (r *Reducer) nextOrd() uint64 {
	r.lastOrd += ordGap
	return r.lastOrd
}

// hold makes m, which is in the list already, the entry's message.
func (r *Reducer) hold(e *entry, m *messages.Message, epoch uint64) {
	r.regain(e, m)
	e.become(m, epoch)
	r.warnSharedID(m)
	r.indexCalls(e, m)
	if m.Role == messages.RoleTool {
		r.countAnswer(m.ToolCallID, 1)
	}
}

// regain puts an entry whose message a snapshot had dropped back among those of the messages that the thread holds.
func (r *Reducer) regain(e *entry, m *messages.Message) {
	if k := keyOf(m); len(r.gone) > 0 && r.gone[k] == e {
		delete(r.gone, k)
		r.keep(k.kind, k.id, e)
	}
}

// become makes m the entry's message, with nothing known of its text.
func (e *entry) become(m *messages.Message, epoch uint64) {
	e.msg, e.epoch = m, epoch
	e.text, e.appending, e.clipped, e.partsIn = buffer{}, false, false, 0
}

// warnSharedID warns of a message whose id a message of another kind has too (P-ID-1).
func (r *Reducer) warnSharedID(m *messages.Message) {
	for kind := messages.KindText; kind <= messages.KindActivity; kind++ {
		if kind != m.Kind() && r.held(kind, m.ID) != nil {
			r.warn("P-ID-1", m.ID, "the id is also that of a "+kind.String()+" message; each keeps its own")
		}
	}
}

// indexCalls makes the calls of a message that came whole findable. Of several calls with one id the first
// is the one that is meant.
func (r *Reducer) indexCalls(e *entry, m *messages.Message) {
	for i, tc := range m.ToolCalls.All() {
		c := r.callFor(tc.ID)
		if c.tc != nil {
			continue
		}
		c.parent, c.index, c.tc, c.epoch = e, i, tc, 0
		r.settleAnswer(c)
	}
}

// callFor returns the record of the call with that id, made if need be.
func (r *Reducer) callFor(id string) *call {
	c := r.calls[id]
	if c == nil {
		c = new(call)
		r.calls[id] = c
	}
	return c
}

// editCall returns the call for the caller to change, like edit.
func (r *Reducer) editCall(c *call) *messages.ToolCall {
	if c.epoch == r.epoch {
		return c.tc
	}
	m := r.edit(c.parent)
	copied := *c.tc
	m.ToolCalls = m.ToolCalls.Set(c.index, &copied)
	c.tc, c.epoch = &copied, r.epoch
	return c.tc
}

// insertAfter puts a message behind the one at place i as the entry's.
func (r *Reducer) insertAfter(i int, e *entry, m *messages.Message) {
	if i == r.list.Len()-1 {
		r.add(e, m, r.epoch)
		return
	}
	before, after := r.ordAt(i), r.ordAt(i+1)
	if after-before < 2 {
		r.renumber()
		before, after = r.ordAt(i), r.ordAt(i+1)
	}
	// Results come one behind the other, so the room is left mostly behind the new one.
	e.ord = before + min((after-before)/2, ordGap>>20)
	e.hint = i + 1
	r.list = r.list.Insert(i+1, m)
	r.hold(e, m, r.epoch)
}

func (r *Reducer) ordAt(i int) uint64 {
	m := r.list.At(i)
	return r.entries[m.Kind()][m.ID].ord
}

// renumber spaces the entries out again when a gap between two is used up.
func (r *Reducer) renumber() {
	r.lastOrd = 0
	for i, m := range r.list.All() {
		e := r.entries[m.Kind()][m.ID]
		e.ord, e.hint = r.nextOrd(), i
	}
}

// adopt adds a message that the run's input brought along, unless the thread holds it (P-MSG-3).
func (r *Reducer) adopt(m *messages.Message) {
	r.nodeFor(m.Owner)
	e := r.entryFor(m.Kind(), m.ID)
	if e.ownedIn != r.run.seq {
		e.own(r.run.seq, m.Owner)
	}
	for _, tc := range m.ToolCalls.All() {
		c := r.callFor(tc.ID)
		if c.ownedIn != r.run.seq {
			c.own(r.run.seq, m.Owner)
		}
		if c.tc == nil {
			r.loose(tc.ID)
		}
	}
	if e.msg == nil {
		r.add(e, whole(m), 0)
	}
}

// countAnswer notes that the thread holds n tool messages more that answer the call.
func (r *Reducer) countAnswer(id string, n int) {
	c := r.callFor(id)
	c.answers += n
	if c.tc == nil {
		r.loose(id)
	}
	r.settleAnswer(c)
}

// settleAnswer makes the call's status tell whether a tool message answers it.
func (r *Reducer) settleAnswer(c *call) {
	if c.tc != nil && (c.answers > 0) != (c.tc.Status == messages.ToolCallAnswered) {
		r.editCall(c).Status = r.statusOf(c)
	}
}

// statusOf is the status of a call as verification and the tool messages tell it.
func (r *Reducer) statusOf(c *call) messages.ToolCallStatus {
	switch {
	case c.answers > 0:
		return messages.ToolCallAnswered
	case c.openIn == r.run.seq:
		return messages.ToolCallStreaming
	}
	return messages.ToolCallComplete
}

// loose marks a call that no message holds for the next sweep.
func (r *Reducer) loose(id string) {
	if r.goneCalls == nil {
		r.goneCalls = make(map[string]struct{})
	}
	r.goneCalls[id] = struct{}{}
}
