package lenient

import (
	"context"
	"iter"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// ReasoningRole is a [client.Middleware] that takes the role assistant of REASONING_MESSAGE_START for reasoning, the only
// one that the protocol allows there (P-ENF-4).
func ReasoningRole(next client.Agent) client.Agent {
	return agent(func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
		return mapped(next.Run(ctx, in), nil, repairReasoningRole())
	})
}

func repairReasoningRole() repair {
	warnings := once{}
	return frames(func(f event.Frame) event.Frame {
		if f.Type() != event.TypeReasoningMessageStart {
			return f
		}
		if role, _ := f.Value().Get("role").AsString(); role != string(messages.RoleAssistant) {
			return f
		}
		return warnings.warned(f.With("role", state.String(string(messages.RoleReasoning))), "P-ENF-4", "/role", "lenient.ReasoningRole: the role assistant taken for reasoning")
	})
}
