// Package lenient repairs what some widely used servers get wrong, in ways that lose nothing. Nothing here is on unless you
// ask for it: without a repair such a stream is rejected, and the error names the repair that would help
// ([messages.MalformedError.Hint]).
//
// Each repair is a [client.Middleware]:
//
//   - [Nulls] for servers that write null for a member that is absent, such as .NET servers with the AG-UI SDK 1.0.0.
//   - [ReasoningRole] for servers that send REASONING_MESSAGE_START with the role assistant, such as some in Go.
//   - [OnInterrupt] for servers that report an interrupt as a CUSTOM event, as LangGraph and Mastra do by default.
//   - [All] is all of them.
//
// Every repair warns, once in a run for each type of event, and does not touch, copy or decode the events that need none.
//
// The rules cited as P-… are in [PROTOCOL.md].
//
// [PROTOCOL.md]: https://github.com/agfold/agfold/blob/main/PROTOCOL.md
package lenient

import (
	"context"
	"iter"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
)

// All is a [client.Middleware] with all repairs of this package.
func All(next client.Agent) client.Agent {
	return agent(func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
		in, notes := answered(in)
		return mapped(next.Run(ctx, in), notes, repairAll(in.RunID))
	})
}

// Repair returns a function that repairs the events of one stream, in their order, as [All] does: for
// recording.FoldOptions.Repair. An event that needs no repair comes back as it is. The function is for one goroutine at a
// time.
func Repair() func(event.Event) event.Event { return repairAll("") }

func repairAll(runID string) repair {
	nulls, role, interrupts := repairNulls(), repairReasoningRole(), repairOnInterrupt(runID)
	return func(ev event.Event) event.Event { return nulls(role(interrupts(ev))) }
}

// repair returns an event of a stream, or what takes its place.
type repair = func(event.Event) event.Event

// frames returns the repair of frames. Typed events were made in Go, and pass.
func frames(do func(event.Frame) event.Frame) repair {
	return func(ev event.Event) event.Event {
		f, ok := ev.(event.Frame)
		if !ok {
			return ev
		}
		if g := do(f); g != f {
			return g
		}
		return ev
	}
}

// agent is an Agent whose run is a function.
type agent func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error]

func (a agent) Run(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
	return a(ctx, in)
}

// mapped returns events, each as repair returns it, with notes on the first of them.
func mapped(events iter.Seq2[event.Event, error], notes []event.Warning, repair repair) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for ev, err := range events {
			if err == nil {
				ev = repair(ev)
				if notes != nil {
					ev, notes = event.FrameOfEvent(ev).WithWarnings(notes...), nil
				}
			}
			if !yield(ev, err) || err != nil {
				return
			}
		}
	}
}

// once makes the warnings of one stream: one for each type of event.
type once map[event.Type]bool

func (o once) warned(f event.Frame, rule, path, text string) event.Frame {
	if o[f.Type()] {
		return f
	}
	o[f.Type()] = true
	return f.WithWarnings(event.Warning{Rule: rule, Type: f.TypeName(), Path: path, Text: text + "; more like this in this run are not reported"})
}
