//go:build unix

package otel_test

import (
	"syscall"
	"time"
)

// cpuTime returns the CPU time that this process has taken, in user mode and in the system.
func cpuTime() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, err
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}
