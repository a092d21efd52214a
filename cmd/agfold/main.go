// Command agfold works with AG-UI event streams from a terminal: see agfold --help.
package main

import (
	"context"
	"os"
	"os/signal"
)

// The exit statuses. For several files it is the highest of theirs.
const (
	exitOK          = 0   // the run succeeded, was interrupted or cancelled
	exitFailed      = 1   // the run reported RUN_ERROR
	exitUsage       = 2   // wrong usage
	exitRejected    = 3   // the stream broke the protocol
	exitTruncated   = 4   // the stream ended before the run did
	exitUnreadable  = 5   // the input is not a recording, or cannot be read
	exitInterrupted = 130 // Ctrl-C
	exitBrokenPipe  = 141 // the reader of the output is gone
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), endSignals()...)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	os.Exit(run(ctx, os.Args[1:], systemTerminal()))
}
