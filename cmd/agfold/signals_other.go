//go:build !unix

package main

import (
	"os"
	"syscall"
)

// endSignals are the signals that end a command. What was received is kept, and the terminal is restored.
func endSignals() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

// asides returns no functions: there is no job control.
func asides() (ch <-chan func(), stop func()) { return nil, func() {} }
