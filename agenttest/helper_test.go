package agenttest_test

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A failure names the line of the test, not one of this package.
func TestFailuresNameTheLineOfTheTest(t *testing.T) {
	if testing.Short() {
		t.Skip("runs go test")
	}
	out, err := exec.Command("go", "test", "-tags", "failing", "-run", "^TestFailing$", ".").CombinedOutput()
	assert.Error(t, err)
	for _, place := range []string{"failing_test.go:16:", "failing_test.go:17:", "failing_test.go:18:", "failing_test.go:19:", "failing_test.go:20:"} {
		assert.Contains(t, string(out), place)
	}
}
