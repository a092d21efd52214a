package recording

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

var lockFileEx = syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")

const (
	failImmediately = 1
	exclusively     = 2
	errViolation    = syscall.Errno(33) // ERROR_LOCK_VIOLATION
)

// lock keeps other Writers away from the file until it is closed. On Windows locked bytes cannot be read, so the lock
// is on a byte far after the end.
func lock(file *os.File) error {
	far := syscall.Overlapped{Offset: 0xFFFFFFFE, OffsetHigh: 0x7FFFFFFF}
	ok, _, err := lockFileEx.Call(file.Fd(), failImmediately|exclusively, 0, 1, 0, uintptr(unsafe.Pointer(&far)))
	switch {
	case ok != 0:
		return nil
	case errors.Is(err, errViolation):
		return ErrLocked
	}
	return err
}
