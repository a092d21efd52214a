// Command agfold-jetstream runs agents whose threads are on NATS JetStream, and follows, stops and checks them from anywhere.
//
// Two terminals are enough to try it:
//
//	agfold-jetstream serve
//	agfold-jetstream run --publish nats://127.0.0.1:4222 --thread lisbon --message "Plan a weekend in Lisbon."
//
// serve starts a NATS server in its process, and serves the threads over HTTP; follow --from nats://127.0.0.1:4222 lisbon, in a
// third one, shows the thread while it is written.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
)

// cli is the command line.
type cli struct {
	Serve  serveCmd  `cmd:"" help:"Start a NATS server in this process, and serve threads over HTTP."`
	Run    runCmd    `cmd:"" help:"Run an agent on a thread, and publish it."`
	Follow followCmd `cmd:"" help:"Show a thread while another process writes it."`
	Stop   stopCmd   `cmd:"" help:"Have the process that holds a thread stop its run."`
	Check  checkCmd  `cmd:"" help:"Check the logs of all threads: no entry lost or doubled, never two writers."`
}

const description = "agfold-jetstream keeps threads of AG-UI agents on NATS JetStream: one process runs the agent, any number follow."

// The exit statuses.
const (
	exitOK = iota
	exitFailed
	exitUsage
)

// terminal is where a command reads and writes.
type terminal struct{ out, err io.Writer }

// errUsage is matched by what is wrong with the command line.
var errUsage = errors.New("usage")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], terminal{os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
}

// run runs a command line and returns the exit status.
func run(ctx context.Context, args []string, t terminal) int {
	model, exited := new(cli), false
	parser := kong.Must(model, kong.Name("agfold-jetstream"), kong.Description(description), kong.Writers(t.out, t.err),
		kong.Exit(func(int) { exited = true }), kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(args)
	if exited {
		return exitOK
	}
	if err == nil {
		slog.SetDefault(slog.New(slog.NewTextHandler(t.err, nil)))
		parsed.BindTo(ctx, (*context.Context)(nil))
		err = parsed.Run(t)
	} else {
		err = fmt.Errorf("%w: %w", errUsage, err)
	}
	switch {
	case err == nil, errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return exitOK
	case errors.Is(err, errUsage):
		fmt.Fprintf(t.err, "agfold-jetstream: %s; see --help\n", clean(strings.TrimPrefix(err.Error(), errUsage.Error()+": ")))
		return exitUsage
	}
	fmt.Fprintf(t.err, "agfold-jetstream: %s\n", clean(err.Error()))
	return exitFailed
}
