package event

import (
	"strings"

	"github.com/agfold/agfold/messages"
)

// Contradictions finds where a stream does what its agent has declared that it does not do. That is worth a complaint and
// nothing more: the stream counts (P-CAP-2). It is for the events of one stream, as they are after chunks were expanded, and for one
// goroutine at a time.
type Contradictions struct {
	c        *Capabilities
	told     map[string]bool
	calls    int             // that are open
	thinking map[string]bool // open reasoning messages that have a delta
}

// Contradictions returns a Contradictions for one stream; nil, which finds nothing, if c is nil.
func (c *Capabilities) Contradictions() *Contradictions {
	if c == nil {
		return nil
	}
	return &Contradictions{c: c, told: make(map[string]bool), thinking: make(map[string]bool)}
}

// Of returns what an event contradicts, each field once in a run: warnings under P-CAP-2 whose path is that of the field in
// the declaration. Their ordinals are 0. It looks at what the declaration says is false: tools.supported and parallelCalls,
// state.snapshots and deltas, multiAgent.supported and delegation, reasoning (each field), and humanInTheLoop.supported
// and interrupts.
func (x *Contradictions) Of(ev Event) []Warning {
	if x == nil {
		return nil
	}
	var found []Warning
	deny := func(no messages.Opt[bool], path, what string) {
		if yes, declared := no.Get(); declared && !yes && !x.told[path] {
			x.told[path] = true
			found = append(found, Warning{Rule: "P-CAP-2", Type: ev.Type().String(), Path: path,
				Text: "the agent declares that it does not " + what + ", and does"})
		}
	}
	c := *x.c
	tools, shared, multi, reasoning, human := orZero(c.Tools), orZero(c.State), orZero(c.MultiAgent), orZero(c.Reasoning), orZero(c.HumanInTheLoop)
	switch e := ev.(type) {
	case *RunStarted:
		*x = *x.c.Contradictions()
	case *ToolCallStart:
		deny(tools.Supported, "/tools/supported", "call tools")
		if x.calls > 0 {
			deny(tools.ParallelCalls, "/tools/parallelCalls", "call several tools at the same time")
		}
		x.calls++
	case *ToolCallEnd:
		x.calls--
	case *StateSnapshot:
		deny(shared.Snapshots, "/state/snapshots", "send snapshots of the state")
	case *StateDelta:
		deny(shared.Deltas, "/state/deltas", "send patches of the state")
	case *SubagentStarted:
		deny(multi.Supported, "/multiAgent/supported", "work with other agents")
		deny(multi.Delegation, "/multiAgent/delegation", "delegate to subagents")
	case *ReasoningStart, *ReasoningMessageStart:
		deny(reasoning.Supported, "/reasoning/supported", "show its reasoning")
	case *ReasoningMessageContent:
		if x.thinking[e.MessageID] {
			deny(reasoning.Streaming, "/reasoning/streaming", "stream its reasoning")
		} else if reasoning.Streaming.IsSet() {
			x.thinking[strings.Clone(e.MessageID)] = true // the event may be lent
		}
	case *ReasoningMessageEnd:
		delete(x.thinking, e.MessageID)
	case *ReasoningEncryptedValue:
		deny(reasoning.Encrypted, "/reasoning/encrypted", "encrypt its reasoning")
	case *RunFinished:
		if e.Outcome.Type == OutcomeInterrupt {
			deny(human.Supported, "/humanInTheLoop/supported", "ask people")
			deny(human.Interrupts, "/humanInTheLoop/interrupts", "interrupt runs")
		}
	}
	return found
}

func orZero[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
