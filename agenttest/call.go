package agenttest

import (
	"fmt"
	"slices"

	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// A CallCheck is one tool call of a conversation, and what can be asserted about it. It is immutable.
type CallCheck struct {
	c     *Conversation
	index int // of the message that holds it
	call  *messages.ToolCall
}

// Calls asserts the names of all tool calls in the thread, in order.
func (c *Conversation) Calls(want ...string) *Conversation {
	c.t.Helper()
	var got []string
	for _, m := range c.Thread().Messages.All() {
		for _, call := range m.ToolCalls.All() {
			got = append(got, call.Name)
		}
	}
	if !slices.Equal(got, want) {
		c.fail(-1, "other tools were called:\n%s", sideBySide(want, got))
	}
	return c
}

// Call returns the last call of the tool in the thread. There must be one.
func (c *Conversation) Call(tool string) CallCheck {
	c.t.Helper()
	for i, m := range c.Thread().Messages.Backward() {
		for _, call := range slices.Backward(m.ToolCalls.Slice()) {
			if call.Name == tool {
				return CallCheck{c, i, call}
			}
		}
	}
	c.fail(-1, "the tool %q was never called", tool)
	return CallCheck{}
}

// Raw returns the call itself.
func (k CallCheck) Raw() *messages.ToolCall { return k.call }

// Into decodes the arguments into dst, a pointer, as encoding/json does.
func (k CallCheck) Into(dst any) CallCheck {
	k.c.t.Helper()
	if err := k.arguments().Unmarshal(dst); err != nil {
		k.fail("the arguments do not fit %T: %v", dst, err)
	}
	return k
}

// Args asserts all arguments, compared as JSON: a struct or map or what else encodes to them.
func (k CallCheck) Args(want any) CallCheck {
	k.c.t.Helper()
	if diff := unequal(k.c.t, want, k.arguments()); diff != "" {
		k.fail("other arguments:\n%s", diff)
	}
	return k
}

// Arg asserts the argument at a JSON pointer (RFC 6901), compared as JSON.
func (k CallCheck) Arg(pointer string, want any) CallCheck {
	k.c.t.Helper()
	got, err := k.arguments().Lookup(pointer)
	if err != nil {
		k.fail("no argument at %s: %v", pointer, err)
	}
	if diff := unequal(k.c.t, want, got); diff != "" {
		k.fail("another argument at %s:\n%s", pointer, diff)
	}
	return k
}

// Result asserts the text of the last answer to the call.
func (k CallCheck) Result(want string) CallCheck {
	k.c.t.Helper()
	m := k.answer()
	if got := m.Text(); got != want {
		k.fail("another result:\n%s", sideBySide([]string{want}, []string{got}))
	}
	return k
}

// ResultAt asserts the value at a JSON pointer of the last answer to the call, which must be JSON.
func (k CallCheck) ResultAt(pointer string, want any) CallCheck {
	k.c.t.Helper()
	v, err := state.Parse([]byte(k.answer().Text()))
	if err != nil {
		k.fail("the result is not JSON: %v", err)
	}
	got, err := v.Lookup(pointer)
	if err != nil {
		k.fail("nothing in the result at %s: %v", pointer, err)
	}
	if diff := unequal(k.c.t, want, got); diff != "" {
		k.fail("another result at %s:\n%s", pointer, diff)
	}
	return k
}

// Failed asserts that the last answer to the call says that the tool failed.
func (k CallCheck) Failed() CallCheck {
	k.c.t.Helper()
	if m := k.answer(); !m.Error.IsSet() {
		k.fail("the call did not fail: %s", quote(m.Text()))
	}
	return k
}

// Status asserts how far the call has come.
func (k CallCheck) Status(want messages.ToolCallStatus) CallCheck {
	k.c.t.Helper()
	if k.call.Status != want {
		k.fail("the call is %v, not %v", k.call.Status, want)
	}
	return k
}

// Pending asserts that the call waits for the caller's answer (P-RUN-2).
func (k CallCheck) Pending() CallCheck {
	k.c.t.Helper()
	if !slices.Contains(k.c.Thread().PendingToolCallIDs(), k.call.ID) {
		k.fail("the call does not pend: it is %v", k.call.Status)
	}
	return k
}

func (k CallCheck) arguments() state.Value {
	k.c.t.Helper()
	v, err := k.call.Args()
	if err != nil {
		k.fail("the arguments are not JSON: %v", err)
	}
	return v
}

func (k CallCheck) answer() *messages.Message {
	k.c.t.Helper()
	m := k.c.Thread().ToolResult(k.call.ID)
	if m == nil {
		k.fail("the call has no result")
	}
	return m
}

func (k CallCheck) fail(format string, args ...any) {
	k.c.t.Helper()
	k.c.fail(k.index, "%s(%s): %s", clean(k.call.Name), short(k.call.Arguments, 80), fmt.Sprintf(format, args...))
}
