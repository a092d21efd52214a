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
func All(next client.Agent) client.Agent { return Nulls(ReasoningRole(OnInterrupt(next))) }

// agent is an Agent whose run is a function.
type agent func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error]

func (a agent) Run(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
	return a(ctx, in)
}

// repaired returns events with each frame as repair returns it. Typed events were made in Go and pass.
func repaired(events iter.Seq2[event.Event, error], repair func(event.Frame) event.Frame) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for ev, err := range events {
			if f, ok := ev.(event.Frame); ok {
				if g := repair(f); g != f {
					ev = g
				}
			}
			if !yield(ev, err) || err != nil {
				return
			}
		}
	}
}

// once makes the warnings of one run: one for each type of event.
type once map[event.Type]bool

func (o once) warned(f event.Frame, rule, path, text string) event.Frame {
	if o[f.Type()] {
		return f
	}
	o[f.Type()] = true
	return f.WithWarnings(event.Warning{Rule: rule, Type: f.TypeName(), Path: path, Text: text + "; more like this in this run are not reported"})
}
