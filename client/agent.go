package client

import (
	"context"
	"iter"

	"github.com/agfold/agfold/event"
)

// Agent is what a run is asked of: a server behind HTTP, a recording, or a Go function. An Agent may be
// used by several goroutines at once.
type Agent interface {
	// Run returns the events of one run, frames or typed events, as they come. Nothing happens until the
	// sequence is ranged over, which may be done once.
	//
	// An error comes alone, with a nil event, and last; a clean end yields none, which does not mean that
	// the run has finished: that is for the reducer to judge (P-RUN-1). Breaking off releases everything
	// that the run holds, goroutines and connections, before the range statement is left. Cancelling ctx at
	// any time ends the sequence with an error that matches ctx.Err(). A reader that takes its time holds
	// the agent up: there is no queue.
	//
	// Run reads in and what it refers to until the sequence ends, and changes nothing in it.
	Run(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error]
}
