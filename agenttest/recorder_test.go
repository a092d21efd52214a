package agenttest_test

import (
	"fmt"
	"runtime"
	"testing"
)

// recorder is a test that is expected to fail.
type recorder struct {
	errors []string
	ended  bool
}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func (r *recorder) FailNow() {
	r.ended = true
	runtime.Goexit()
}

// failure returns the only error of a test function that must fail, and fails t if it does not.
func failure(t *testing.T, test func(r *recorder)) string {
	t.Helper()
	r := new(recorder)
	done := make(chan struct{})
	go func() {
		defer close(done)
		test(r)
	}()
	<-done
	if !r.ended || len(r.errors) != 1 {
		t.Fatalf("the test did not fail once, and end: %q", r.errors)
	}
	return r.errors[0]
}
