package reducer

import (
	"encoding/json"
	"errors"
	"io"
	"iter"
	"strconv"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/internal/jsontext"
	"github.com/agfold/agfold/messages"
)

// AppendJSON appends the thread as one JSON object. It is complete and stable: equal threads give equal
// bytes. Members: threadId, revision, status, error (when there is one), messages (on the wire shape of their
// roles), state, runs, subagents (in the order of [Subagents.Walk], with their depth), interrupts,
// pendingToolCallIds, and unfinished, when there is anything: for each message with text or calls that are still arriving
// or broke off, in order, its index and messageId; text, which is "streaming" or "cut", if it is about the text; and
// toolCalls, if it is about calls: for each of them its index in the message, toolCallId, and status, which is "streaming"
// or "broken" (P-TXT-3, P-TOL-5). UnmarshalJSON reads it back.
func (t *Thread) AppendJSON(dst []byte) []byte {
	return t.appendJSON(dst, func(dst []byte) []byte { return dst })
}

// WriteTo writes what AppendJSON appends to w, piece by piece: it needs memory for the largest message or run, or the
// state, not for the whole thread. It returns the number of bytes written and the first error of w.
func (t *Thread) WriteTo(w io.Writer) (int64, error) {
	var written int64
	var failed error
	write := func(dst []byte) {
		if failed == nil {
			var n int
			n, failed = w.Write(dst)
			written += int64(n)
		}
	}
	write(t.appendJSON(nil, func(dst []byte) []byte {
		last := len(dst) - 1
		if last < 32<<10 {
			return dst
		}
		write(dst[:last])
		return append(dst[:0], dst[last]) // determines whether a comma comes next
	}))
	return written, failed
}

// appendJSON is AppendJSON, but passes what it has so far to flush repeatedly. flush must leave the last byte.
func (t *Thread) appendJSON(dst []byte, flush func([]byte) []byte) []byte {
	dst = append(dst, '{')
	dst = codec.AppendString(dst, "threadId", t.ID)
	dst = strconv.AppendUint(codec.AppendKey(dst, "revision"), t.Revision, 10)
	dst = codec.AppendString(dst, "status", t.Status().String())
	dst = appendError(dst, t.Status(), t.Err())
	var open []unfinished
	at := 0
	dst = appendSeq(dst, "messages", t.Messages.All(), func(dst []byte, m *messages.Message) []byte {
		if u, ok := unfinishedOf(at, m); ok {
			open = append(open, u)
		}
		at++
		return m.AppendJSON(flush(dst))
	})
	if dst = codec.AppendKey(dst, "state"); t.State.Exists() {
		dst = t.State.AppendJSON(dst)
	} else {
		dst = append(dst, "{}"...)
	}
	dst = appendSeq(dst, "runs", t.Runs.All(), func(dst []byte, run *Run) []byte { return appendRun(flush(dst), run) })
	dst = appendSubagents(codec.AppendKey(dst, "subagents"), t.Subagents, flush)
	dst = codec.AppendList(dst, "interrupts", t.Interrupts, appendJSON[event.Interrupt])
	dst = codec.AppendList(dst, "pendingToolCallIds", t.PendingToolCallIDs(), jsontext.AppendString)
	dst = codec.AppendOptList(dst, "unfinished", open, func(dst []byte, u unfinished) []byte { return u.append(dst) })
	return append(dst, '}')
}

// MarshalJSON returns what AppendJSON appends.
func (t *Thread) MarshalJSON() ([]byte, error) { return t.AppendJSON(nil), nil }

// MarshalJSON returns the run as in the thread's JSON.
func (run Run) MarshalJSON() ([]byte, error) { return appendRun(nil, &run), nil }

func appendRun(dst []byte, run *Run) []byte {
	dst = append(dst, '{')
	dst = codec.AppendString(dst, "runId", run.ID)
	dst = appendOpt(dst, "parentRunId", run.ParentRunID)
	dst = appendOpt(dst, "protocolVersion", run.ProtocolVersion)
	dst = codec.AppendString(dst, "status", run.Status.String())
	dst = appendError(dst, run.Status, run.Err)
	if run.Outcome.Type != "" {
		dst = appendJSON(codec.AppendKey(dst, "outcome"), run.Outcome)
	}
	dst = codec.AppendValue(dst, "result", run.Result)
	dst = codec.AppendOptList(dst, "usage", run.Usage, appendJSON[event.TokenUsage])
	dst = appendSeq(dst, "steps", run.Steps.All(), func(dst []byte, s Step) []byte {
		dst = codec.AppendString(append(dst, '{'), "stepName", s.Name)
		dst = appendOwner(dst, "subagentRunId", s.Owner)
		return append(codec.AppendBool(dst, "finished", s.Finished), '}')
	})
	dst = codec.AppendOptList(dst, "pendingToolCallIds", run.PendingToolCallIDs, jsontext.AppendString)
	dst = codec.AppendOptList(dst, "retiredInterrupts", run.RetiredInterrupts, appendJSON[event.Interrupt])
	dst = codec.AppendValue(dst, "metadata", run.Metadata.Value())
	return append(dst, '}')
}

// MarshalJSON returns the tree as it stands in the thread's JSON.
func (s Subagents) MarshalJSON() ([]byte, error) {
	return appendSubagents(nil, s, func(dst []byte) []byte { return dst }), nil
}

func appendSubagents(dst []byte, s Subagents, flush func([]byte) []byte) []byte {
	dst = append(dst, '[')
	for depth, n := range s.Walk() {
		if dst[len(dst)-1] != '[' {
			dst = append(dst, ',')
		}
		dst = appendSubagent(flush(dst), depth, n)
	}
	return append(dst, ']')
}

// MarshalJSON returns the invocation as it stands in the thread's JSON, without its depth.
func (n Subagent) MarshalJSON() ([]byte, error) { return appendSubagent(nil, -1, &n), nil }

// appendSubagent appends an invocation, without a depth if that is negative.
func appendSubagent(dst []byte, depth int, n *Subagent) []byte {
	dst = append(dst, '{')
	dst = appendOwner(dst, "subagentRunId", n.Owner)
	if depth >= 0 {
		dst = codec.AppendInteger(dst, "depth", int64(depth))
	}
	dst = codec.AppendBool(dst, "announced", n.Announced)
	if n.Announced {
		dst = codec.AppendString(dst, "name", n.Name)
	}
	dst = appendOpt(dst, "description", n.Description)
	dst = appendOwner(dst, "parentSubagentRunId", n.Parent)
	dst = appendOpt(dst, "parentToolCallId", n.ToolCallID)
	dst = appendOpt(dst, "parentMessageId", n.MessageID)
	dst = codec.AppendString(dst, "status", n.Status.String())
	dst = codec.AppendValue(dst, "result", n.Result)
	dst = codec.AppendOptList(dst, "interruptIds", n.InterruptIDs, jsontext.AppendString)
	if n.Err != nil {
		dst = append(appendAgentError(append(codec.AppendKey(dst, "error"), '{'), n.Err), '}')
	}
	return append(codec.AppendString(dst, "runId", n.RunID), '}')
}

// appendError appends why a run did not end well as an object whose kind is "run", "protocol", "malformed",
// "truncated", "stopped" or "unstarted". The member run is what the run reported before its stream was rejected.
func appendError(dst []byte, status Status, err error) []byte {
	if err == nil {
		return dst
	}
	dst = append(codec.AppendKey(dst, "error"), '{')
	failed, hasFailed := errors.AsType[*AgentError](err)
	broken, isBroken := errors.AsType[*Violation](err)
	malformed, isMalformed := errors.AsType[*messages.MalformedError](err)
	switch {
	case status == Stopped:
		dst = codec.AppendString(dst, "kind", Stopped.String())
		dst = codec.AppendString(dst, "message", err.Error())
	case isBroken:
		dst = codec.AppendString(dst, "kind", "protocol")
		dst = codec.AppendString(dst, "message", broken.Reason)
		dst = codec.AppendString(dst, "rule", broken.Rule)
		dst = codec.AppendInteger(dst, "ordinal", int64(broken.Ordinal))
		dst = codec.AppendString(dst, "type", broken.Type.String())
		dst = codec.AppendString(dst, "id", broken.ID)
	case isMalformed:
		dst = codec.AppendString(dst, "kind", "malformed")
		dst = codec.AppendString(dst, "message", malformed.Error())
		dst = codec.AppendString(dst, "rule", malformed.Rule)
		dst = codec.AppendInteger(dst, "ordinal", int64(malformed.Ordinal))
		dst = codec.AppendString(dst, "type", malformed.Type)
		dst = codec.AppendString(dst, "path", malformed.Path)
		dst = codec.AppendNonEmpty(dst, "hint", malformed.Hint)
	case hasFailed:
		return append(appendAgentError(codec.AppendString(dst, "kind", "run"), failed), '}')
	default:
		kind := Truncated
		if status == Unstarted {
			kind = Unstarted
		}
		dst = codec.AppendString(dst, "kind", kind.String())
		dst = codec.AppendString(dst, "message", err.Error())
	}
	if hasFailed {
		dst = append(appendAgentError(append(codec.AppendKey(dst, "run"), '{'), failed), '}')
	}
	return append(dst, '}')
}

func appendAgentError(dst []byte, e *AgentError) []byte {
	return appendOpt(codec.AppendString(dst, "message", e.Message), "code", e.Code)
}

// MarshalJSON returns the delivery as one JSON object: ordinal, event (null if nothing was delivered), change,
// warnings (when there are any). The error is always nil.
func (s Delivery) MarshalJSON() ([]byte, error) {
	dst := codec.AppendInteger([]byte{'{'}, "ordinal", int64(s.Ordinal))
	dst = event.Append(codec.AppendKey(dst, "event"), s.Event)
	dst = s.Change.appendJSON(codec.AppendKey(dst, "change"))
	if len(s.Warnings) > 0 {
		dst = codec.AppendList(dst, "warnings", s.Warnings, appendJSON[event.Warning])
	}
	return append(dst, '}'), nil
}

func (c Change) appendJSON(dst []byte) []byte {
	dst = codec.AppendString(append(dst, '{'), "kind", c.Kind.String())
	if c.Index >= 0 && c.MessageKind != messages.KindNone {
		dst = codec.AppendString(dst, "messageId", c.MessageID)
		dst = codec.AppendInteger(dst, "index", int64(c.Index))
	}
	dst = codec.AppendNonEmpty(dst, "toolCallId", c.ToolCallID)
	dst = codec.AppendNonEmpty(dst, "delta", c.Delta)
	dst = codec.AppendNonEmpty(dst, "stepName", c.StepName)
	dst = codec.AppendNonEmpty(dst, "runId", c.RunID)
	return append(appendOwner(dst, "subagentRunId", c.Subagent), '}')
}

// MarshalJSON returns the change as in the delivery's JSON.
func (c Change) MarshalJSON() ([]byte, error) { return c.appendJSON(nil), nil }

// appendJSON appends the JSON of v, which never fails.
func appendJSON[T json.Marshaler](dst []byte, v T) []byte {
	text, _ := v.MarshalJSON()
	return append(dst, text...)
}

func appendSeq[T any](dst []byte, key string, items iter.Seq2[int, T], add func([]byte, T) []byte) []byte {
	dst = append(codec.AppendKey(dst, key), '[')
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
		dst = codec.AppendString(dst, key, s)
	}
	return dst
}

func appendOwner(dst []byte, key string, o messages.Owner) []byte {
	if id, ok := o.RunID(); ok {
		dst = codec.AppendString(dst, key, id)
	}
	return dst
}
