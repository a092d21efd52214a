package reducer

import "github.com/agfold/agfold/messages"

// follow makes t, the draft's thread as its client has changed it between runs, the draft's. It costs what differs. It
// returns false, and leaves the draft useless, if a new one for t costs less or is the only way.
func (d *draft) follow(t *Thread) bool {
	if t.Status() == Running || !messages.Same(d.nodes, t.Subagents.nodes) {
		return false
	}
	touched := make(map[string]bool) // calls whose record may be out of date
	for _, th := range []*Thread{{Runs: d.runs}, t} {
		for _, id := range th.PendingToolCallIDs() {
			touched[id] = true
		}
	}
	var replaced []int
	same := min(d.list.Len(), t.Messages.Len())
	for i := range messages.Diff(d.list, t.Messages) {
		if !sameKeys(d.list.At(i), t.Messages.At(i)) {
			same = i
			break
		}
		replaced = append(replaced, i)
	}
	if work := d.list.Len() - same + t.Messages.Len() - same + len(replaced); work > fewMessages && work > same {
		return false
	}
	d.truncate(same, touched)
	d.list = t.Messages
	for _, i := range replaced {
		d.replace(i, touched)
	}
	for i, m := range t.Messages.From(same) {
		if d.findKey(m.Key()) != nil {
			return false // this thread was not made by a reducer
		}
		e := d.newEntry(m)
		e.hint, e.ord = i, d.nextOrd()
		d.order = d.order.Append(e)
		d.become(e, d.stillAt(i), 0)
		if m.Role == messages.RoleTool {
			d.callFor(m.ToolCallID).answers++
			touched[m.ToolCallID] = true
		}
	}
	for id := range touched {
		if c := d.calls[id]; c != nil {
			c.stale = 0
		}
	}
	for _, id := range t.PendingToolCallIDs() {
		if c := d.calls[id]; c != nil {
			c.stale = c.answers
		}
	}
	for _, e := range d.order.From(same) { // when all answers are known
		d.indexCalls(e, e.msg)
	}
	for id := range touched {
		if c := d.calls[id]; c != nil && c.tc != nil {
			c.broken = c.tc.Status == messages.ToolCallBroken
			d.settleAnswer(c)
		}
	}
	d.takeRest(t)
	d.sweep()
	return true
}

// truncate forgets the messages from this place on, all but their places in the list.
func (d *draft) truncate(same int, touched map[string]bool) {
	for i := d.order.Len() - 1; i >= same; i-- {
		e := d.order.At(i)
		if e.msg.Role == messages.RoleTool {
			touched[e.msg.ToolCallID] = true
		}
		d.uncount(e.msg)
		d.forget(e)
		d.order = d.order.Remove(i)
	}
	for i := same - 1; i >= 0; i-- { // the results of the last one that stays may be among them
		if e := d.order.At(i); e.msg.Role != messages.RoleTool {
			e.lastResult = nil
			break
		}
	}
}

// replace makes the message at this place of the list, which has the same keys, that of its entry.
func (d *draft) replace(i int, touched map[string]bool) {
	e := d.order.At(i)
	m := d.stillAt(i)
	d.become(e, m, 0)
	for j, tc := range m.ToolCalls.All() {
		if c := d.calls[tc.ID]; c.parent == e && c.index == j {
			c.tc, c.epoch = tc, 0
			c.args, c.appending, c.clipped = buffer{}, false, false
			touched[tc.ID] = true
		}
	}
}

// stillAt returns the message at this place of the list, in which it puts it, as one that nothing more comes for.
func (d *draft) stillAt(i int) *messages.Message {
	m := d.list.At(i)
	s := still(m)
	if s != m {
		d.list = d.list.Set(i, s)
	}
	return s
}
