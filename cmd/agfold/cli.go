package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/event"
)

// cli is the command line: its commands, arguments and flags, and their help texts.
type cli struct {
	Run        runFlags        `cmd:"" help:"Talk to an agent, or to the demo agent, and watch its runs live."`
	Replay     replayFlags     `cmd:"" help:"Fold recorded runs and print the threads that they make."`
	Step       stepFlags       `cmd:"" help:"Walk through a recording and see what each event changes."`
	Explain    explainFlags    `cmd:"" help:"Explain why a stream is rejected, and its warnings."`
	Lint       lintFlags       `cmd:"" help:"Find what the protocol allows and an agent's author did not mean."`
	Diff       diffFlags       `cmd:"" help:"Say how two recordings differ, or a recording and a thread."`
	Compact    compactFlags    `cmd:"" help:"Print the shortest stream that makes the same thread."`
	Convert    convertFlags    `cmd:"" help:"Print a recording in another form, or redacted."`
	Web        webFlags        `cmd:"" help:"Show an agent or recordings on a page: conversation, timeline, state, time travel."`
	ServeDemo  serveFlags      `cmd:"" help:"Serve the demo agent over HTTP."`
	Completion completionFlags `cmd:"" help:"Print a script that completes commands and flags in a shell."`
	Man        manFlags        `cmd:"" help:"Print the manual page."`
	Version    bool            `help:"Print the version of agfold and of the protocol that it speaks."`
}

const description = `agfold folds AG-UI event streams into threads: messages, tool calls, shared state, activities, subagents, and how ` +
	`each run ended.`

// command is one of the commands of cli.
type command interface {
	// check says what is wrong with the flags; "" if nothing is.
	check() string
	// run runs the command and returns the exit status.
	run(ctx context.Context, t *terminal) int
	// epilog is what --help says after the flags.
	epilog() string
}

// run runs a command line and returns the exit status.
func run(ctx context.Context, args []string, t *terminal) int {
	var help bytes.Buffer
	model := new(cli)
	parser := kong.Must(model, kong.Name("agfold"), kong.Description(description), kong.Writers(&help, io.Discard),
		kong.Exit(func(int) {}), kong.Help(printHelp), kong.WithHyphenPrefixedParameters(true),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}))
	bare := len(args) == 0
	if bare {
		args = []string{"--help"}
	} else if args[0] == "help" {
		args = append(args[1:len(args):len(args)], "--help")
	} else if args[0] == "version" {
		args = []string{"--version"}
	}
	parsed, err := parser.Parse(args)
	switch {
	case help.Len() > 0 && bare:
		t.tell(term.Clean(help.String()))
		return exitUsage
	case help.Len() > 0:
		return t.print(term.Clean(help.String()))
	case model.Version:
		return t.print(term.Sprintf("agfold %s (AG-UI %s)\n", version(), event.ProtocolVersion))
	case err != nil:
		return wrongCommandLine(err, args, t)
	}
	selected := parsed.Selected()
	if name := emptyFlag(parsed); name != "" {
		return wrongUsage(selected.Name, "--"+name+" is empty", t)
	}
	c := selected.Target.Addr().Interface().(command)
	if wrong := c.check(); wrong != "" {
		return wrongUsage(selected.Name, wrong, t)
	}
	if err := t.startDebug(); err != nil {
		return wrongUsage(selected.Name, debugVariable+": "+err.Error(), t)
	}
	return c.run(ctx, t)
}

// emptyFlag returns the name of a flag that was given an empty text, as a shell makes of a variable that is not set; "" if
// there is none.
func emptyFlag(parsed *kong.Context) string {
	for _, p := range parsed.Path {
		if p.Flag == nil {
			continue
		}
		switch v := parsed.FlagValue(p.Flag).(type) {
		case string:
			if v == "" {
				return p.Flag.Name
			}
		case []string:
			if slices.Contains(v, "") {
				return p.Flag.Name
			}
		}
	}
	return ""
}

// printHelp prints the help of one command, or of agfold.
func printHelp(options kong.HelpOptions, c *kong.Context) error {
	if err := kong.DefaultHelpPrinter(options, c); err != nil || c.Selected() == nil {
		return err
	}
	_, err := fmt.Fprintf(c.Stdout, "\n%s", c.Selected().Target.Addr().Interface().(command).epilog())
	return err
}

// wrongCommandLine says what is wrong with a command line that could not be parsed.
func wrongCommandLine(err error, args []string, t *terminal) int {
	if failed, ok := errors.AsType[*kong.ParseError](err); ok && failed.Context != nil && failed.Context.Selected() != nil {
		text, name := err.Error(), failed.Context.Selected().Name
		if said, ok := strings.CutPrefix(text, "unexpected argument "); ok && name == "run" {
			text += ": to send a message, use --message " + quoteArg(said)
		}
		return wrongUsage(name, text, t)
	}
	text := err.Error()
	said, ok := strings.CutPrefix(text, "unexpected argument ")
	if ok && !strings.Contains(said, "did you mean") {
		var names []string
		if failed, ok := errors.AsType[*kong.ParseError](err); ok && failed.Context != nil {
			for _, c := range failed.Context.Model.Children {
				if !c.Hidden {
					names = append(names, c.Name)
				}
			}
		}
		text = "unknown command " + said + "; the commands are " + strings.Join(names, ", ")
	}
	t.say("agfold: %s", text)
	if _, err := os.Stat(args[0]); err == nil {
		t.say("To read a recording: agfold replay %s", args[0])
	}
	t.say("agfold --help lists the commands.")
	return exitUsage
}

// wrongUsage says what is wrong with the flags or arguments of a command.
func wrongUsage(command, text string, t *terminal) int {
	t.say("agfold %s: %s", command, text)
	t.say("agfold %s --help shows how to use it.", command)
	return exitUsage
}

// version returns the version of the module that this command was built from.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
