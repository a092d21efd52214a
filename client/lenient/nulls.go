package lenient

import (
	"context"
	"fmt"
	"iter"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
)

// Nulls is a [client.Middleware] that takes an optional member that is null for an absent one (P-NULL-1). Nulls that are
// values, as in the state, a result or metadata, stay, and so do those of required members.
func Nulls(next client.Agent) client.Agent {
	return agent(func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
		return mapped(next.Run(ctx, in), nil, repairNulls())
	})
}

func repairNulls() repair {
	warnings := once{}
	return frames(func(f event.Frame) event.Frame {
		g, paths := f.WithoutNulls()
		switch len(paths) {
		case 0:
			return f
		case 1:
			return warnings.warned(g, "P-NULL-1", paths[0], "lenient.Nulls: null taken for an absent member")
		}
		return warnings.warned(g, "P-NULL-1", paths[0], fmt.Sprintf("lenient.Nulls: null taken for an absent member, here and in %d other places", len(paths)-1))
	})
}
