package demo

import (
	"context"
	"time"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/emit"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

// Agent returns the agent. pace scales its pauses: 1 is the pace of a model, 2 is twice as slow, 0 or less is without any
// pause.
func Agent(pace float64) client.Agent {
	return client.Declare(emit.Agent(func(ctx context.Context, run *emit.Run) error {
		start, clock := time.Now(), time.Duration(0)
		s := &script{Scope: &run.Scope, ids: run.Input().RunID, pause: func(d time.Duration) {
			clock += d
			until(ctx, start.Add(time.Duration(float64(clock)*max(pace, 0))))
		}}
		return s.tell(run)
	}, nil), capabilities())
}

// capabilities is what the agent declares about itself.
func capabilities() *event.Capabilities {
	yes, no := messages.Some(true), messages.Some(false)
	return &event.Capabilities{
		Identity:       &event.IdentityCapabilities{Name: messages.Some("Weekend in Lisbon"), Type: messages.Some("agfold"), Version: messages.Some("1.0")},
		Tools:          &event.ToolsCapabilities{Supported: yes, ClientProvided: yes},
		State:          &event.StateCapabilities{Snapshots: yes, Deltas: yes, Memory: no},
		MultiAgent:     &event.MultiAgentCapabilities{Supported: yes, Delegation: yes, Subagents: []event.SubagentInfo{{Name: "flights"}, {Name: "sights"}}},
		Reasoning:      &event.ReasoningCapabilities{Supported: yes, Streaming: yes, Encrypted: no},
		Multimodal:     &event.MultimodalCapabilities{Input: &event.MultimodalInputCapabilities{Image: no, Audio: no, Video: no, PDF: no, File: no}},
		HumanInTheLoop: &event.HumanInTheLoopCapabilities{Supported: yes, Approvals: yes, Interrupts: yes},
	}
}

// until waits until a time or the end of ctx.
func until(ctx context.Context, at time.Time) {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
