//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// endSignals are the signals that end a command. What was received is kept, and the terminal is restored.
func endSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as by nohup
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}

// asides returns a channel of functions that must be called with the terminal restored: one for each SIGTSTP, which stops
// the process until it is continued, and one for a SIGQUIT, which ends it. stop restores the default handling.
func asides() (ch <-chan func(), stop func()) {
	signals, calls, stopped := make(chan os.Signal, 1), make(chan func()), make(chan struct{})
	signal.Notify(signals, syscall.SIGTSTP, syscall.SIGQUIT)
	go func() {
		for {
			var call func()
			select {
			case s := <-signals:
				if call = suspend; s == syscall.SIGQUIT {
					call = quit
				}
			case <-stopped:
				return
			}
			select {
			case calls <- call:
			case <-stopped:
				return
			}
		}
	}()
	return calls, func() {
		signal.Stop(signals)
		close(stopped)
	}
}

// suspend stops the process and returns when it is continued. It does nothing in the process group of the session's
// leader, where there is no shell that could continue it.
func suspend() {
	if leader, err := unix.Getsid(0); err != nil || leader == unix.Getpgrp() {
		return
	}
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	defer signal.Stop(continued)
	if syscall.Kill(syscall.Getpid(), syscall.SIGSTOP) == nil { // a SIGTSTP that Go has caught once no longer stops
		<-continued
	}
}

// quit ends the process as SIGQUIT does by default, with a stack trace.
func quit() {
	signal.Reset(syscall.SIGQUIT)
	if syscall.Kill(syscall.Getpid(), syscall.SIGQUIT) == nil {
		select {}
	}
}
