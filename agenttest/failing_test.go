//go:build failing

package agenttest_test

import (
	"testing"

	"github.com/agfold/agfold/agenttest"
)

// TestFailing fails in each line of its list; TestFailuresNameTheLineOfTheTest runs it.
func TestFailing(t *testing.T) {
	run := func(t *testing.T) *agenttest.Conversation {
		return agenttest.Run(t, agenttest.Script(agenttest.Call("f", "{}"), agenttest.Say("a")), "Hi")
	}
	t.Run("said", func(t *testing.T) { run(t).Said("b") })
	t.Run("argument", func(t *testing.T) { run(t).Call("f").Arg("/a", 1) })
	t.Run("state", func(t *testing.T) { run(t).State("/a", 1) })
	t.Run("golden", func(t *testing.T) { agenttest.Golden(t, "none", run(t).Thread()) })
	t.Run("run", func(t *testing.T) { agenttest.Run(t, agenttest.Script(agenttest.Fail("no")), "Hi") })
}
