package drift

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// published is what schemas.mjs prints.
type published struct {
	Version string
	Objects map[string]map[string]struct {
		Optional bool
		Strings  []string
	}
	Enums map[string][]string
}

// newest installs the newest @ag-ui/core and reads its schemas.
func newest(t *testing.T) published {
	t.Helper()
	if os.Getenv("AGFOLD_DRIFT") == "" {
		t.Skip("AGFOLD_DRIFT is not set")
	}
	for _, tool := range []string{"npm", "node"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("there is no " + tool)
		}
	}
	dir := t.TempDir()
	script, err := os.ReadFile("schemas.mjs")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "schemas.mjs"), script, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"private":true,"type":"module"}`), 0o600))
	install := exec.Command("npm", "install", "--silent", "--no-audit", "--no-fund", "@ag-ui/core@latest", "zod@4")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		t.Skipf("npm cannot install @ag-ui/core: %v\n%s", err, out)
	}
	dump := exec.Command("node", "schemas.mjs")
	dump.Dir = dir
	text, err := dump.Output()
	require.NoError(t, err)
	var p published
	require.NoError(t, json.Unmarshal(text, &p))
	require.Greater(t, len(p.Objects), 30, "the schemas have another form now")
	return p
}

// differences returns what is in one set only.
func differences(what string, ours, theirs []string) (out []string) {
	for _, s := range theirs {
		if !slices.Contains(ours, s) {
			out = append(out, fmt.Sprintf("%s: %q is new", what, s))
		}
	}
	for _, s := range ours {
		if !slices.Contains(theirs, s) {
			out = append(out, fmt.Sprintf("%s: %q is gone", what, s))
		}
	}
	return out
}

// shapes reads the table of shapes in PROTOCOL.md: the members of each event, with a ? if they are optional.
func shapes(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("../../PROTOCOL.md")
	require.NoError(t, err)
	row := regexp.MustCompile(`(?m)^\| ([A-Z_]+(?: / [A-Z_]+)*) \| ([^|]*) \|$`)
	parens := regexp.MustCompile(`\([^)]*\)|\{[^}]*\}|\[[^\]]*\]`)
	name := regexp.MustCompile(`^[A-Za-z]+\??`)
	found := map[string][]string{}
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		cell := m[2]
		for parens.MatchString(cell) {
			cell = parens.ReplaceAllString(cell, "")
		}
		for _, typ := range strings.Split(m[1], " / ") {
			members := []string{"type", "timestamp?", "rawEvent?", "metadata?"}
			for field := range strings.SplitSeq(cell, ",") {
				if member := name.FindString(strings.TrimSpace(field)); member != "" {
					members = append(members, member)
				}
			}
			if attributable(typ) && !slices.Contains(members, "subagentRunId") {
				members = append(members, "subagentRunId?")
			}
			found[typ] = members
		}
	}
	return found
}

// attributable reports whether an event may carry a tag (P-VOC-3).
func attributable(typ string) bool {
	return !slices.Contains([]string{"RUN_STARTED", "RUN_FINISHED", "RUN_ERROR", "MESSAGES_SNAPSHOT"}, typ)
}

func TestNothingHasDrifted(t *testing.T) {
	p := newest(t)
	var found []string
	if p.Version != "" && p.Version != event.ProtocolVersion {
		found = append(found, fmt.Sprintf("protocol version: theirs is %q, ours %q", p.Version, event.ProtocolVersion))
	}
	ours := shapes(t)
	var types, known []string
	for schema, members := range p.Objects {
		if !strings.HasSuffix(schema, "EventSchema") || len(members["type"].Strings) != 1 {
			continue
		}
		typ := members["type"].Strings[0]
		types = append(types, typ)
		var theirs []string
		for name, m := range members {
			if m.Optional {
				name += "?"
			}
			theirs = append(theirs, name)
		}
		slices.Sort(theirs)
		found = append(found, differences("the members of "+typ, ours[typ], theirs)...)
	}
	for typ := range ours {
		known = append(known, typ)
		_, ok := event.ParseType(typ)
		assert.True(t, ok, "PROTOCOL.md describes %s, which package event does not know", typ)
	}
	found = append(found, differences("the event types", known, types)...)
	for enum, values := range map[string][]string{
		"TextMessageRoleSchema": strs(messages.RoleDeveloper, messages.RoleSystem, messages.RoleAssistant, messages.RoleUser),
		"RoleSchema": strs(messages.RoleDeveloper, messages.RoleSystem, messages.RoleAssistant, messages.RoleUser, messages.RoleTool,
			messages.RoleActivity, messages.RoleReasoning),
		"ReasoningEncryptedValueSubtypeSchema": strs(event.EncryptedToolCall, event.EncryptedMessage),
	} {
		if theirs, ok := p.Enums[enum]; ok {
			found = append(found, differences(enum, values, theirs)...)
		} else {
			found = append(found, enum+" is gone")
		}
	}
	for _, row := range []struct {
		schema, member string
		values         []string
	}{
		{"ResumeEntrySchema", "status", strs(event.ResumeResolved, event.ResumeCancelled)},
		{"RunFinishedSuccessOutcomeSchema", "type", strs(event.OutcomeSuccess)},
		{"RunFinishedInterruptOutcomeSchema", "type", strs(event.OutcomeInterrupt)},
		{"RunFinishedCancelledOutcomeSchema", "type", strs(event.OutcomeCancelled)},
		{"AddOperationSchema", "op", strs(state.OpAdd)},
		{"RemoveOperationSchema", "op", strs(state.OpRemove)},
		{"ReplaceOperationSchema", "op", strs(state.OpReplace)},
		{"MoveOperationSchema", "op", strs(state.OpMove)},
		{"CopyOperationSchema", "op", strs(state.OpCopy)},
		{"TestOperationSchema", "op", strs(state.OpTest)},
	} {
		found = append(found, differences(row.schema+"."+row.member, row.values, p.Objects[row.schema][row.member].Strings)...)
	}
	slices.Sort(found)
	assert.Empty(t, found, "the newest @ag-ui/core differs")
}

// strs returns values as strings.
func strs[S ~string](values ...S) (out []string) {
	for _, v := range values {
		out = append(out, string(v))
	}
	return out
}

// TestDifferencesAreNamed is for who has no npm.
func TestDifferencesAreNamed(t *testing.T) {
	assert.Equal(t, []string{`x: "c" is new`, `x: "a" is gone`}, differences("x", []string{"a", "b"}, []string{"b", "c"}))
	table := shapes(t)
	assert.Len(t, table, 31)
	assert.Equal(t, []string{"type", "timestamp?", "rawEvent?", "metadata?", "messageId", "role?", "name?", "subagentRunId?"}, table["TEXT_MESSAGE_START"])
	assert.Contains(t, table["RUN_FINISHED"], "outcome?")
}
