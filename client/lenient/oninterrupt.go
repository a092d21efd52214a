package lenient

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// OnInterrupt is a [client.Middleware] for agents that report interrupts as CUSTOM events with the name on_interrupt and
// expect the answer in forwardedProps.command, as LangGraph and Mastra do by default. It makes them interrupts of the
// protocol, which [client.Session.Resume] answers (P-INT-1).
//
// A run that finishes without an outcome, or with success, after such events is interrupted. The value of the event, parsed
// if it is JSON, is in the interrupt's metadata under on_interrupt, and decides the rest: a plain text, or a member message
// or question, is the message; toolCallId and resumeSchema of Mastra are the tool call and the response schema. If the run
// has interrupts of its own, they stand and nothing is changed.
//
// Answers to these interrupts are sent as forwardedProps.command.resume. A declined one is sent as Mastra and the adapter of
// LangGraph mean it: false, or an object with the member __agui_cancelled__. A payload that LangGraph's server would take for
// none (null, false, 0, "", {} and []) is sent as its JSON text, which it parses. Several answers are sent as one object by
// the ids of LangGraph; an agent that gave no ids gets the first answer, and a warning says so.
//
// What the answer has to name is in the interrupt's id, so an interrupt may be answered by another process, later.
func OnInterrupt(next client.Agent) client.Agent {
	return agent(func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
		in, notes := answered(in)
		return mapped(next.Run(ctx, in), notes, repairOnInterrupt(in.RunID))
	})
}

func repairOnInterrupt(runID string) repair {
	run := &interrupts{runID: runID}
	return run.see
}

const (
	onInterrupt = "on_interrupt"
	byLangGraph = onInterrupt + ":id:"   // then the id that LangGraph gave it
	byTool      = onInterrupt + ":tool:" // then the interruptEvent of the answer
	byRun       = onInterrupt + ":run:"  // then the id of the run and a number
)

// interrupts are those of one run.
type interrupts struct {
	runID string
	list  []event.Interrupt
	seen  map[string]bool // the ids in list
}

// see returns ev, or the end of a run as it should be.
func (r *interrupts) see(ev event.Event) event.Event {
	switch ev.Type() {
	case event.TypeRunStarted:
		r.list, r.seen = nil, nil
		if id, ok := event.FrameOfEvent(ev).Value().Get("runId").AsString(); ok {
			r.runID = id
		}
	case event.TypeCustom:
		r.note(ev)
	case event.TypeRunFinished:
		return r.finish(ev)
	}
	return ev
}

// note takes an interrupt from a CUSTOM event.
func (r *interrupts) note(ev event.Event) {
	v := event.FrameOfEvent(ev).Value()
	if name, _ := v.Get("name").AsString(); name != onInterrupt {
		return
	}
	value := parsed(v.Get("value"))
	in := event.Interrupt{ID: r.id(v.Get("rawEvent").Get("id"), value), Reason: onInterrupt}
	if r.seen[in.ID] {
		return // some adapters send it twice
	}
	if r.seen == nil {
		r.seen = make(map[string]bool)
	}
	r.seen[in.ID] = true
	in.Metadata, _ = messages.NewMetadata(state.Object(state.Member{Key: onInterrupt, Value: value}))
	text, ok := value.AsString()
	for _, key := range []string{"message", "question"} {
		if !ok {
			text, ok = value.Get(key).AsString()
		}
	}
	if ok {
		in.Message = messages.Some(text)
	}
	if id, ok := value.Get("toolCallId").AsString(); ok {
		in.ToolCallID = messages.Some(id)
	}
	if schema := parsed(value.Get("resumeSchema")); schema.Kind() == state.KindObject {
		in.ResponseSchema = schema
	}
	if owner, ok := v.Get("subagentRunId").AsString(); ok {
		in.SubagentRunID = messages.SubagentOwner(owner)
	}
	r.list = append(r.list, in)
}

// id returns an id that tells the answer how to name its interrupt.
func (r *interrupts) id(given, value state.Value) string {
	call, isCall := value.Get("toolCallId").AsString()
	run, isRun := value.Get("runId").AsString()
	if isCall && isRun {
		return byTool + state.Object(state.Member{Key: "toolCallId", Value: state.String(call)}, state.Member{Key: "runId", Value: state.String(run)}).String()
	}
	if id, ok := given.AsString(); ok && id != "" {
		return byLangGraph + id
	}
	return fmt.Sprintf("%s%s/%d", byRun, r.runID, len(r.list)+1)
}

// parsed returns the value whose JSON text v is, or v.
func parsed(v state.Value) state.Value {
	text, ok := v.AsString()
	if !ok {
		return v
	}
	if inner, err := state.Parse([]byte(text)); err == nil {
		return inner
	}
	return v
}

// finish returns the end of a run with the interrupts, if it does not say otherwise.
func (r *interrupts) finish(ev event.Event) event.Event {
	if len(r.list) == 0 {
		return ev
	}
	list := r.list
	r.list, r.seen = nil, nil
	f := event.FrameOfEvent(ev)
	outcome := f.Value().Get("outcome")
	if kind, _ := outcome.Get("type").AsString(); outcome.Exists() && kind != string(event.OutcomeSuccess) {
		return ev
	}
	made, err := state.Of(event.Outcome{Type: event.OutcomeInterrupt, Interrupts: list})
	if err != nil {
		return ev
	}
	return f.With("outcome", made).WithWarnings(event.Warning{
		Rule: "P-INT-1", Type: f.TypeName(), Path: "/outcome",
		Text: fmt.Sprintf("lenient.OnInterrupt: the run is interrupted, because of %d CUSTOM events with the name %s", len(list), onInterrupt),
	})
}

// answered returns the input with the answers to interrupts of this middleware where their agents expect them, and what
// could not be said.
func answered(in event.RunInput) (event.RunInput, []event.Warning) {
	var own, others []event.ResumeEntry
	for _, e := range in.Resume {
		if strings.HasPrefix(e.InterruptID, onInterrupt+":") {
			own = append(own, e)
		} else {
			others = append(others, e)
		}
	}
	props := in.ForwardedProps
	if len(own) == 0 || props.Exists() && props.Kind() != state.KindObject {
		return in, nil
	}
	in.Resume = others
	var notes []event.Warning
	resume, byID := resumeOfAll(own)
	if !byID {
		resume = resumeOf(own[0])
		if len(own) > 1 {
			notes = append(notes, event.Warning{
				Rule: "P-INT-1", Type: "RunAgentInput", Path: "/resume",
				Text: fmt.Sprintf("lenient.OnInterrupt: only the first of %d answers is sent, because the agent takes one at a time", len(own)),
			})
		}
	}
	command := state.Object(state.Member{Key: "resume", Value: resume})
	if about, ok := strings.CutPrefix(own[0].InterruptID, byTool); ok {
		command = command.With("interruptEvent", parsed(state.String(about)))
	}
	if given := props.Get("command"); given.Kind() == state.KindObject {
		for key, v := range given.Members() {
			command = command.With(key, v)
		}
	}
	if !props.Exists() {
		props = state.Object()
	}
	in.ForwardedProps = props.With("command", command)
	return in, notes
}

// resumeOfAll returns several answers by the ids of LangGraph, if all have one.
func resumeOfAll(entries []event.ResumeEntry) (state.Value, bool) {
	if len(entries) == 1 {
		return state.Value{}, false
	}
	all := state.Object()
	for _, e := range entries {
		id, ok := strings.CutPrefix(e.InterruptID, byLangGraph)
		if !ok {
			return state.Value{}, false
		}
		if e.Status == event.ResumeCancelled {
			all = all.With(id, cancelledBy(id))
		} else {
			all = all.With(id, orNull(e.Payload))
		}
	}
	return all, true
}

// resumeOf returns one answer.
func resumeOf(e event.ResumeEntry) state.Value {
	tool := strings.HasPrefix(e.InterruptID, byTool)
	switch {
	case e.Status == event.ResumeCancelled && tool:
		return state.Bool(false)
	case e.Status == event.ResumeCancelled:
		return cancelledBy(strings.TrimPrefix(e.InterruptID, byLangGraph))
	case !tool && seemsNone(e.Payload):
		return state.String(orNull(e.Payload).String())
	}
	return orNull(e.Payload)
}

func cancelledBy(id string) state.Value {
	return state.Object(state.Member{Key: "__agui_cancelled__", Value: state.Bool(true)}, state.Member{Key: "interrupt_id", Value: state.String(id)})
}

func orNull(v state.Value) state.Value {
	if !v.Exists() {
		return state.Null()
	}
	return v
}

// seemsNone reports whether Python takes v for false.
func seemsNone(v state.Value) bool {
	switch v.Kind() {
	case state.KindAbsent, state.KindNull:
		return true
	case state.KindBool:
		b, _ := v.AsBool()
		return !b
	case state.KindNumber:
		f, ok := v.AsFloat()
		return ok && f == 0
	case state.KindString:
		s, _ := v.AsString()
		return s == ""
	}
	return v.Len() == 0
}
