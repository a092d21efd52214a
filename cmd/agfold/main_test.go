package main

import (
	"bytes"
	"flag"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/cmd/agfold/internal/demo"
	"github.com/agfold/agfold/serve"
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
		{[]string{"completion", "--help"}, "completion-help"},
		{[]string{"man", "--help"}, "man-help"},
	} {
		t.Run(strings.Join(row.args, " "), func(t *testing.T) {
			got := agfold(t, "", row.args...)
			assert.Equal(t, exitOK, got.status)
			assert.Empty(t, got.stderr)
			golden(t, filepath.Join("testdata", row.file+".golden.txt"), got.stdout)
		})
	}
}

// TestHelpNamesCurlAsItWorks runs the curl line of agfold replay --help against the demo agent.
func TestHelpNamesCurlAsItWorks(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("there is no curl")
	}
	line := regexp.MustCompile(`(?ms)^  curl (.*?) \| agfold replay -$`).FindStringSubmatch(agfold(t, "", "replay", "--help").stdout)
	require.NotNil(t, line)
	server := httptest.NewServer(serve.Agent(demo.Agent(0), nil))
	defer server.Close()
	require.Contains(t, line[1], "http://127.0.0.1:8787/", "where agfold serve-demo listens")
	command := exec.Command("sh", "-c", "'"+curl+"' "+strings.Replace(line[1], "http://127.0.0.1:8787", server.URL, 1))
	captured, err := command.Output()
	require.NoError(t, err)
	got := agfold(t, string(captured), "replay", "-")
	assert.Equal(t, exitOK, got.status, got.stderr)
	assert.Contains(t, got.stdout, "thread t · ")
}

func TestVersion(t *testing.T) {
	for _, arg := range []string{"--version", "version"} {
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
		{"a misspelt command is guessed", []string{"repaly"}, `unexpected argument repaly, did you mean "replay"?`},
		{"an unknown command lists those that there are", []string{"frobnicate"}, "agfold: unknown command frobnicate; the commands are run, replay, "},
		{"help on an unknown command", []string{"help", "replya"}, `did you mean "replay"?`},
		{"an unknown flag of agfold", []string{"--json"}, "unknown flag --json"},
		{"a file for a command", []string{"main_test.go"}, "agfold replay main_test.go"},
		{"no file", []string{"replay"}, `agfold replay: expected "<FILE> ..."`},
		{"a misspelt flag is guessed", []string{"replay", "--jsno", "x"}, `agfold replay: unknown flag --jsno, did you mean "--json"?`},
		{"a misspelt flag after the file", []string{"replay", "x", "--jsno"}, `unknown flag --jsno, did you mean "--json"?`},
		{"--at without a number", []string{"replay", "x", "--at"}, "--at: "},
		{"--at with a word", []string{"replay", "x", "--at", "end"}, `bit int but got "end"`},
		{"--json with a word", []string{"replay", "x", "--json=maybe"}, `--json: bool value must be true, 1, yes, false, 0 or no but got "maybe"`},
		{"--at with a negative number", []string{"replay", "x", "--at", "-3"}, "agfold replay: --at counts events: it cannot be negative"},
		{"--events with --state", []string{"replay", "x", "--events", "--state"}, "--events and --state can't be used together"},
		{"standard input twice", []string{"replay", "-", "-"}, "only once"},
		{"the URL's password is not printed", []string{"run", "--url", "ftp://user:secret@host/"}, `--url "ftp://host/" is not an http or https URL`},
		{"a control character in an argument", []string{"run", "\x1b[2J"}, `unexpected argument \x1b[2J`},
		{"a limit of zero for a replay", []string{"replay", "x", "--max-event", "0"}, "--max-event must be from 1 to 1024"},
		{"a limit of zero", []string{"run", "--max-event", "0"}, "--max-event must be from 1 to 1024"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := agfold(t, "", row.args...)
			assert.Equal(t, exitUsage, got.status)
			assert.Empty(t, got.stdout)
			assert.Contains(t, got.stderr, row.want)
		})
	}
}

func TestFlagsStandAnywhere(t *testing.T) {
	file := recordings + "/chat-tools.sse"
	want := agfold(t, "", "replay", "--json", "--at", "9", file)
	for _, args := range [][]string{
		{"replay", file, "--json", "--at", "9"},
		{"replay", "--json", file, "--at=9"},
		{"replay", "--json", "--at", "9", "--", file},
		{"replay", "--at", "9", file, "--json", "--"},
	} {
		assert.Equal(t, want, agfold(t, "", args...), "%v", args)
	}
	got := agfold(t, "", "replay", "--", "--json")
	assert.Equal(t, exitUnreadable, got.status, "after -- all are files")
	assert.Contains(t, got.stderr, "--json")
}
