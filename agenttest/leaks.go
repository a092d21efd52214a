package agenttest

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// NoLeaks asserts, when the test has ended, that no goroutine is left that has begun since the call of NoLeaks and runs code of
// this module or waits in it. It gives them 10 seconds to end. Call it first in a test, before anything that it closes in a
// Cleanup, and not in tests that run in parallel.
func NoLeaks(t testing.TB) {
	t.Helper()
	before := map[string]bool{}
	for id := range goroutines() {
		before[id] = true
	}
	t.Cleanup(func() {
		t.Helper()
		var left []string
		for deadline := time.Now().Add(waitTime); ; time.Sleep(10 * time.Millisecond) {
			left = left[:0]
			for id, stack := range goroutines() {
				if !before[id] {
					left = append(left, stack)
				}
			}
			if len(left) == 0 {
				return
			}
			if time.Now().After(deadline) {
				t.Errorf("%d goroutines are left:\n%s", len(left), strings.Join(left, "\n\n"))
				return
			}
		}
	})
}

// goroutines returns the stacks of the goroutines of this module, by number, except the caller's.
func goroutines() map[string]string {
	buf := make([]byte, 1<<16)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 2*len(buf))
	}
	found := map[string]string{}
	for i, stack := range bytes.Split(buf, []byte("\n\n")) {
		var id int
		if _, err := fmt.Sscanf(string(stack), "goroutine %d ", &id); i == 0 || err != nil {
			continue
		}
		if bytes.Contains(stack, []byte("github.com/agfold/agfold/")) && !bytes.Contains(stack, []byte("testing.tRunner(")) {
			found[fmt.Sprint(id)] = string(stack)
		}
	}
	return found
}
