package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files anew")

// result is what a command line came to.
type result struct {
	status         int
	stdout, stderr string
}

// agfold runs a command line.
func agfold(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status := run(t.Context(), args, newTerminal(strings.NewReader(stdin), &stdout, &stderr))
	return result{status, stdout.String(), stderr.String()}
}

// golden compares text with a file, or writes the file.
func golden(t *testing.T, file, text string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		return
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), text, file)
}

func TestHelp(t *testing.T) {
	for _, row := range []struct {
		args []string
		file string
	}{
		{[]string{"--help"}, "help"},
		{[]string{"-h"}, "help"},
		{[]string{"help"}, "help"},
		{[]string{"replay", "--help"}, "replay-help"},
		{[]string{"replay", "-h"}, "replay-help"},
		{[]string{"replay", "run.sse", "--json", "--help"}, "replay-help"},
		{[]string{"help", "replay"}, "replay-help"},
	} {
		t.Run(strings.Join(row.args, " "), func(t *testing.T) {
			got := agfold(t, "", row.args...)
			assert.Equal(t, exitOK, got.status)
			assert.Empty(t, got.stderr)
			golden(t, filepath.Join("testdata", row.file+".golden.txt"), got.stdout)
		})
	}
}

func TestEveryCommandIsInTheHelp(t *testing.T) {
	for _, c := range commands() {
		assert.Contains(t, help(), "    "+c.name+" ")
		assert.Contains(t, c.help, "agfold "+c.name)
		assert.Contains(t, c.help, "--help")
	}
}

func TestVersion(t *testing.T) {
	for _, arg := range []string{"--version", "-version", "version"} {
		got := agfold(t, "", arg)
		assert.Equal(t, exitOK, got.status)
		assert.Regexp(t, `^agfold \S+ \(AG-UI 1\.0\)\n$`, got.stdout)
	}
}

func TestWrongUsage(t *testing.T) {
	for _, row := range []struct {
		name string
		args []string
		want string
	}{
		{"no command", nil, "Usage:"},
		{"a misspelt command is guessed", []string{"repaly"}, "Did you mean agfold replay?"},
		{"an unknown command lists none", []string{"frobnicate"}, `there is no command "frobnicate"`},
		{"help on an unknown command", []string{"help", "replya"}, "Did you mean agfold replay?"},
		{"an unknown flag of agfold", []string{"--json"}, `there is no flag "--json"`},
		{"a file for a command", []string{"main_test.go"}, "agfold replay main_test.go"},
		{"no file", []string{"replay"}, "want a FILE"},
		{"an unknown flag has the dashes of --help", []string{"replay", "--jsno", "x"}, "agfold replay: flag provided but not defined: --jsno\n"},
		{"an unknown flag behind the file", []string{"replay", "x", "--jsno"}, "not defined: --jsno\n"},
		{"a flag with one dash is told with two", []string{"run", "-jsno"}, "agfold run: flag provided but not defined: --jsno\n"},
		{"--at without a number", []string{"replay", "x", "--at"}, "flag needs an argument: --at\n"},
		{"--at with a word", []string{"replay", "x", "--at", "end"}, `invalid value "end" for flag --at: `},
		{"--at with what looks like a flag", []string{"replay", "x", `--at=\" for flag -x`}, `invalid value "\\\" for flag -x" for flag --at: `},
		{"--json with a word", []string{"replay", "x", "--json=maybe"}, `invalid boolean value "maybe" for --json: `},
		{"--at with a negative number", []string{"replay", "x", "--at", "-3"}, "negative"},
		{"--events with --state", []string{"replay", "x", "--events", "--state"}, "exclude"},
		{"standard input twice", []string{"replay", "-", "-"}, "only once"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := agfold(t, "", row.args...)
			assert.Equal(t, exitUsage, got.status)
			assert.Empty(t, got.stdout)
			assert.Contains(t, got.stderr, row.want)
		})
	}
}

func TestAnEmptyOrOddCommandNameIsNoGuess(t *testing.T) {
	for _, name := range []string{"x", strings.Repeat("replay", 10)} {
		assert.NotContains(t, agfold(t, "", name).stderr, "Did you mean")
	}
}

func TestDistance(t *testing.T) {
	for _, row := range []struct {
		a, b string
		want int
	}{
		{"replay", "replay", 0}, {"repaly", "replay", 1}, {"rplay", "replay", 1}, {"replays", "replay", 1},
		{"reflay", "replay", 1}, {"", "run", 3}, {"run", "", 3}, {"run", "serve", 4},
	} {
		assert.Equal(t, row.want, distance(row.a, row.b), "%s %s", row.a, row.b)
	}
}

func TestFlagsStandAnywhere(t *testing.T) {
	file := recordings + "/chat-tools.sse"
	want := agfold(t, "", "replay", "--json", "--at", "9", file)
	for _, args := range [][]string{
		{"replay", file, "--json", "--at", "9"},
		{"replay", "--json", file, "--at=9"},
		{"replay", "-json", "-at", "9", "--", file},
		{"replay", "--at", "9", file, "--json", "--"},
	} {
		assert.Equal(t, want, agfold(t, "", args...), "%v", args)
	}
	got := agfold(t, "", "replay", "--", "--json")
	assert.Equal(t, exitUnreadable, got.status, "behind -- all are files")
	assert.Contains(t, got.stderr, "--json")
}
