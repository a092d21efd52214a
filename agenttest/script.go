package agenttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/emit"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// A Line is what a scripted agent does next; see [Script]. Lines are immutable and may be part of several scripts.
type Line struct {
	tell telling
}

// telling tells a line, and reports whether the script continues.
type telling func(n narrator) bool

// Script returns an agent that tells its lines in every run. It adds the RUN_STARTED if the first event is not one, and
// the RUN_FINISHED unless a line ended the run ([Interrupt], [Fail], [Cancel], [Break], [Events]). Ids are made from the
// run's id, so they are new in each run. After the end of the run only [Events] are told, which no reducer accepts.
//
// The agent is safe for concurrent use if the functions of [Branch] are. Its runs end with their context.
func Script(lines ...Line) client.Agent {
	return emit.Stream(func(ctx context.Context, in event.RunInput, send func(...event.Event) error) error {
		r := &narration{ctx: ctx, in: in, send: send}
		r.run = emit.New(ctx, in, r.pass, nil)
		n := narrator{narration: r, scope: &r.run.Scope, turn: func() bool { return true }}
		if n.all(lines) && !r.ended {
			r.run.End(nil)
		}
		return r.err
	})
}

// Say is an assistant message. Its text comes in several deltas, one a word; see [Pieces] and [Chunked].
func Say(text string) Line {
	return Line{func(n narrator) bool {
		return n.write(n.scope.Text(&emit.TextOptions{Chunks: n.chunked}), text)
	}}
}

// Think is a reasoning message, in a span of its own.
func Think(text string) Line {
	return Line{func(n narrator) bool {
		return n.write(n.scope.Reasoning(&emit.TextOptions{Chunks: n.chunked}), text)
	}}
}

// Call is a tool call. A string is the text of its arguments as it is, JSON or not; anything else is encoded. A call
// that no [Result] answers is left for the caller (P-RUN-2).
func Call(tool string, args any) Line {
	text := textOf(args)
	return Line{func(n narrator) bool {
		if !n.chunked {
			call := n.scope.Call(tool, nil)
			n.unanswered = append(n.unanswered, func(_ narrator, answer messages.Content) error { return call.Result(answer) })
			return n.write(call, text)
		}
		id, owner := n.newID("call"), n.owner
		n.unanswered = append(n.unanswered, func(n narrator, answer messages.Content) error {
			return n.raw(&event.ToolCallResult{Attribution: event.By(owner), MessageID: id + "-result", ToolCallID: id, Content: answer})
		})
		for piece := range n.pieces(text) {
			chunk := &event.ToolCallChunk{Attribution: event.By(owner), ToolCallID: messages.Some(id), ToolCallName: messages.Some(tool), Delta: piece}
			if n.raw(chunk) != nil || !n.turn() {
				return false
			}
		}
		return true
	}}
}

// Result answers the oldest call of the script that no Result has answered yet. A string is the text of the answer, a
// [messages.Content] is the answer as it is, anything else is encoded as JSON.
func Result(content any) Line {
	answer, ok := content.(messages.Content)
	if !ok {
		answer = messages.Text(textOf(content))
	}
	return Line{func(n narrator) bool {
		if len(n.unanswered) == 0 {
			return n.fail("Result: every call of the script has its result already")
		}
		give := n.unanswered[0]
		n.unanswered = n.unanswered[1:]
		return n.told(give(n, answer))
	}}
}

// SetState is a snapshot of the shared state.
func SetState(v any) Line {
	return value("SetState", v, func(n narrator, v state.Value) error { return n.scope.State().Replace(v) })
}

// Patch patches the shared state with operations of RFC 6902, written as JSON, whether they apply or not.
func Patch(operations string) Line {
	return value("Patch", json.RawMessage(operations), func(n narrator, v state.Value) error {
		p, err := state.ParsePatch(v)
		if err != nil {
			return err
		}
		return n.raw(&event.StateDelta{Attribution: event.By(n.owner), Delta: p})
	})
}

// Activity is an activity message; content becomes a JSON object.
func Activity(activityType string, content any) Line {
	return value("Activity", content, func(n narrator, v state.Value) error {
		_, err := n.scope.Activity(activityType, v, nil)
		return err
	})
}

// Step is a step around its lines.
func Step(name string, lines ...Line) Line {
	return Line{func(n narrator) bool {
		step := n.scope.Step(name)
		n.scope = &step.Scope
		return n.turn() && n.all(lines) && n.told(step.Close())
	}}
}

// Subagent is an invocation of a subagent, whose lines are attributed to it. One among the lines of another is its
// child.
func Subagent(name string, lines ...Line) Line {
	return Line{func(n narrator) bool {
		sub := n.scope.Subagent(name, nil)
		n.scope, n.owner = &sub.Scope, messages.SubagentOwner(sub.ID())
		return n.turn() && n.all(lines) && n.told(sub.Close())
	}}
}

// Interrupt ends the run with questions to the caller. Those without an id get one.
func Interrupt(interrupts ...event.Interrupt) Line {
	return Line{func(n narrator) bool {
		for _, in := range interrupts {
			if _, err := n.run.Interrupt(in); err != nil {
				return n.fail("Interrupt: " + err.Error())
			}
		}
		return n.told(n.run.End(nil))
	}}
}

// Fail ends the run with RUN_ERROR.
func Fail(message string) Line {
	return Line{func(n narrator) bool { return n.told(n.run.End(&reducer.AgentError{Message: message})) }}
}

// Cancel ends the run as cancelled by the agent.
func Cancel() Line {
	return Line{func(n narrator) bool { return n.run.Cancel() == nil && n.told(n.run.End(nil)) }}
}

// Usage is reported when the run finishes.
func Usage(usage ...event.TokenUsage) Line {
	return Line{func(n narrator) bool { return n.run.AddUsage(usage...) == nil }}
}

// Events are sent as they are: typed events, or frames with whatever they hold.
func Events(events ...event.Event) Line {
	return Line{func(n narrator) bool {
		for _, ev := range events {
			if n.raw(ev) != nil || !n.turn() {
				return false
			}
		}
		return true
	}}
}

// Break ends the stream with err, or, if err is nil, as a connection does that was closed too early: without an error and
// without an end of the run.
func Break(err error) Line {
	return Line{func(n narrator) bool {
		n.err, n.broken = err, true
		return false
	}}
}

// Pause waits. In a testing/synctest bubble that takes no time.
func Pause(d time.Duration) Line {
	return Line{func(n narrator) bool {
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
	return Line{func(n narrator) bool {
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
	return Line{func(n narrator) bool { return n.all(choose(n.in)) }}
}

// Chunked tells its lines with chunk events instead of start, content and end.
func Chunked(lines ...Line) Line {
	return Line{func(n narrator) bool {
		n.chunked = true
		return n.all(lines)
	}}
}

// Pieces cuts the texts and arguments of its lines into deltas of at most this many characters.
func Pieces(characters int, lines ...Line) Line {
	return Line{func(n narrator) bool {
		n.piece = max(characters, 1)
		return n.all(lines)
	}}
}

// Together tells its lines at the same time: a bit of each in turn, as parallel calls and subagents arrive.
func Together(lines ...Line) Line {
	return Line{func(n narrator) bool {
		var pulls []func() (struct{}, bool)
		for _, line := range lines {
			next, stop := iter.Pull(func(yield func(struct{}) bool) {
				n := n
				n.turn = func() bool { return yield(struct{}{}) }
				line.tell(n)
			})
			defer stop()
			pulls = append(pulls, next)
		}
		for len(pulls) > 0 {
			left := pulls[:0]
			for _, next := range pulls {
				_, more := next()
				if n.stopped() || more && !n.turn() {
					return false
				}
				if more {
					left = append(left, next)
				}
			}
			pulls = left
		}
		return true
	}}
}

// value is a line that sends a JSON value.
func value(line string, x any, send func(narrator, state.Value) error) Line {
	v, err := state.Of(x)
	return Line{func(n narrator) bool {
		if err != nil {
			return n.fail(line + ": " + err.Error())
		}
		if err := send(n, v); err != nil && !errors.Is(err, emit.ErrClosed) && n.ctx.Err() == nil {
			return n.fail(line + ": " + err.Error())
		}
		return n.told(nil)
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
