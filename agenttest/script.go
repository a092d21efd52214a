package agenttest

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"time"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// A Line is what a scripted agent does next; see [Script]. Lines are immutable and may be part of several scripts.
type Line struct {
	tell telling
}

// telling passes the events of a line to yield, and reports whether the run continues: false once yield has returned
// false.
type telling func(n narrator, yield func(event.Event) bool) bool

// Script returns an agent that tells its lines in every run. It adds the RUN_STARTED if the first event is not one, and
// the RUN_FINISHED unless a line ended the run ([Interrupt], [Fail], [Cancel], [Break], [Events]). Ids are made from the
// run's id, so they are new in each run. A line after the end of the run is told all the same, which no reducer accepts.
//
// The agent is safe for concurrent use if the functions of [Branch] are. Its runs end with their context.
func Script(lines ...Line) client.Agent {
	return client.AgentFunc(func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
		return func(yield func(event.Event, error) bool) {
			r := &narration{ctx: ctx, in: in, yield: yield}
			n := narrator{narration: r}
			if n.all(lines, r.pass) && !r.ended {
				r.pass(r.finished(event.Outcome{}))
			}
			if r.err != nil && !r.left {
				yield(nil, r.err)
			}
		}
	})
}

// Say is an assistant message. Its text comes in several deltas, one a word; see [Pieces] and [Chunked].
func Say(text string) Line {
	return Line{func(n narrator, yield func(event.Event) bool) bool {
		id := n.newID("message")
		if n.chunked {
			return n.pieces(text, func(piece messages.Opt[string]) bool {
				return yield(&event.TextMessageChunk{Attribution: n.by(), MessageID: messages.Some(id), Delta: piece})
			})
		}
		return yield(&event.TextMessageStart{Attribution: n.by(), MessageID: id, Role: messages.RoleAssistant}) &&
			n.pieces(text, func(piece messages.Opt[string]) bool {
				return yield(&event.TextMessageContent{Attribution: n.by(), MessageID: id, Delta: piece.Or("")})
			}) &&
			yield(&event.TextMessageEnd{Attribution: n.by(), MessageID: id})
	}}
}

// Think is a reasoning message, in a span of its own.
func Think(text string) Line {
	return Line{func(n narrator, yield func(event.Event) bool) bool {
		span, id := n.newID("thought"), n.newID("reasoning")
		if !yield(&event.ReasoningStart{Attribution: n.by(), MessageID: span}) {
			return false
		}
		if n.chunked {
			if !n.pieces(text, func(piece messages.Opt[string]) bool {
				return yield(&event.ReasoningMessageChunk{Attribution: n.by(), MessageID: messages.Some(id), Delta: piece})
			}) {
				return false
			}
		} else if !yield(&event.ReasoningMessageStart{Attribution: n.by(), MessageID: id}) ||
			!n.pieces(text, func(piece messages.Opt[string]) bool {
				return yield(&event.ReasoningMessageContent{Attribution: n.by(), MessageID: id, Delta: piece.Or("")})
			}) ||
			!yield(&event.ReasoningMessageEnd{Attribution: n.by(), MessageID: id}) {
			return false
		}
		return yield(&event.ReasoningEnd{Attribution: n.by(), MessageID: span})
	}}
}

// Call is a tool call. A string is the text of its arguments as it is, JSON or not; anything else is encoded. A call
// that no [Result] answers is left for the caller (P-RUN-2).
func Call(tool string, args any) Line {
	text := textOf(args)
	return Line{func(n narrator, yield func(event.Event) bool) bool {
		id := n.newID("call")
		n.unanswered = append(n.unanswered, id)
		if n.chunked {
			return n.pieces(text, func(piece messages.Opt[string]) bool {
				return yield(&event.ToolCallChunk{Attribution: n.by(), ToolCallID: messages.Some(id),
					ToolCallName: messages.Some(tool), Delta: piece})
			})
		}
		return yield(&event.ToolCallStart{Attribution: n.by(), ToolCallID: id, ToolCallName: tool}) &&
			n.pieces(text, func(piece messages.Opt[string]) bool {
				return yield(&event.ToolCallArgs{Attribution: n.by(), ToolCallID: id, Delta: piece.Or("")})
			}) &&
			yield(&event.ToolCallEnd{Attribution: n.by(), ToolCallID: id})
	}}
}

// Result answers the oldest call of the script that no Result has answered yet. A string is the text of the answer, a
// [messages.Content] is the answer as it is, anything else is encoded as JSON.
func Result(content any) Line {
	answer, ok := content.(messages.Content)
	if !ok {
		answer = messages.Text(textOf(content))
	}
	return Line{func(n narrator, yield func(event.Event) bool) bool {
		if len(n.unanswered) == 0 {
			return n.fail("Result: every call of the script has its result already")
		}
		call := n.unanswered[0]
		n.unanswered = n.unanswered[1:]
		return yield(&event.ToolCallResult{Attribution: n.by(), MessageID: n.newID("result"), ToolCallID: call, Content: answer})
	}}
}

// SetState is a snapshot of the shared state.
func SetState(v any) Line {
	return value("SetState", v, func(n narrator, v state.Value) event.Event {
		return &event.StateSnapshot{Attribution: n.by(), Snapshot: v}
	})
}

// Patch patches the shared state with operations of RFC 6902, written as JSON.
func Patch(operations string) Line {
	return value("Patch", jsonText(operations), func(n narrator, v state.Value) event.Event {
		p, err := state.ParsePatch(v)
		if err != nil {
			n.fail("Patch: " + err.Error())
			return nil
		}
		return &event.StateDelta{Attribution: n.by(), Delta: p}
	})
}

// Activity is an activity message; content becomes a JSON object.
func Activity(activityType string, content any) Line {
	return value("Activity", content, func(n narrator, v state.Value) event.Event {
		return &event.ActivitySnapshot{Attribution: n.by(), MessageID: n.newID("activity"), ActivityType: activityType, Content: v}
	})
}

// Step is a step around its lines.
func Step(name string, lines ...Line) Line {
	return Line{func(n narrator, yield func(event.Event) bool) bool {
		return yield(&event.StepStarted{Attribution: n.by(), StepName: name}) &&
			n.all(lines, yield) &&
			yield(&event.StepFinished{Attribution: n.by(), StepName: name})
	}}
}

// Subagent is an invocation of a subagent, whose lines are attributed to it. One among the lines of another is its
// child.
func Subagent(name string, lines ...Line) Line {
	return Line{func(n narrator, yield func(event.Event) bool) bool {
		parent := n.owner
		n.owner = messages.SubagentOwner(n.newID("subagent"))
		return yield(&event.SubagentStarted{Attribution: n.by(), Name: name, ParentSubagentRunID: parent}) &&
			n.all(lines, yield) &&
			yield(&event.SubagentFinished{Attribution: n.by()})
	}}
}

// Interrupt ends the run with questions to the caller. Those without an id get one.
func Interrupt(interrupts ...event.Interrupt) Line {
	return Line{func(n narrator, yield func(event.Event) bool) bool {
		asked := make([]event.Interrupt, len(interrupts))
		for i, in := range interrupts {
			if in.ID == "" {
				in.ID = n.newID("interrupt")
			}
			asked[i] = in
		}
		return yield(n.finished(event.Outcome{Type: event.OutcomeInterrupt, Interrupts: asked}))
	}}
}

// Fail ends the run with RUN_ERROR.
func Fail(message string) Line {
	return Events(&event.RunError{Message: message})
}

// Cancel ends the run as cancelled by the agent.
func Cancel() Line {
	return Line{func(n narrator, yield func(event.Event) bool) bool {
		return yield(n.finished(event.Outcome{Type: event.OutcomeCancelled}))
	}}
}

// Usage is reported when the run finishes.
func Usage(usage ...event.TokenUsage) Line {
	return Line{func(n narrator, _ func(event.Event) bool) bool {
		n.usage = append(n.usage, usage...)
		return true
	}}
}

// Events are sent as they are: typed events, or frames with whatever they hold.
func Events(events ...event.Event) Line {
	return Line{func(_ narrator, yield func(event.Event) bool) bool {
		for _, ev := range events {
			if !yield(ev) {
				return false
			}
		}
		return true
	}}
}

// Break ends the stream with err, or, if err is nil, as a connection does that was closed too early: without an error and
// without an end of the run.
func Break(err error) Line {
	return Line{func(n narrator, _ func(event.Event) bool) bool {
		n.err, n.broken = err, true
		return false
	}}
}

// Pause waits. In a testing/synctest bubble that takes no time.
func Pause(d time.Duration) Line {
	return Line{func(n narrator, _ func(event.Event) bool) bool {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return true
		case <-n.ctx.Done():
			return false
		}
	}}
}

// Await waits until ready is closed or has a value.
func Await(ready <-chan struct{}) Line {
	return Line{func(n narrator, _ func(event.Event) bool) bool {
		select {
		case <-ready:
			return true
		case <-n.ctx.Done():
			return false
		}
	}}
}

// Branch tells the lines that choose returns, from what the run was asked: its messages, state, tools and resume entries.
func Branch(choose func(in event.RunInput) []Line) Line {
	return Line{func(n narrator, yield func(event.Event) bool) bool { return n.all(choose(n.in), yield) }}
}

// Chunked tells its lines with chunk events instead of start, content and end.
func Chunked(lines ...Line) Line {
	return Line{func(n narrator, yield func(event.Event) bool) bool {
		n.chunked = true
		return n.all(lines, yield)
	}}
}

// Pieces cuts the texts and arguments of its lines into deltas of at most this many characters.
func Pieces(characters int, lines ...Line) Line {
	return Line{func(n narrator, yield func(event.Event) bool) bool {
		n.piece = max(characters, 1)
		return n.all(lines, yield)
	}}
}

// Together tells its lines at the same time: one event of each in turn, as parallel calls and subagents arrive.
func Together(lines ...Line) Line {
	return Line{func(n narrator, yield func(event.Event) bool) bool {
		var pulls []func() (event.Event, bool)
		for _, line := range lines {
			next, stop := iter.Pull(func(yield func(event.Event) bool) { line.tell(n, yield) })
			defer stop()
			pulls = append(pulls, next)
		}
		for len(pulls) > 0 {
			left := pulls[:0]
			for _, next := range pulls {
				ev, ok := next()
				if n.stopped() {
					return false
				}
				if !ok {
					continue
				}
				if !yield(ev) {
					return false
				}
				left = append(left, next)
			}
			pulls = left
		}
		return true
	}}
}

// narration is one run of a script.
type narration struct {
	ctx        context.Context
	in         event.RunInput
	yield      func(event.Event, error) bool
	ids        int
	unanswered []string // the calls without a result, oldest first
	usage      []event.TokenUsage
	started    bool // the run, by RUN_STARTED
	ended      bool // the run, by RUN_FINISHED or RUN_ERROR
	broken     bool // the stream, by Break
	left       bool // by the reader
	err        error
}

// pass sends an event to the reader of the run.
func (r *narration) pass(ev event.Event) bool {
	if r.left || r.ctx.Err() != nil {
		return false
	}
	if !r.started {
		r.started = true
		if ev.Type() != event.TypeRunStarted && !r.pass(&event.RunStarted{ThreadID: r.in.ThreadID, RunID: r.in.RunID}) {
			return false
		}
	}
	switch ev.Type() {
	case event.TypeRunFinished, event.TypeRunError:
		r.ended = true
	}
	r.left = !r.yield(ev, nil)
	return !r.left
}

// fail ends the stream with a mistake of the script.
func (r *narration) fail(reason string) bool {
	r.err = fmt.Errorf("agenttest: %s", reason)
	return false
}

// stopped reports whether a line has ended the stream early.
func (r *narration) stopped() bool { return r.broken || r.err != nil || r.left || r.ctx.Err() != nil }

func (r *narration) newID(what string) string {
	r.ids++
	return r.in.RunID + "-" + what + "-" + strconv.Itoa(r.ids)
}

func (r *narration) finished(outcome event.Outcome) event.Event {
	return &event.RunFinished{ThreadID: r.in.ThreadID, RunID: r.in.RunID, Outcome: outcome, Usage: r.usage}
}

// narrator is who tells a line, and in what form.
type narrator struct {
	*narration
	owner   messages.Owner
	chunked bool
	piece   int // characters a delta; 0 is a word
}

func (n narrator) by() event.Attribution { return event.By(n.owner) }

func (n narrator) all(lines []Line, yield func(event.Event) bool) bool {
	for _, line := range lines {
		if !line.tell(n, yield) {
			return false
		}
	}
	return true
}

// pieces passes text on in deltas. An empty text in chunks is one without a delta, which is its start.
func (n narrator) pieces(text string, pass func(messages.Opt[string]) bool) bool {
	if text == "" && n.chunked {
		return pass(messages.Opt[string]{})
	}
	for text != "" {
		end := n.cut(text)
		if !pass(messages.Some(text[:end])) {
			return false
		}
		text = text[end:]
	}
	return true
}

// cut returns where the first delta of text ends.
func (n narrator) cut(text string) int {
	characters := 0
	for i, r := range text {
		if n.piece > 0 && characters == n.piece {
			return i
		}
		characters++
		if n.piece == 0 && i > 0 && r == ' ' {
			return i + 1
		}
	}
	return len(text)
}

// jsonText is a text that is JSON already.
type jsonText string

// value is a line of one event that holds a JSON value.
func value(line string, x any, ev func(narrator, state.Value) event.Event) Line {
	var v state.Value
	var err error
	if text, ok := x.(jsonText); ok {
		v, err = state.Parse([]byte(text))
	} else {
		v, err = state.Of(x)
	}
	return Line{func(n narrator, yield func(event.Event) bool) bool {
		if err != nil {
			return n.fail(line + ": " + err.Error())
		}
		made := ev(n, v)
		return made != nil && yield(made)
	}}
}

// textOf is a string as it is, and anything else as JSON. What cannot be encoded shows as an error in the text.
func textOf(x any) string {
	if s, ok := x.(string); ok {
		return s
	}
	v, err := state.Of(x)
	if err != nil {
		return fmt.Sprintf("agenttest: %T cannot be encoded: %v", x, err)
	}
	return string(v.AppendJSON(nil))
}
