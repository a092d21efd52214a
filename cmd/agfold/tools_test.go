package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// broken is a stream that the protocol rejects.
const broken = `{"type":"RUN_STARTED","threadId":"t","runId":"r"}
{"type":"TEXT_MESSAGE_START","messageId":"m"}
{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"Hi\u009b31m"}
{"type":"RUN_FINISHED","threadId":"t","runId":"r"}
`

// TestToolsPrintAsTheyDid compares what the commands that look into recordings print with golden files, which hold the
// standard output, the standard error and the exit status.
func TestToolsPrintAsTheyDid(t *testing.T) {
	for _, row := range []struct {
		name, stdin string
		args        []string
	}{
		{"step", "n\nn 3\ns /recipe\nstate /recipe/title\nw\nW\n/garlic\n?Garlic\np\nlast\nfirst\nr\nlist 3\nevent\nm nobody\n7\nfrobnicate\nhelp\nq\nn\n",
			[]string{"step", recordings + "/shared-state.json"}},
		{"step-thread", "last\nthread\nstate\n", []string{"step", recordings + "/subagents.sse"}},
		{"step-do", "", []string{"step", "-c", "w", "-c", "state", recordings + "/shared-state.json"}},
		{"step-json", "", []string{"step", "--json", recordings + "/rejected.ndjson"}},
		{"step-list", broken, []string{"step", "-"}},
		{"explain", broken, []string{"explain", "-"}},
		{"explain-json", broken, []string{"explain", "--json", "-"}},
		{"explain-warnings", "", []string{"explain", "--max", "3", recordings + "/thinking.ndjson"}},
		{"explain-not-open", "", []string{"explain", "--errors", recordings + "/rejected.ndjson"}},
		{"explain-malformed", strings.Replace(broken, `"delta"`, `"text"`, 1), []string{"explain", "-"}},
		{"explain-first", strings.SplitAfter(broken, "\n")[1], []string{"explain", "-"}},
		{"explain-in-order", "", []string{"explain", recordings + "/chat-tools.sse"}},
		{"lint", "", []string{"lint", "--fail", "error", recordings + "/chat-tools.sse", recordings + "/thinking.ndjson"}},
		{"lint-broken", broken, []string{"lint", "-"}},
		{"lint-json", broken, []string{"lint", "--json", "-"}},
		{"lint-sarif", broken, []string{"lint", "--sarif", "-"}},
		{"lint-unknown-check", "", []string{"lint", "--only", "everything", "-"}},
		{"diff", strings.NewReplacer("Hi", "Hello", "RUN_FINISHED", "TEXT_MESSAGE_END").Replace(broken), []string{"diff", "testdata/tools/broken.ndjson", "-"}},
		{"diff-json", strings.Replace(broken, "Hi", "Hello", 1), []string{"diff", "--json", "testdata/tools/broken.ndjson", "-"}},
		{"diff-same", "", []string{"diff", recordings + "/chat-tools.sse", recordings + "/chat-tools.golden.json"}},
		{"diff-others", "", []string{"diff", recordings + "/chat-tools.sse", recordings + "/interrupt-resume.json"}},
		{"diff-ignore", "", []string{"diff", "--ignore", "nothing", "-", "x"}},
		{"compact", "", []string{"compact", recordings + "/chat-tools.sse"}},
		{"compact-json", "", []string{"compact", "--json", recordings + "/shared-state.json"}},
		{"compact-cut", "", []string{"compact", "--to", "lines", recordings + "/cut-off.sse"}},
		{"convert", "", []string{"convert", "--to", "agfold", recordings + "/frontend-tool.json"}},
		{"convert-redacted", "", []string{"convert", "--to", "lines", "--redact", "--seed", "golden", recordings + "/subagents.sse"}},
		{"convert-otlp", "", []string{"convert", "--otlp", "../../spans/testdata/two-turns.ndjson"}},
		{"convert-otlp-content", "", []string{"convert", "--otlp", "--content", "12", recordings + "/frontend-tool.json"}},
		{"convert-otlp-json", "", []string{"convert", "--otlp", "--json", recordings + "/subagents.sse"}},
		{"convert-otlp-redact", "", []string{"convert", "--otlp", "--redact", "-"}},
		{"convert-otlp-cut", broken + `{"type":`, []string{"convert", "--otlp", "-"}},
		{"convert-content", "", []string{"convert", "--content", "12", "-"}},
		{"convert-broken", broken, []string{"convert", "--to", "sse", "-"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := agfold(t, row.stdin, row.args...)
			golden(t, filepath.Join("testdata", "tools", row.name+".golden.txt"),
				got.stdout+"--- standard error\n"+got.stderr+fmt.Sprintf("--- exit status %d\n", got.status))
		})
	}
}

// tools are the commands that look into recordings.
var tools = [][]string{{"step"}, {"diff", "testdata/tools/broken.ndjson"}, {"explain"}, {"lint"}, {"compact"}, {"convert"}}

func TestToolsHaveHelp(t *testing.T) {
	for _, tool := range tools {
		got := agfold(t, "", tool[0], "--help")
		assert.Equal(t, exitOK, got.status)
		golden(t, filepath.Join("testdata", tool[0]+"-help.golden.txt"), got.stdout)
	}
}

// TestToolsOfWhatIsNoRecording gives every tool an empty file, a text, a thread's JSON, and one that does not exist.
func TestToolsOfWhatIsNoRecording(t *testing.T) {
	for _, tool := range tools {
		for _, row := range []struct {
			name, text, want string
			status           int
		}{
			{"empty", "", "it holds no events", exitTruncated},
			{"a text", "Dear agent,\n", "not a recording: line 1", exitUnreadable},
			{"a thread", `{"threadId":"t","revision":1,"messages":[]}`, "this is the JSON of a thread", exitUnreadable},
			{"damaged", "{\"type\":\"RUN_STARTED\",\"threadId\":\"t\",\"runId\":\"r\"}\n{\"type\":\"CUS", "cut off in line 2", exitTruncated},
		} {
			if tool[0] == "diff" && row.name != "a text" { // what is missing differs
				continue
			}
			t.Run(strings.Join(tool, " ")+" of "+row.name, func(t *testing.T) {
				got := agfold(t, row.text, append(tool, "-")...)
				assert.Equal(t, row.status, got.status, got.stderr)
				assert.Contains(t, got.stderr, row.want)
			})
		}
		got := agfold(t, "", append(tool, "testdata/no-such-file")...)
		assert.Equal(t, exitUnreadable, got.status)
		assert.Contains(t, got.stderr, "no such file")
	}
}
