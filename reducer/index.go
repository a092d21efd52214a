package reducer

import (
	"maps"

	"github.com/agfold/agfold/messages"
)

// entry is a message as the reducer knows it.
type entry struct {
	msg   *messages.Message
	epoch uint64 // msg may be changed in place while this is the reducer's epoch
	// text grows the message's text; it is in use once appending is set.
	text      buffer
	appending bool
	clipped   bool
	// ord orders the entries as the list does, with gaps to insert into; hint is where the message was
	// last seen.
	ord  uint64
	hint int
	// lastResult is the last tool result known to follow an assistant message.
	lastResult *entry
}

// call is a tool call as the reducer knows it.
type call struct {
	parent     *entry             // the message that holds it
	index      int                // its place there
	tc         *messages.ToolCall // nil once the thread does not hold it any more
	epoch      uint64
	args       buffer
	appending  bool
	clipped    bool
	startedIn  uint64 // the run that started it last
	answeredIn uint64 // the run that its RESULT came in last
	answers    int    // how many tool messages of the thread answer it
	stale      int    // how many of them came before the run that started it again
	broken     bool   // its arguments broke off (P-TOL-5)
}

// lookup is a map that shrinks when most of it was deleted, so that iterating costs no more than its contents.
type lookup[K comparable, V any] struct {
	m    map[K]V
	peak int // the most that m has held since it was made
}

func (l *lookup[K, V]) get(key K) V { return l.m[key] }

func (l *lookup[K, V]) put(key K, v V) {
	if l.m == nil {
		l.m = make(map[K]V)
	}
	l.m[key] = v
	l.peak = max(l.peak, len(l.m))
}

func (l *lookup[K, V]) drop(key K) {
	delete(l.m, key)
	if n := len(l.m); l.peak > 64 && n < l.peak/4 {
		kept := make(map[K]V, n)
		maps.Copy(kept, l.m)
		l.m, l.peak = kept, n
	}
}

const ordGap = 1 << 32

// find returns the entry of the message with this kind and id, or nil if the thread does not hold one.
func (d *draft) find(kind messages.Kind, id string) *entry {
	if d.lastEntry != nil && d.lastKind == kind && d.lastID == id {
		d.lastID = id // the next comparison is then one of pointers, if the decoder gives the same string again
		return d.lastEntry
	}
	e := d.entries[kind].get(id)
	if e != nil {
		d.lastEntry, d.lastKind, d.lastID = e, kind, id
	}
	return e
}

// findKey is find by a message's key.
func (d *draft) findKey(k messages.Key) *entry {
	e := d.find(k.Kind, k.ID)
	if e != nil && k.Kind == messages.KindTool && e.msg.ToolCallID != k.ToolCallID {
		return d.twins.get(k.ID)[k.ToolCallID]
	}
	return e
}

// newEntry returns an entry for a message whose key the thread does not hold. The caller makes it the entry's.
func (d *draft) newEntry(m *messages.Message) *entry {
	var e *entry
	if len(d.room) > 0 {
		e, d.room = &d.room[0], d.room[1:]
	} else {
		e = new(entry)
	}
	kind := m.Kind()
	if d.find(kind, m.ID) != nil { // the result of another call
		if d.twins.get(m.ID) == nil {
			d.twins.put(m.ID, make(map[string]*entry))
		}
		d.twins.get(m.ID)[m.ToolCallID] = e
		return e
	}
	d.entries[kind].put(m.ID, e)
	d.lastEntry, d.lastKind, d.lastID = e, kind, m.ID
	return e
}

// forget removes a message that the thread no longer holds from the indexes.
func (d *draft) forget(e *entry) {
	d.forgetCalls(e)
	d.recount(e, nil)
	d.lastEntry = nil
	id, twins := e.msg.ID, d.twins.get(e.msg.ID)
	switch entries := &d.entries[e.msg.Kind()]; {
	case entries.get(id) != e:
		delete(twins, e.msg.ToolCallID)
	case e.msg.Role != messages.RoleTool || len(twins) == 0:
		entries.drop(id)
	default:
		var next *entry
		for _, twin := range twins {
			if next == nil || twin.ord < next.ord {
				next = twin
			}
		}
		delete(twins, next.msg.ToolCallID)
		entries.put(id, next)
	}
	if twins != nil && len(twins) == 0 {
		d.twins.drop(id)
	}
}

// edit returns the entry's message for the caller to change: the one that is there if no snapshot can hold
// it, else a copy that has taken its place.
func (d *draft) edit(e *entry) *messages.Message {
	if e.epoch == d.epoch {
		return e.msg
	}
	c := *e.msg
	d.list = d.list.Set(d.locate(e), &c)
	e.msg, e.epoch = &c, d.epoch
	return e.msg
}

// locate returns the message's place in the list: usually where it was last seen, otherwise by binary search.
func (d *draft) locate(e *entry) int {
	n := d.order.Len()
	if e.hint < n && d.order.At(e.hint) == e {
		return e.hint
	}
	lo, hi := 0, n
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if d.order.At(mid).ord < e.ord {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	e.hint = lo
	return lo
}

// add appends a message, whose key must be new, to the thread. The epoch is the draft's, or 0 if the message is
// shared.
func (d *draft) add(m *messages.Message, epoch uint64) *entry {
	e := d.newEntry(m)
	e.hint, e.ord = d.list.Len(), d.nextOrd()
	d.list, d.order = d.list.Append(m), d.order.Append(e)
	d.hold(e, m, epoch)
	return e
}

func (d *draft) nextOrd() uint64 {
	d.lastOrd += ordGap
	return d.lastOrd
}

// hold makes m, which is in the list already, the entry's message.
func (d *draft) hold(e *entry, m *messages.Message, epoch uint64) {
	d.become(e, m, epoch)
	d.warnSharedID(m)
	d.indexCalls(e, m)
	if m.Role == messages.RoleTool {
		d.countAnswer(m.ToolCallID, 1)
	}
}

// become makes m the entry's message, with nothing known of its text.
func (d *draft) become(e *entry, m *messages.Message, epoch uint64) {
	d.recount(e, m)
	e.msg, e.epoch = m, epoch
	e.text, e.appending, e.clipped = buffer{}, false, false
}

// recount keeps the records of activities up to date as m takes the place of the entry's message; either may be nil.
func (d *draft) recount(e *entry, m *messages.Message) {
	if old := e.msg; old != nil && old.Role == messages.RoleActivity {
		d.activityBytes -= old.Activity.Size()
		if m == nil || m.ActivityType != old.ActivityType {
			same := d.activities.get(old.ActivityType)
			if same.drop(e); len(same.m) == 0 {
				d.activities.drop(old.ActivityType)
			}
		}
	}
	if m != nil && m.Role == messages.RoleActivity {
		d.activityBytes += m.Activity.Size()
		same := d.activities.get(m.ActivityType)
		if same == nil {
			same = new(lookup[*entry, struct{}])
			d.activities.put(m.ActivityType, same)
		}
		same.put(e, struct{}{})
	}
}

// warnSharedID warns of a message whose id another message has too (P-ID-1).
func (d *draft) warnSharedID(m *messages.Message) {
	for kind := messages.KindText; kind <= messages.KindActivity; kind++ {
		if kind != m.Kind() && d.find(kind, m.ID) != nil {
			d.in.warn("P-ID-1", m.ID, "the id is also that of a message of the kind "+kind.String()+"; each keeps its own")
		}
	}
	if m.Role == messages.RoleTool && d.twins.get(m.ID) != nil {
		d.in.warn("P-ID-1", m.ID, "the id is also that of the result of another tool call than "+quote(m.ToolCallID)+"; each keeps its own")
	}
}

// indexCalls indexes the calls of a message that was not streamed. If several calls share an id, the first one is
// found.
func (d *draft) indexCalls(e *entry, m *messages.Message) {
	for i, tc := range m.ToolCalls.All() {
		c := d.callFor(tc.ID)
		if c.tc != nil {
			continue
		}
		c.parent, c.index, c.tc, c.epoch = e, i, tc, 0
		c.broken = tc.Status == messages.ToolCallBroken
		d.settleAnswer(c)
	}
}

// findCall returns the record of the call with that id, nil if there is none.
func (d *draft) findCall(id string) *call {
	if d.lastCall == nil || d.lastCallID != id {
		d.lastCall = d.calls[id]
	}
	d.lastCallID = id // as in find
	return d.lastCall
}

// callFor returns the record of the call with that id, which it creates if needed.
func (d *draft) callFor(id string) *call {
	c := d.calls[id]
	if c == nil {
		c = new(call)
		d.calls[id] = c
	}
	return c
}

// editCall returns the call for the caller to change, like edit.
func (d *draft) editCall(c *call) *messages.ToolCall {
	if c.epoch == d.epoch {
		return c.tc
	}
	m := d.edit(c.parent)
	copied := *c.tc
	m.ToolCalls = m.ToolCalls.Set(c.index, &copied)
	c.tc, c.epoch = &copied, d.epoch
	return c.tc
}

// insertAfter is add that puts the message after the one at place i.
func (d *draft) insertAfter(i int, m *messages.Message, epoch uint64) *entry {
	if i == d.list.Len()-1 {
		return d.add(m, epoch)
	}
	e := d.newEntry(m)
	before, after := d.order.At(i).ord, d.order.At(i+1).ord
	if after-before < 2 {
		d.renumber()
		before, after = d.order.At(i).ord, d.order.At(i+1).ord
	}
	// Results come one after the other, so most of the room is left after the new one.
	e.ord = before + min((after-before)/2, ordGap>>20)
	e.hint = i + 1
	d.list, d.order = d.list.Insert(i+1, m), d.order.Insert(i+1, e)
	if first := d.find(m.Kind(), m.ID); e.ord < first.ord { // of results with one id the first is found
		twins := d.twins.get(m.ID)
		delete(twins, m.ToolCallID)
		twins[first.msg.ToolCallID] = first
		d.entries[m.Kind()].put(m.ID, e)
		d.lastEntry = nil
	}
	d.hold(e, m, epoch)
	return e
}

// renumber spaces the entries out again when a gap between two is used up.
func (d *draft) renumber() {
	d.lastOrd = 0
	for i, e := range d.order.All() {
		e.ord, e.hint = d.nextOrd(), i
	}
}

// adopt adds the messages of the run's input that the thread does not hold (P-MSG-3).
func (d *draft) adopt(msgs []*messages.Message) {
	var results []*messages.Message
	for _, m := range msgs {
		d.nodeFor(m.Owner)
		d.verifier.ownNew(namespaceOf[m.Kind()], m.ID, m.Owner)
		for _, tc := range m.ToolCalls.All() {
			d.verifier.ownNew(toolCalls, tc.ID, m.Owner)
		}
		if d.findKey(m.Key()) != nil {
			continue
		}
		d.add(still(m), 0)
		if m.Role == messages.RoleTool {
			if results = append(results, m); d.calls[m.ToolCallID].answers > 1 {
				d.warnSecondResult(m)
			}
		}
	}
	for _, m := range results {
		if d.calls[m.ToolCallID].tc == nil {
			d.warnNoCall(m)
		}
	}
}

// countAnswer notes that the thread holds n tool messages more that answer the call.
func (d *draft) countAnswer(id string, n int) {
	c := d.callFor(id)
	c.answers += n
	if c.tc == nil {
		d.loose(id)
	}
	d.settleAnswer(c)
}

// answered reports whether a call has an answer, one that is not stale.
func (c *call) answered() bool { return c.answers > c.stale }

// settleAnswer sets the call's status according to whether it is answered.
func (d *draft) settleAnswer(c *call) {
	if c.tc != nil && c.answered() != (c.tc.Status == messages.ToolCallAnswered) {
		d.editCall(c).Status = d.statusOf(c, c.tc.ID)
	}
}

// statusOf returns the status of a call, from verification and the tool messages.
func (d *draft) statusOf(c *call, id string) messages.ToolCallStatus {
	switch {
	case c.answered():
		return messages.ToolCallAnswered
	case d.verifier.isOpen(toolCalls, id):
		return messages.ToolCallStreaming
	case c.broken:
		return messages.ToolCallBroken
	}
	return messages.ToolCallComplete
}

// loose marks a call that is in no message for the next sweep.
func (d *draft) loose(id string) {
	if d.goneCalls == nil {
		d.goneCalls = make(map[string]struct{})
	}
	d.goneCalls[id] = struct{}{}
}
