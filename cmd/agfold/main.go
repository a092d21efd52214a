// Command agfold works with AG-UI event streams from a terminal: see agfold --help.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/event"
)

// The exit statuses. Of several files the highest counts.
const (
	exitOK          = 0   // the run succeeded, was interrupted or cancelled
	exitFailed      = 1   // the run said RUN_ERROR
	exitUsage       = 2   // wrong usage
	exitRejected    = 3   // the stream broke the protocol
	exitTruncated   = 4   // the stream ended before the run did
	exitUnreadable  = 5   // the input is no recording, or cannot be read
	exitInterrupted = 130 // Ctrl-C
	exitBrokenPipe  = 141 // nobody reads the output any more
)

// command is a subcommand.
type command struct {
	name    string
	summary string // one line
	help    string // all of its --help
	run     func(ctx context.Context, args []string, t *terminal) int
}

// commands lists the subcommands in the order of the help.
func commands() []command {
	return []command{
		{"run", "talk to an agent, or to the demo agent, and watch its runs live", runHelp, runAgent},
		{"replay", "fold recorded runs and print the threads they make", replayHelp, replay},
		{"serve-demo", "serve the demo agent over HTTP", serveHelp, serveDemo},
	}
}

const helpHead = `agfold folds AG-UI event streams into threads: messages, tool calls, shared state,
activities, subagents, and how each run ended.

Usage:

    agfold COMMAND [FLAGS] [ARGUMENTS]

Commands:

`

const helpTail = `
agfold COMMAND --help tells all about a command.

Flags:

    -h, --help      this text
        --version   the version of agfold and of the protocol it speaks
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	os.Exit(run(ctx, os.Args[1:], systemTerminal()))
}

// run carries out a command line and returns the exit status.
func run(ctx context.Context, args []string, t *terminal) int {
	if len(args) == 0 {
		t.stderr.Print(term.Clean(help()))
		t.stderr.Flush()
		return exitUsage
	}
	switch name := args[0]; name {
	case "-h", "-help", "--help":
		return t.print(term.Clean(help()))
	case "help":
		if len(args) == 1 {
			return t.print(term.Clean(help()))
		}
		if c := find(args[1]); c != nil {
			return t.print(term.Clean(c.help))
		}
		return unknown(args[1], t)
	case "-version", "--version", "version":
		return t.print(term.Sprintf("agfold %s (AG-UI %s)\n", version(), event.ProtocolVersion))
	default:
		if c := find(name); c != nil {
			return c.run(ctx, args[1:], t)
		}
		return unknown(name, t)
	}
}

func find(name string) *command {
	for _, c := range commands() {
		if c.name == name {
			return &c
		}
	}
	return nil
}

func help() string {
	var b strings.Builder
	b.WriteString(helpHead)
	for _, c := range commands() {
		fmt.Fprintf(&b, "    %-12s %s\n", c.name, c.summary)
	}
	b.WriteString(helpTail)
	return b.String()
}

// unknown says that there is no such command, and which one may have been meant.
func unknown(name string, t *terminal) int {
	what := "command"
	if strings.HasPrefix(name, "-") {
		what = "flag"
	}
	t.say("agfold: there is no %s %q", what, name)
	for _, c := range commands() {
		if what == "command" && distance(name, c.name) <= 1+len(c.name)/3 {
			t.say("Did you mean agfold %s?", c.name)
		}
	}
	if _, err := os.Stat(name); err == nil {
		t.say("To read a recording: agfold replay %s", name)
	}
	t.say("agfold --help lists the commands.")
	return exitUsage
}

// distance is the number of letters to add, drop, change or swap with the next to make b of a.
func distance(a, b string) int {
	if len(a) > 32 {
		return len(a)
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

// version is that of the module this command was built from.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// oneDash finds the dash before the flag that an error of package flag is about; --help writes two.
var oneDash = regexp.MustCompile(`^(flag provided but not defined: |flag needs an argument: |` +
	`invalid (?:boolean )?value "(?:[^"\\]|\\.)*" for (?:flag )?)-`)

// parse reads flags wherever they stand among the arguments and returns the others; all behind -- are
// arguments. It returns ok false, and the exit status, if there is nothing more to do.
func parse(fs *flag.FlagSet, help string, args []string, t *terminal) (rest []string, status int, ok bool) {
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	for len(args) > 0 {
		err := fs.Parse(args)
		if errors.Is(err, flag.ErrHelp) {
			return nil, t.print(term.Clean(help)), false
		}
		if err != nil {
			return nil, wrongUsage(fs, oneDash.ReplaceAllString(err.Error(), "$1--"), t), false
		}
		taken := len(args) - fs.NArg()
		if taken > 0 && args[taken-1] == "--" {
			return append(rest, fs.Args()...), exitOK, true
		}
		if args = fs.Args(); len(args) > 0 {
			rest, args = append(rest, args[0]), args[1:]
		}
	}
	return rest, exitOK, true
}

// wrongUsage says what is wrong with a command line.
func wrongUsage(fs *flag.FlagSet, text string, t *terminal) int {
	t.say("agfold %s: %s", fs.Name(), text)
	t.say("agfold %s --help tells how to use it.", fs.Name())
	return exitUsage
}

// say writes one line to standard error, after what was written to standard output.
func (t *terminal) say(format term.Constant, args ...any) {
	t.tell(term.Sprintf(format, args...).Plus(term.Lit("\n")))
}

// tell writes a text to standard error, after what was written to standard output.
func (t *terminal) tell(text term.Text) {
	t.stdout.Flush()
	t.stderr.Print(text)
	t.stderr.Flush()
}
