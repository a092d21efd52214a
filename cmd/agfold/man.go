package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/agfold/agfold/cmd/agfold/internal/term"
)

// manFlags is the command line of agfold man.
type manFlags struct{}

// Help is what --help says before the flags.
func (f *manFlags) Help() string {
	return `Prints the manual page agfold(1), with the help of all commands.`
}

func (f *manFlags) epilog() string {
	return `Examples:
  agfold man | man -l -
  agfold man > ~/.local/share/man/man1/agfold.1
`
}

func (f *manFlags) check() string { return "" }

func (f *manFlags) run(_ context.Context, t *terminal) int {
	return t.print(term.Clean(manPage(commandLine(), version())))
}

// manPage writes the help of all commands in the language of man(7).
func manPage(app *kong.Application, version string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH AGFOLD 1 \"\" \"agfold %s\" \"User Commands\"\n", manText(version))
	b.WriteString(".SH NAME\nagfold \\- fold AG\\-UI event streams into threads\n")
	b.WriteString(".SH SYNOPSIS\n.B agfold\n.I command\n.RI [ arguments ]\n.RI [ flags ]\n")
	fmt.Fprintf(&b, ".SH DESCRIPTION\n%s\n", manText(description))
	b.WriteString(".SH FLAGS\n")
	manFlagsOf(&b, app.Node)
	b.WriteString(".SH COMMANDS\n")
	for _, c := range app.Children {
		fmt.Fprintf(&b, ".SS %s\n", manText(strings.TrimPrefix(c.Summary(), "agfold ")))
		fmt.Fprintf(&b, "%s\n", manText(c.Help))
		manProse(&b, c.Detail)
		for _, p := range c.Positional {
			fmt.Fprintf(&b, ".TP\n.I %s\n%s\n", manText(p.Name), manText(p.Help))
		}
		manFlagsOf(&b, c)
		manProse(&b, c.Target.Addr().Interface().(command).epilog())
	}
	return b.String()
}

// manFlagsOf writes the flags of a command, or of agfold.
func manFlagsOf(b *strings.Builder, node *kong.Node) {
	for _, f := range flagsOf(node) {
		name := "--" + f.Name
		if f.Short != 0 {
			name = "-" + string(f.Short) + ", " + name
		}
		fmt.Fprintf(b, ".TP\n.B %s", manText(name))
		if _, takes := completes(f); takes {
			value := f.PlaceHolder
			if value == "" {
				value = "VALUE"
			}
			fmt.Fprintf(b, " \\fI%s\\fR", manText(value))
		}
		fmt.Fprintf(b, "\n%s\n", manText(f.Help))
	}
}

// manProse writes paragraphs. Those with indented lines are set as they are.
func manProse(b *strings.Builder, text string) {
	for paragraph := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n\n") {
		if strings.TrimSpace(paragraph) == "" {
			continue
		}
		asIs := strings.Contains("\n"+paragraph, "\n ")
		b.WriteString(".PP\n")
		if asIs {
			b.WriteString(".nf\n")
		}
		for line := range strings.SplitSeq(strings.Trim(paragraph, "\n"), "\n") {
			fmt.Fprintf(b, "%s\n", manText(line))
		}
		if asIs {
			b.WriteString(".fi\n")
		}
	}
}

// manText escapes what roff would take for its own.
func manText(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n", " ").Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}
