package reducer

import (
	"errors"
	"iter"
	"strconv"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/jsontext"
	"github.com/agfold/agfold/internal/wire"
	"github.com/agfold/agfold/messages"
)

// AppendJSON appends the thread as one JSON object. It is complete and stable: equal threads give equal
// bytes. Members: threadId, revision, status, error (when there is one), messages (on the wire shape of their
// roles), state, runs, subagents (in the order of [Subagents.Walk], with their depth), interrupts,
// pendingToolCallIds, and, when there are any, streamingToolCallIds: the calls whose arguments are still arriving
// or broke off, which nobody may act on (P-TOL-4). UnmarshalJSON reads it back.
func (t *Thread) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	dst = wire.AppendString(dst, "threadId", t.ID)
	dst = strconv.AppendUint(wire.AppendKey(dst, "revision"), t.Revision, 10)
	dst = wire.AppendString(dst, "status", t.Status().String())
	dst = appendError(dst, t.Err())
	var streaming []string
	dst = appendSeq(dst, "messages", t.Messages.All(), func(dst []byte, m *messages.Message) []byte {
		for _, tc := range m.ToolCalls.All() {
			if tc.Status == messages.ToolCallStreaming {
				streaming = append(streaming, tc.ID)
			}
		}
		return m.AppendJSON(dst)
	})
	if dst = wire.AppendKey(dst, "state"); t.State.Exists() {
		dst = t.State.AppendJSON(dst)
	} else {
		dst = append(dst, "{}"...)
	}
	dst = appendSeq(dst, "runs", t.Runs.All(), (func([]byte, *Run) []byte)(appendRun))
	dst = append(wire.AppendKey(dst, "subagents"), '[')
	for depth, n := range t.Subagents.Walk() {
		if dst[len(dst)-1] != '[' {
			dst = append(dst, ',')
		}
		dst = appendSubagent(dst, depth, n)
	}
	dst = append(dst, ']')
	dst = wire.AppendList(dst, "interrupts", t.Interrupts, appendJSON[event.Interrupt])
	dst = wire.AppendList(dst, "pendingToolCallIds", t.PendingToolCallIDs(), jsontext.AppendString)
	dst = wire.AppendOptList(dst, "streamingToolCallIds", streaming, jsontext.AppendString)
	return append(dst, '}')
}

// MarshalJSON returns what AppendJSON appends.
func (t *Thread) MarshalJSON() ([]byte, error) { return t.AppendJSON(nil), nil }

// MarshalJSON returns the run as it stands in the thread's JSON.
func (run *Run) MarshalJSON() ([]byte, error) { return appendRun(nil, run), nil }

func appendRun(dst []byte, run *Run) []byte {
	dst = append(dst, '{')
	dst = wire.AppendString(dst, "runId", run.ID)
	dst = appendOpt(dst, "parentRunId", run.ParentRunID)
	dst = appendOpt(dst, "protocolVersion", run.ProtocolVersion)
	dst = wire.AppendString(dst, "status", run.Status.String())
	dst = appendError(dst, run.Err)
	if run.Outcome.Type != "" {
		dst = run.Outcome.AppendJSON(wire.AppendKey(dst, "outcome"))
	}
	dst = wire.AppendValue(dst, "result", run.Result)
	dst = wire.AppendOptList(dst, "usage", run.Usage, appendJSON[event.TokenUsage])
	dst = appendSeq(dst, "steps", run.Steps.All(), func(dst []byte, s Step) []byte {
		dst = wire.AppendString(append(dst, '{'), "stepName", s.Name)
		dst = appendOwner(dst, "subagentRunId", s.Owner)
		return append(wire.AppendBool(dst, "finished", s.Finished), '}')
	})
	dst = wire.AppendOptList(dst, "pendingToolCallIds", run.PendingToolCallIDs, jsontext.AppendString)
	dst = wire.AppendValue(dst, "metadata", run.Metadata.Value())
	return append(dst, '}')
}

func appendSubagent(dst []byte, depth int, n *Subagent) []byte {
	dst = append(dst, '{')
	dst = appendOwner(dst, "subagentRunId", n.RunID)
	dst = wire.AppendInteger(dst, "depth", int64(depth))
	dst = wire.AppendBool(dst, "announced", n.Announced)
	if n.Announced {
		dst = wire.AppendString(dst, "name", n.Name)
	}
	dst = appendOpt(dst, "description", n.Description)
	dst = appendOwner(dst, "parentSubagentRunId", n.Parent)
	dst = appendOpt(dst, "parentToolCallId", n.ToolCallID)
	dst = appendOpt(dst, "parentMessageId", n.MessageID)
	dst = wire.AppendString(dst, "status", n.Status.String())
	dst = wire.AppendValue(dst, "result", n.Result)
	dst = wire.AppendOptList(dst, "interruptIds", n.InterruptIDs, jsontext.AppendString)
	if n.Err != nil {
		dst = wire.AppendString(append(wire.AppendKey(dst, "error"), '{'), "message", n.Err.Message)
		dst = append(appendOpt(dst, "code", n.Err.Code), '}')
	}
	return append(wire.AppendString(dst, "runId", n.InRun), '}')
}

// appendError appends why a run did not end well as an object whose kind is "run", "protocol", "malformed"
// or "truncated".
func appendError(dst []byte, err error) []byte {
	if err == nil {
		return dst
	}
	dst = append(wire.AppendKey(dst, "error"), '{')
	var failed *AgentError
	var broken *Violation
	var malformed *messages.MalformedError
	switch {
	case errors.As(err, &failed):
		dst = wire.AppendString(dst, "kind", "run")
		dst = wire.AppendString(dst, "message", failed.Message)
		dst = appendOpt(dst, "code", failed.Code)
	case errors.As(err, &broken):
		dst = wire.AppendString(dst, "kind", "protocol")
		dst = wire.AppendString(dst, "message", broken.Reason)
		dst = wire.AppendString(dst, "rule", broken.Rule)
		dst = wire.AppendInteger(dst, "ordinal", int64(broken.Ordinal))
		dst = wire.AppendString(dst, "type", broken.Type.String())
		dst = wire.AppendString(dst, "id", broken.ID)
	case errors.As(err, &malformed):
		dst = wire.AppendString(dst, "kind", "malformed")
		dst = wire.AppendString(dst, "message", malformed.Error())
		dst = wire.AppendString(dst, "rule", malformed.Rule)
		dst = wire.AppendInteger(dst, "ordinal", int64(malformed.Ordinal))
		dst = wire.AppendString(dst, "type", malformed.Type)
		dst = wire.AppendString(dst, "path", malformed.Path)
	default:
		dst = wire.AppendString(dst, "kind", "truncated")
		dst = wire.AppendString(dst, "message", err.Error())
	}
	return append(dst, '}')
}

// AppendJSON appends the step as one JSON object: ordinal, event (null if nothing was delivered), change,
// warnings (when there are any).
func (s Delivery) AppendJSON(dst []byte) []byte {
	dst = wire.AppendInteger(append(dst, '{'), "ordinal", int64(s.Ordinal))
	if dst = wire.AppendKey(dst, "event"); s.Event != nil {
		dst = s.Event.AppendJSON(dst)
	} else {
		dst = append(dst, "null"...)
	}
	dst = s.Change.appendJSON(wire.AppendKey(dst, "change"))
	if len(s.Warnings) > 0 {
		dst = wire.AppendList(dst, "warnings", s.Warnings, appendJSON[event.Warning])
	}
	return append(dst, '}')
}

// MarshalJSON returns what AppendJSON appends.
func (s Delivery) MarshalJSON() ([]byte, error) { return s.AppendJSON(nil), nil }

func (c Change) appendJSON(dst []byte) []byte {
	dst = wire.AppendString(append(dst, '{'), "kind", c.Kind.String())
	if c.Index >= 0 && c.MessageKind != messages.KindNone {
		dst = wire.AppendString(dst, "messageId", c.MessageID)
		dst = wire.AppendInteger(dst, "index", int64(c.Index))
	}
	dst = wire.AppendNonEmpty(dst, "toolCallId", c.ToolCallID)
	dst = wire.AppendNonEmpty(dst, "delta", c.Delta)
	dst = wire.AppendNonEmpty(dst, "stepName", c.StepName)
	dst = wire.AppendNonEmpty(dst, "runId", c.RunID)
	return append(appendOwner(dst, "subagentRunId", c.Subagent), '}')
}

// MarshalJSON returns the change as it stands in the step's JSON.
func (c Change) MarshalJSON() ([]byte, error) { return c.appendJSON(nil), nil }

func appendJSON[T interface{ AppendJSON([]byte) []byte }](dst []byte, v T) []byte {
	return v.AppendJSON(dst)
}

func appendSeq[T any](dst []byte, key string, items iter.Seq2[int, T], add func([]byte, T) []byte) []byte {
	dst = append(wire.AppendKey(dst, key), '[')
	for i, item := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = add(dst, item)
	}
	return append(dst, ']')
}

func appendOpt(dst []byte, key string, o messages.Opt[string]) []byte {
	if s, ok := o.Get(); ok {
		dst = wire.AppendString(dst, key, s)
	}
	return dst
}

func appendOwner(dst []byte, key string, o messages.Owner) []byte {
	if id, ok := o.RunID(); ok {
		dst = wire.AppendString(dst, key, id)
	}
	return dst
}
