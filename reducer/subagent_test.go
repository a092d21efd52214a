package reducer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// showTree writes the tree: a dot for each level, id, name, status, the run it was last in.
func showTree(th *reducer.Thread) string {
	var lines []string
	for depth, n := range th.Subagents.Walk() {
		id, _ := n.Owner.RunID()
		name := n.Name
		if !n.Announced {
			name = "?"
		}
		lines = append(lines, fmt.Sprintf("%s%s %s %s %s", strings.Repeat(".", depth), id, name, n.Status, n.RunID))
	}
	return strings.Join(lines, " | ")
}

func TestSubagentTree(t *testing.T) {
	child := func(of string) string { return fmt.Sprintf(` + {"parentSubagentRunId":%q}`, of) }
	const interrupt = `{"outcome":{"type":"interrupt","interrupts":[{"id":"i1","reason":"ask"}]}}`
	const suspended = `endsub s1 + {"outcome":{"type":"suspended","interruptIds":["i1"]}}`
	for _, r := range []struct{ name, script, want string }{
		{"P-SUB-1 running", "run | sub s1 n", "s1 n running r"},
		{"P-SUB-1 succeeded", "run | sub s1 n | endsub s1", "s1 n succeeded r"},
		{"P-SUB-1 failed", "run | sub s1 n | failsub s1 no", "s1 n failed r"},
		{"P-SUB-1 suspended", "run | sub s1 n | " + suspended, "s1 n suspended r"},
		{"P-SUB-1 RUN_ERROR abandons what is still running", "run | sub s1 n | sub s2 n | endsub s2 | sub s3 n | fail x", "s1 n abandoned r | s2 n succeeded r | s3 n abandoned r"},
		{"P-SUB-1 a violation does too", "run | sub s1 n | run", "s1 n abandoned r"},
		{"P-SUB-1 a late RUN_ERROR abandons none that has ended", "run | sub s1 n | endsub s1 | done | fail x", "s1 n succeeded r"},
		{"P-SUB-1 parents above children, in announcement order", "run | sub a n | sub b n | sub a1 n" + child("a") + " | sub b1 n" + child("b") + " | sub a2 n" + child("a") + " | sub a11 n" + child("a1"),
			"a n running r | .a1 n running r | ..a11 n running r | .a2 n running r | b n running r | .b1 n running r"},
		{"P-SUB-1 a tag that was never announced is under the parent agent", "run | custom @s1 n", "s1 ? running r"},
		{"P-SUB-1 it ends as its run: finished", "run | custom @s1 n | done", "s1 ? succeeded r"},
		{"P-SUB-1 it ends as its run: interrupted", "run | custom @s1 n | done + " + interrupt, "s1 ? suspended r"},
		{"P-SUB-1 it ends as its run: cancelled", `run | custom @s1 n | done + {"outcome":{"type":"cancelled"}}`, "s1 ? abandoned r"},
		{"P-SUB-1 it ends as its run: failed", "run | custom @s1 n | fail x", "s1 ? abandoned r"},
		{"P-SUB-1 the empty id", "run | custom @_ n", " ? running r"},
		{"P-SUB-1 many tags make one node", "run | custom @s1 n | text @s1 m1 | custom @s2 n | say @s1 m1 x", "s1 ? running r | s2 ? running r"},
		{"P-SUB-1 a tag before the announcement", "run | custom @s1 n | custom @s2 n | sub s1 n | endsub s1 | done", "s1 n succeeded r | s2 ? succeeded r"},
		{"P-SUB-1 a tag before an announcement under another", "run | custom @s1 n | sub s2 n | sub s1 n" + child("s2"), "s2 n running r | .s1 n running r"},
		{"P-SUB-1 a tag after its end changes nothing", "run | sub s1 n | endsub s1 | custom @s1 n | done", "s1 n succeeded r"},
		{"P-SUB-1 a tag after its suspension changes nothing in this run", "run | sub s1 n | " + suspended + " | custom @s1 n | done + " + interrupt, "s1 n suspended r"},
		{"P-SUB-1 even if the run then succeeds", "run | sub s1 n | " + suspended + " | custom @s1 n | done", "s1 n suspended r"},
		{"P-SUB-1 a message in a snapshot makes a node", `run | messages [{"id":"m1","role":"user","content":"","subagentRunId":"s1"}]`, "s1 ? running r"},
		{"P-SUB-1 a message in the input makes a node", `run + {"input":{"threadId":"t","runId":"r","tools":[],"context":[],"messages":[{"id":"m1","role":"user","content":"","subagentRunId":"s1"}]}} | done`, "s1 ? succeeded r"},
		{"P-SUB-1 a dropped event makes none", `run | {"type":"SOMETHING_NEW","subagentRunId":"s1"}`, ""},
		{"P-SUB-1 an event that is rejected makes none", "run | say @s1 m1 x", ""},
		{"P-SUB-1 an id in a later run is another invocation", "run | sub s1 n | endsub s1 | done | run b | sub s1 m", "s1 n succeeded r | s1 m running b"},
		{"P-SUB-1 an id comes back: it continues the node that it suspended", "run | sub s0 n | sub s1 n" + child("s0") + " | " + suspended + " | endsub s0 | done + " + interrupt + " | run b | sub s1 n | endsub s1 | done b",
			"s0 n succeeded r | .s1 n succeeded b"},
		{"P-SUB-1 it comes back by its tag only", "run | sub s1 n | " + suspended + " | done + " + interrupt + " | run b | custom @s1 n", "s1 n running b"},
		{"P-SUB-1 and then ends as the run does", "run | sub s1 n | " + suspended + " | done + " + interrupt + " | run b | custom @s1 n | done b", "s1 n succeeded b"},
		{"P-SUB-1 and may be announced after its tag", "run | sub s1 n | " + suspended + " | done + " + interrupt + " | run b | custom @s1 n | sub s1 n | endsub s1 | done b", "s1 n succeeded b"},
		{"P-SUB-1 an unannounced one takes part in a later run", "run | custom @s1 n | done | run b | custom @s1 n", "s1 ? running b"},
		{"P-SUB-1 an unannounced one is announced in a later run", "run | custom @s1 n | done | run b | sub s1 n", "s1 ? succeeded r | s1 n running b"},
		{"P-SUB-1 history does not bring it back", `run | custom @s1 n | done | run b + {"input":{"threadId":"t","runId":"b","tools":[],"context":[],"messages":[{"id":"m1","role":"user","content":"","subagentRunId":"s1"}]}}`, "s1 ? succeeded r"},
		{"P-SUB-1 a failed one is not brought back by its tag", "run | sub s1 n | failsub s1 x | done | run b | custom @s1 n | done b", "s1 n failed r"},
	} {
		t.Run(r.name, func(t *testing.T) {
			assert.Equal(t, r.want, showTree(play(t, r.script, nil).th))
		})
	}
}

func TestSubagentNode(t *testing.T) {
	p := play(t, `run | text m1 | call c1 f m1 | endcall c1 | endtext m1 | sub s0 Boss | sub s1 Ann + {"description":"d","parentSubagentRunId":"s0","parentToolCallId":"c1","parentMessageId":"m1"} | text @s1 m2 | say m2 x | endtext m2 | endsub s1 + {"result":{"n":1}} | sub s2 Bob | failsub s2 broke + {"code":"E"} | sub s3 Cid | endsub s3 + {"outcome":{"type":"suspended","interruptIds":["i1","i2"]}} | endsub s0`, nil)
	require.NoError(t, p.err)
	tree := p.th.Subagents
	require.Equal(t, 4, tree.Len())
	ann := tree.Find(messages.SubagentOwner("s1"))
	assert.Equal(t, "Ann", ann.Name)
	assert.Equal(t, messages.Some("d"), ann.Description)
	assert.Equal(t, messages.SubagentOwner("s0"), ann.Parent)
	assert.Equal(t, messages.Some("c1"), ann.ToolCallID)
	assert.Equal(t, messages.Some("m1"), ann.MessageID)
	assert.Equal(t, `{"n":1}`, ann.Result.String())
	assert.Equal(t, ann.Owner, p.th.Messages.At(1).Owner)
	bob := tree.Find(messages.SubagentOwner("s2"))
	assert.EqualError(t, bob.Err, "agent failed: broke (E)")
	assert.Equal(t, []string{"i1", "i2"}, tree.Find(messages.SubagentOwner("s3")).InterruptIDs)
	assert.Nil(t, tree.Find(messages.SubagentOwner("s4")))
	assert.Nil(t, tree.Find(messages.Owner{}))

	var names []string
	for n := range tree.Children(nil) {
		names = append(names, n.Name)
	}
	for n := range tree.Children(tree.Find(messages.SubagentOwner("s0"))) {
		names = append(names, "Boss/"+n.Name)
	}
	assert.Equal(t, []string{"Boss", "Bob", "Cid", "Boss/Ann"}, names)
	for range tree.Walk() {
		break // breaking off is fine
	}

	t.Run("P-SUB-1 one that comes back forgets what it waited for", func(t *testing.T) {
		p := play(t, `run | sub s1 n | endsub s1 + {"result":1,"outcome":{"type":"suspended","interruptIds":["i1"]}} | done | run b | sub s1 m`, nil)
		n := p.th.Subagents.Find(messages.SubagentOwner("s1"))
		assert.Equal(t, "m", n.Name)
		assert.Empty(t, n.InterruptIDs)
		assert.False(t, n.Result.Exists())
		assert.Equal(t, 1, p.th.Subagents.Len())
	})
	t.Run("the zero tree", func(t *testing.T) {
		var tree reducer.Subagents
		for range tree.Walk() {
			t.Fatal("no nodes")
		}
		assert.Zero(t, tree.Len())
	})
	t.Run("a deep tree", func(t *testing.T) {
		events := []event.Event{&event.RunStarted{ThreadID: "t", RunID: "r"}, &event.SubagentStarted{Attribution: event.By(messages.SubagentOwner("0")), Name: "n"}}
		for i := 1; i < 5000; i++ {
			events = append(events, &event.SubagentStarted{Attribution: event.By(messages.SubagentOwner(fmt.Sprint(i))), Name: "n", ParentSubagentRunID: messages.SubagentOwner(fmt.Sprint(i - 1))})
		}
		p := playEvents(events, nil)
		require.NoError(t, p.err)
		n := 0
		for depth := range p.th.Subagents.Walk() {
			require.Equal(t, n, depth)
			n++
		}
		assert.Equal(t, 5000, n)
	})
}

func TestSubagentStatusNames(t *testing.T) {
	for s, want := range map[reducer.SubagentStatus]string{
		reducer.SubagentRunning: "running", reducer.SubagentSucceeded: "succeeded", reducer.SubagentSuspended: "suspended",
		reducer.SubagentFailed: "failed", reducer.SubagentAbandoned: "abandoned", 99: "unknown",
	} {
		text, err := s.MarshalText()
		require.NoError(t, err)
		assert.Equal(t, want, string(text))
	}
}
