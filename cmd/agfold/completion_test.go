package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shell returns the path of a program, or skips the test.
func shell(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("there is no %s", name)
	}
	return path
}

// script writes what a command line prints to a file.
func script(t *testing.T, args ...string) string {
	t.Helper()
	got := agfold(t, "", args...)
	require.Equal(t, exitOK, got.status, got.stderr)
	file := filepath.Join(t.TempDir(), "script")
	require.NoError(t, os.WriteFile(file, []byte(got.stdout), 0o644))
	return file
}

// completions are what a shell must offer for words, the last of which is being written. No words: file names, by default.
var completions = []struct {
	name  string
	words []string
	want  []string
}{
	{"commands", []string{"re"}, []string{"replay"}},
	{"all commands", []string{""}, []string{"compact", "completion", "convert", "diff", "explain", "lint", "man", "replay", "run", "serve-demo", "step"}},
	{"flags of a command", []string{"convert", "--o"}, []string{"--otlp"}},
	{"flags that every command has", []string{"convert", "--vers"}, []string{"--version"}},
	{"the values of a flag", []string{"convert", "run.sse", "--to", "a"}, []string{"agfold", "array"}},
	{"the values of an argument", []string{"completion", ""}, []string{"bash", "fish", "zsh"}},
	{"not the flags of another command", []string{"man", "--ot"}, nil},
}

func TestBashCompletion(t *testing.T) {
	bash := shell(t, "bash")
	file := script(t, "completion", "bash")
	complete := func(words ...string) []string {
		words = append([]string{"agfold"}, words...)
		quoted := "'" + strings.Join(words, "' '") + "'"
		out, err := exec.Command(bash, "--norc", "-uc", "source "+file+"; COMP_WORDS=("+quoted+"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _agfold agfold; "+
			`[[ ${#COMPREPLY[@]} -eq 0 ]] || printf '%s\n' "${COMPREPLY[@]}"`).CombinedOutput()
		require.NoError(t, err, string(out))
		return strings.Fields(string(out))
	}
	for _, row := range completions {
		t.Run(row.name, func(t *testing.T) {
			got := complete(row.words...)
			if row.name == "all commands" {
				assert.Subset(t, got, row.want)
				assert.Contains(t, got, "--version")
				return
			}
			assert.ElementsMatch(t, row.want, got)
		})
	}
	t.Run("a value after =, which is a word of its own", func(t *testing.T) {
		assert.ElementsMatch(t, []string{"agfold", "array"}, complete("convert", "--to", "=", "a"))
		assert.ElementsMatch(t, []string{"sse", "lines", "array", "object", "agfold"}, complete("convert", "--to", "="))
	})
	t.Run("a file is left to bash", func(t *testing.T) {
		assert.Empty(t, complete("replay", "run"))
		assert.Empty(t, complete("run", "--record", "x"))
	})
}

func TestFishCompletion(t *testing.T) {
	fish := shell(t, "fish")
	file := script(t, "completion", "fish")
	for _, row := range completions {
		t.Run(row.name, func(t *testing.T) {
			cmd := exec.Command(fish, "--no-config", "-c", "source "+file+"; complete -C 'agfold "+strings.Join(row.words, " ")+"'")
			cmd.Dir = t.TempDir()
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, string(out))
			var got []string
			for line := range strings.Lines(string(out)) {
				word, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
				got = append(got, word)
			}
			if row.name == "all commands" {
				assert.Subset(t, got, row.want)
				return
			}
			assert.ElementsMatch(t, row.want, got, string(out))
		})
	}
}

func TestZshCompletion(t *testing.T) {
	zsh := shell(t, "zsh")
	file := script(t, "completion", "zsh")
	out, err := exec.Command(zsh, "-n", file).CombinedOutput()
	require.NoError(t, err, string(out))
	// What _arguments gets must be specifications that it understands: it fails on others.
	out, err = exec.Command(zsh, "-fc", "autoload -U compinit; compinit -D -u; source "+file+"; print $_comps[agfold]").CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Equal(t, "_agfold\n", string(out))
}

func TestCompletionsAreThoseOfTheHelp(t *testing.T) {
	for _, name := range []string{"bash", "zsh", "fish"} {
		text := agfold(t, "", "completion", name).stdout
		for _, c := range commandLine().Children {
			assert.Contains(t, text, c.Name, name)
			for _, f := range flagsOf(c) {
				assert.Contains(t, text, f.Name, "%s: %s", name, c.Name)
			}
		}
	}
	got := agfold(t, "", "completion", "powershell")
	assert.Equal(t, exitUsage, got.status)
	assert.Contains(t, got.stderr, "bash")
	assert.Equal(t, exitUsage, agfold(t, "", "completion").status)
}

func TestManPage(t *testing.T) {
	got := agfold(t, "", "man")
	require.Equal(t, exitOK, got.status)
	plain := strings.NewReplacer(`\-`, "-", `\e`, `\`).Replace(got.stdout)
	for _, c := range commandLine().Children {
		assert.Contains(t, plain, "\n.SS "+c.Name)
		assert.Contains(t, plain, "\n"+c.Help+"\n")
		for _, f := range flagsOf(c) {
			assert.Contains(t, plain, "--"+f.Name)
			assert.Contains(t, plain, "\n"+f.Help+"\n")
		}
	}
	for line := range strings.Lines(got.stdout) {
		assert.NotRegexp(t, `^'`, line, "a line of text is no request")
	}
	t.Run("mandoc finds no fault", func(t *testing.T) {
		mandoc := shell(t, "mandoc")
		out, _ := exec.Command(mandoc, "-T", "lint", "-W", "warning", script(t, "man")).CombinedOutput()
		for line := range strings.Lines(string(out)) {
			assert.Contains(t, line, "missing date", "the page has none: it is that of the version")
		}
		text, err := exec.Command(mandoc, "-T", "utf8", script(t, "man")).Output()
		require.NoError(t, err)
		assert.Contains(t, string(text), "agfold convert conversation.agfold --redact > report.agfold")
	})
	t.Run("man shows it", func(t *testing.T) {
		man := shell(t, "man")
		cmd := exec.Command(man, "-l", script(t, "man"))
		cmd.Env = append(os.Environ(), "MANPAGER=cat", "PAGER=cat", "MANWIDTH=200")
		text, err := cmd.Output()
		if err != nil {
			t.Skip("man cannot show a file: ", err)
		}
		assert.Contains(t, string(text), "--otlp")
	})
}
