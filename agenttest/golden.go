package agenttest

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/compare"
	"github.com/agfold/agfold/reducer"
)

// init defines the flag -update, unless the program has one already.
func init() {
	if flag.Lookup("update") == nil {
		flag.Bool("update", false, "write golden files instead of comparing with them")
	}
}

func updating() bool {
	f := flag.Lookup("update")
	return f != nil && f.Value.String() == "true"
}

// Golden asserts that a thread is the one in the file testdata/NAME.thread.json, or writes the file if the test runs with
// -update and the thread is another. Ids that agents make up are matched with each other, and revisions play no part, so the
// file stays the same from run to run and when the agent cuts its texts in other pieces. See compare.Threads.
//
// Importing this package defines the flag -update. A package of tests that has such a flag of its own must look it up
// (flag.Lookup) instead of defining it again.
func Golden(t require.TestingT, name string, thread *reducer.Thread) {
	tester(t).Helper()
	path := filepath.Join("testdata", filepath.FromSlash(name)+".thread.json")
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		require.NoError(t, err)
	}
	var want reducer.Thread
	if err == nil {
		if err := want.UnmarshalJSON(text); err != nil && !updating() {
			t.Errorf("%s is not a thread: %v", path, err)
			t.FailNow()
		} else if err == nil {
			report := compare.Threads(&want, thread, nil)
			if report.Same() {
				return
			}
			if !updating() {
				t.Errorf("the thread is not that of %s; run the test with -update if it is right:\n%s", path, listed(report, "file", "now"))
				t.FailNow()
			}
		}
	}
	if !updating() {
		t.Errorf("there is no %s; run the test with -update to write it", path)
		t.FailNow()
	}
	var indented bytes.Buffer
	require.NoError(t, json.Indent(&indented, thread.AppendJSON(nil), "", "  "))
	indented.WriteByte('\n')
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, indented.Bytes(), 0o644))
}

// SameThread asserts that two threads are the same but for revisions and the ids that agents make up; see compare.Threads.
func SameThread(t require.TestingT, want, got *reducer.Thread) {
	tester(t).Helper()
	if report := compare.Threads(want, got, nil); !report.Same() {
		t.Errorf("the threads differ:\n%s", listed(report, "want", "got"))
		t.FailNow()
	}
}

// listed lists up to 20 differences, by place and path.
func listed(report *compare.Report, a, b string) string {
	var out strings.Builder
	for i, d := range report.Differences {
		if i == 20 {
			break
		}
		first, second := "nothing", "nothing"
		if d.A.Exists() {
			first = short(d.A.String(), 200)
		}
		if d.B.Exists() {
			second = short(d.B.String(), 200)
		}
		out.WriteString("  " + d.Section + ", " + clean(d.Where) + ", " + quoteIfOdd(d.Path) + ":\n    " + a + ": " + first + "\n    " + b + ": " + second + "\n")
	}
	if more := report.More + max(len(report.Differences)-20, 0); more > 0 {
		out.WriteString("  and " + strconv.Itoa(more) + " more\n")
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// Golden asserts that the thread is the one in a file; see the function [Golden].
func (c *Conversation) Golden(name string) *Conversation {
	c.t.Helper()
	Golden(c.t, name, c.Thread())
	return c
}
