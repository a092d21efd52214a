package reducer

import (
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// Changes says how a thread differs from another snapshot of the same conversation, for a UI that redraws only
// those rows. The zero Changes means no difference.
type Changes struct {
	// Rows says which messages came and went: at the place Splice.At of the older thread, Splice.Inserted messages
	// replaced Splice.Removed ones. Appended messages are the common case. All other messages are in both threads,
	// those after the splice at places shifted by Inserted - Removed.
	Rows Splice
	// Messages are the places, in the newer thread and ascending, of the messages that are in both and
	// differ.
	Messages []int
	// ToolCalls are the calls of those messages that are new or differ, by their places in the newer thread. A message
	// that has lost calls is among Messages.
	ToolCalls []ToolCallPlace
	// State turns the older state into the newer one; it is empty if they are equal.
	State state.Patch
	// Runs and Subagents are those that are new or differ, by their places in Thread.Runs and in
	// [Subagents.All], ascending.
	Runs      []int
	Subagents []int
	// RunsGone and SubagentsGone are how many at the end of the older thread are missing in the newer one. That happens
	// when a UI goes back to an earlier snapshot.
	RunsGone      int
	SubagentsGone int
	// Interrupts reports whether other interrupts pend.
	Interrupts bool
}

// Splice is a change of a list's length: at the place At of the older list, Inserted elements replaced Removed ones.
type Splice struct{ At, Removed, Inserted int }

// ToolCallPlace is a call's place: the message's in its thread, and the call's in the message.
type ToolCallPlace struct{ Message, Call int }

// Any reports whether anything differs.
func (c *Changes) Any() bool {
	return c.Rows != Splice{} || len(c.Messages) > 0 || len(c.State) > 0 || len(c.Runs) > 0 || c.RunsGone > 0 ||
		len(c.Subagents) > 0 || c.SubagentsGone > 0 || c.Interrupts
}

// ChangesSince returns how the thread differs from older, another snapshot of the same conversation; nil is the empty
// thread. It works in both directions: with a later snapshot as older, the result leads back to t. What the two
// share is skipped, so the cost depends on the changes. For changes within an array of the state, see [state.Diff].
func (t *Thread) ChangesSince(older *Thread) Changes {
	if older == nil {
		older = new(Thread)
	}
	var c Changes
	if t == older {
		return c
	}
	c.rows(older.Messages, t.Messages)
	if !state.Same(older.State, t.State) {
		from := older.State
		if !from.Exists() {
			from = state.Object()
		}
		c.State = state.Diff(from, t.State)
	}
	c.Runs, c.RunsGone = changedPlaces(older.Runs, t.Runs), max(0, older.Runs.Len()-t.Runs.Len())
	c.Subagents = changedPlaces(older.Subagents.nodes, t.Subagents.nodes)
	c.SubagentsGone = max(0, older.Subagents.Len()-t.Subagents.Len())
	c.Interrupts = len(older.Interrupts) != len(t.Interrupts) ||
		len(t.Interrupts) > 0 && &older.Interrupts[0] != &t.Interrupts[0]
	return c
}

// rows fills in the changes of messages. It compares from the front to the first place with a different message, then
// from the end.
func (c *Changes) rows(older, newer messages.List[*messages.Message]) {
	shorter := min(older.Len(), newer.Len())
	front := shorter
	for i := range messages.Diff(older, newer) {
		if !sameRow(older.At(i), newer.At(i)) {
			front = i
			break
		}
		c.message(older.At(i), newer.At(i), i)
	}
	back := shorter - front
	if back > 0 || older.Len() != newer.Len() {
		var after []int
		if back > 0 {
			for j := range messages.DiffBackward(older, newer) {
				if j >= back {
					break
				}
				if !sameRow(older.At(older.Len()-1-j), newer.At(newer.Len()-1-j)) {
					back = j
					break
				}
				after = append(after, j)
			}
		}
		for i := len(after) - 1; i >= 0; i-- {
			j := after[i]
			c.message(older.At(older.Len()-1-j), newer.At(newer.Len()-1-j), newer.Len()-1-j)
		}
		c.Rows = Splice{At: front, Removed: older.Len() - front - back, Inserted: newer.Len() - front - back}
	}
}

func sameRow(a, b *messages.Message) bool { return a.Key() == b.Key() }

// message notes one message that differs and which of its calls do.
func (c *Changes) message(older, newer *messages.Message, place int) {
	c.Messages = append(c.Messages, place)
	for _, i := range changedPlaces(older.ToolCalls, newer.ToolCalls) {
		c.ToolCalls = append(c.ToolCalls, ToolCallPlace{Message: place, Call: i})
	}
}

// changedPlaces returns the places in newer whose elements are new or differ.
func changedPlaces[E comparable](older, newer messages.List[E]) []int {
	var places []int
	for i := range messages.Diff(older, newer) {
		places = append(places, i)
	}
	for i := older.Len(); i < newer.Len(); i++ {
		places = append(places, i)
	}
	return places
}
