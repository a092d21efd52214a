package messages

import (
	"sync"

	"github.com/agfold/agfold/state"
)

// growingArguments parses the arguments of a call as they grow. All versions of the call share it.
type growingArguments struct {
	mu     sync.Mutex
	parser state.PartialParser
}

// PartialArgs returns the longest valid value that the arguments make so far, for a UI that draws them
// while they stream: open strings, arrays and objects are closed, what is incomplete is left out. It is
// absent while there is nothing to show. While the call is streaming it costs what has come since it was last called on
// an earlier version of the call; otherwise, and on a version that is older than that one, one pass over the text.
func (c *ToolCall) PartialArgs() state.Value {
	g := c.growing
	if g == nil {
		return state.ParsePartial(c.Arguments)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.parser.Parse(c.Arguments)
}

// Grow tells the call whether its arguments still grow. If so, it and the copies made of it from now on share what
// PartialArgs has found. A reducer does this; nobody else needs to, and it must not be done to a call that a snapshot
// holds.
func (c *ToolCall) Grow(grows bool) {
	switch {
	case !grows:
		c.growing = nil
	case c.growing == nil:
		c.growing = new(growingArguments)
	}
}
