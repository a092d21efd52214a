//go:build !unix

package otel_test

import (
	"errors"
	"time"
)

func cpuTime() (time.Duration, error) { return 0, errors.ErrUnsupported }
