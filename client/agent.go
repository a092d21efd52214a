package client

import (
	"context"
	"iter"

	"github.com/agfold/agfold/event"
)

// An Agent runs requests: an HTTP server, a recording, or a Go function. All methods may be called concurrently.
type Agent interface {
	// Run returns the events of one run, frames or typed events, as they arrive. Nothing happens until the sequence is
	// iterated. It may be iterated only once.
	//
	// An error comes alone, with a nil event, and last. A sequence that ends without an error need not be a finished run:
	// the reducer judges that (P-RUN-1). Leaving the loop releases what the run holds, goroutines and connections, before
	// the range statement ends. When ctx is done, the sequence ends with an error that matches ctx.Err(). There is no
	// queue: a slow reader slows the agent down.
	//
	// Run reads in and what it refers to until the sequence ends, and does not change it.
	Run(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error]
}
