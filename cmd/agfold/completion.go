package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/agfold/agfold/cmd/agfold/internal/term"
)

// completionFlags is the command line of agfold completion.
type completionFlags struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help is what --help says before the flags.
func (f *completionFlags) Help() string {
	return `Prints a script with which a shell completes commands, flags, their values and file names.`
}

func (f *completionFlags) epilog() string {
	return `Examples:
  agfold completion bash > ~/.local/share/bash-completion/completions/agfold
  agfold completion zsh > "${fpath[1]}/_agfold"
  agfold completion fish > ~/.config/fish/completions/agfold.fish
`
}

func (f *completionFlags) check() string { return "" }

func (f *completionFlags) run(_ context.Context, t *terminal) int {
	app := commandLine()
	script := map[string]func(*kong.Application) string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}[f.Shell]
	return t.print(term.Clean(script(app)))
}

// commandLine is the model of the command line, the source of help, completions and the man page.
func commandLine() *kong.Application {
	return kong.Must(new(cli), kong.Name("agfold"), kong.Description(description)).Model
}

// completes returns what can follow a flag: its values, or else whether it is followed by something.
func completes(f *kong.Flag) (values []string, takes bool) {
	if f.IsBool() || f.IsCounter() {
		return nil, false
	}
	for _, v := range f.EnumSlice() {
		if v != "" {
			values = append(values, v)
		}
	}
	return values, true
}

// flagsOf returns the flags of a command, or of agfold, as they can be written.
func flagsOf(node *kong.Node) []*kong.Flag {
	var flags []*kong.Flag
	for _, f := range node.Flags {
		if !f.Hidden {
			flags = append(flags, f)
		}
	}
	return flags
}

// valuesOf returns the values that an argument of a command must be one of.
func valuesOf(node *kong.Node) []string {
	if len(node.Positional) > 0 && node.Positional[0].Enum != "" {
		return node.Positional[0].EnumSlice()
	}
	return nil
}

func bashCompletion(app *kong.Application) string {
	var commands, words, values strings.Builder
	global := bashFlags(app.Node)
	for i, c := range app.Children {
		if i > 0 {
			commands.WriteString("|")
		}
		commands.WriteString(c.Name)
		fmt.Fprintf(&words, "\t%s) words=%q ;;\n", c.Name, strings.Join(append(append(bashFlags(c), global...), valuesOf(c)...), " "))
		for _, f := range flagsOf(c) {
			if list, takes := completes(f); takes {
				fmt.Fprintf(&values, "\t\"%s --%s\") words=%q; cur_is_value=1 ;;\n", c.Name, f.Name, strings.Join(list, " "))
			}
		}
	}
	return `# bash completion for agfold; agfold completion bash prints it.
_agfold() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command="" words="" cur_is_value="" i
	if [[ $cur == "=" ]]; then # --flag=value is three words
		cur=""
	elif [[ $prev == "=" ]]; then
		prev=${COMP_WORDS[COMP_CWORD-2]}
	fi
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		` + commands.String() + `) command=${COMP_WORDS[i]}; break ;;
		esac
	done
	COMPREPLY=()
	case "$command" in
	"") words="` + strings.ReplaceAll(commands.String(), "|", " ") + " " + strings.Join(global, " ") + `" ;;
` + words.String() + `	esac
	case "$command $prev" in
` + values.String() + `	esac
	if [[ -z $cur_is_value && -n $command && $cur != -* ]]; then # an argument: a value, or else a file
		words=" $words "
		local word rest=""
		for word in $words; do
			[[ $word == -* ]] || rest+=" $word"
		done
		words=$rest
	fi
	[[ -z $words ]] || COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -o bashdefault -F _agfold agfold
`
}

func bashFlags(node *kong.Node) []string {
	var words []string
	for _, f := range flagsOf(node) {
		words = append(words, "--"+f.Name)
		if f.Short != 0 {
			words = append(words, "-"+string(f.Short))
		}
	}
	return words
}

func zshCompletion(app *kong.Application) string {
	var commands, cases strings.Builder
	for _, c := range app.Children {
		fmt.Fprintf(&commands, "\t\t\t'%s:%s'\n", c.Name, zshQuote(strings.ReplaceAll(c.Help, ":", `\:`)))
		fmt.Fprintf(&cases, "\t\t%s)\n\t\t\t_arguments \\\n%s%s", c.Name, zshFlags(c, "\t\t\t\t"), zshFlags(app.Node, "\t\t\t\t"))
		if values := valuesOf(c); values != nil {
			fmt.Fprintf(&cases, "\t\t\t\t'1:value:(%s)'\n\t\t\t;;\n", strings.Join(values, " "))
		} else {
			cases.WriteString("\t\t\t\t'*:file:_files'\n\t\t\t;;\n")
		}
	}
	return `#compdef agfold
# zsh completion for agfold; agfold completion zsh prints it.
_agfold() {
	local curcontext=$curcontext state line
	typeset -A opt_args
	_arguments -C \
` + zshFlags(app.Node, "\t\t") + `		'1:command:->command' \
		'*::argument:->argument'
	case $state in
	command)
		local -a commands
		commands=(
` + commands.String() + `		)
		_describe command commands
		;;
	argument)
		case $words[1] in
` + cases.String() + `		esac
		;;
	esac
}
if [[ $funcstack[1] == _agfold ]]; then
	_agfold "$@"
else
	compdef _agfold agfold
fi
`
}

func zshFlags(node *kong.Node, indent string) string {
	var b strings.Builder
	for _, f := range flagsOf(node) {
		help := zshQuote(strings.NewReplacer("[", `\[`, "]", `\]`, ":", `\:`).Replace(f.Help))
		values, takes := completes(f)
		spec := fmt.Sprintf("--%s[%s]", f.Name, help)
		switch {
		case len(values) > 0:
			spec = fmt.Sprintf("--%s=[%s]:value:(%s)", f.Name, help, strings.Join(values, " "))
		case takes:
			spec = fmt.Sprintf("--%s=[%s]:value:_files", f.Name, help)
		}
		fmt.Fprintf(&b, "%s'%s' \\\n", indent, spec)
	}
	return b.String()
}

// zshQuote is a text inside of single quotes.
func zshQuote(s string) string { return strings.ReplaceAll(s, "'", `'\''`) }

func fishCompletion(app *kong.Application) string {
	quote := func(s string) string {
		return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'"
	}
	var b strings.Builder
	b.WriteString("# fish completion for agfold; agfold completion fish prints it.\n")
	flags := func(node *kong.Node, when string) {
		for _, f := range flagsOf(node) {
			fmt.Fprintf(&b, "complete -c agfold %s-l %s", when, f.Name)
			if f.Short != 0 {
				fmt.Fprintf(&b, " -s %c", f.Short)
			}
			if values, takes := completes(f); len(values) > 0 {
				fmt.Fprintf(&b, " -x -a %s", quote(strings.Join(values, " ")))
			} else if takes {
				b.WriteString(" -r")
			}
			fmt.Fprintf(&b, " -d %s\n", quote(f.Help))
		}
	}
	flags(app.Node, "")
	for _, c := range app.Children {
		fmt.Fprintf(&b, "complete -c agfold -n __fish_use_subcommand -f -a %s -d %s\n", c.Name, quote(c.Help))
		seen := "-n '__fish_seen_subcommand_from " + c.Name + "' "
		if values := valuesOf(c); values != nil {
			fmt.Fprintf(&b, "complete -c agfold %s-f -a %s\n", seen, quote(strings.Join(values, " ")))
		}
		flags(c, seen)
	}
	return b.String()
}
