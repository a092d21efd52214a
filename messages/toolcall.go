package messages

import "github.com/agfold/agfold/state"

// ToolCall is one call of a tool by an assistant message. Once a snapshot holds it, it never changes:
// it is safe for concurrent use and must not be changed by its readers.
type ToolCall struct {
	ID   string
	Name string
	// Arguments is the text of the arguments as far as it came. It is JSON only by convention and may not
	// parse (P-TOL-4).
	Arguments      string
	Status         ToolCallStatus
	EncryptedValue Opt[string]
	Metadata       Metadata

	growing *growingArguments // while they do, see Grow
}

// ToolCallStatus says how far a tool call has come.
type ToolCallStatus uint8

// The statuses of a tool call. A call is acted on only when it is complete (P-TOL-4).
const (
	ToolCallComplete  ToolCallStatus = iota // TOOL_CALL_END came, or the call was not streamed
	ToolCallStreaming                       // its arguments are still arriving
	ToolCallAnswered                        // a tool message answers it
	ToolCallBroken                          // its arguments broke off: the run ended before TOOL_CALL_END came (P-TOL-5)
)

// String returns "complete", "streaming", "answered" or "broken".
func (s ToolCallStatus) String() string {
	switch s {
	case ToolCallStreaming:
		return "streaming"
	case ToolCallAnswered:
		return "answered"
	case ToolCallBroken:
		return "broken"
	}
	return "complete"
}

// MarshalText returns what String returns.
func (s ToolCallStatus) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Args parses the arguments. Empty arguments, which producers send for tools without parameters, are an
// empty object. The error is a *state.SyntaxError when the text is not JSON.
func (c *ToolCall) Args() (state.Value, error) {
	if c.Arguments == "" {
		return state.Object(), nil
	}
	return state.Parse([]byte(c.Arguments))
}
