package agenttest

import (
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/state"
)

// State asserts the value at a JSON pointer (RFC 6901) of the shared state, compared as JSON: numbers by value, objects
// whatever the order of their members. The pointer "" is the whole state.
func (c *Conversation) State(pointer string, want any) *Conversation {
	c.t.Helper()
	got, err := c.Thread().State.Lookup(pointer)
	if err != nil {
		c.fail(-1, "nothing in the state at %s: %v; it is %s", pointer, err, short(c.Thread().State.String(), 400))
	}
	if diff := unequal(c.t, want, got); diff != "" {
		c.fail(-1, "the state differs at %s:\n%s", pointer, diff)
	}
	return c
}

// NoState asserts that the shared state has nothing at a JSON pointer.
func (c *Conversation) NoState(pointer string) *Conversation {
	c.t.Helper()
	if got, err := c.Thread().State.Lookup(pointer); err == nil {
		c.fail(-1, "the state has %s at %s", short(got.String(), 400), pointer)
	}
	return c
}

// unequal returns how got differs from want, by path; "" if they are equal as JSON.
func unequal(t require.TestingT, want any, got state.Value) string {
	tester(t).Helper()
	wanted, err := state.Of(want)
	require.NoError(t, err, "agenttest: the expected value cannot be encoded")
	if wanted.Equal(got) {
		return ""
	}
	return differences(wanted, got)
}

// differences lists the places where two values differ, at most 20 of them.
func differences(want, got state.Value) string {
	var b strings.Builder
	for i, op := range state.Diff(want, got) {
		if i == 20 {
			b.WriteString("  …\n")
			break
		}
		before, err := want.Lookup(op.Path)
		was := "nothing"
		if err == nil && op.Kind != state.OpAdd {
			was = short(before.String(), 200)
		}
		is := "nothing"
		if op.Kind != state.OpRemove {
			is = short(op.Value.String(), 200)
		}
		path := op.Path
		if path == "" {
			path = "(the whole value)"
		}
		b.WriteString("  " + quoteIfOdd(path) + ": want " + was + ", got " + is + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}
