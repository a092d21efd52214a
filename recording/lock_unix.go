//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package recording

import (
	"os"
	"syscall"
)

// lock keeps other Writers away from the file until it is closed.
func lock(file *os.File) error {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch err {
	case syscall.EWOULDBLOCK:
		return ErrLocked
	case syscall.ENOTSUP, syscall.ENOSYS: // some network file systems
		return nil
	}
	return err
}
