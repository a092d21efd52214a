package recording

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ErrLocked is matched by the error of [Create] for a file that another Writer has open.
var ErrLocked = errors.New("the file is being written by another recording")

// CreateOptions configures [Create]; nil means defaults.
type CreateOptions struct {
	// Append adds the runs to the recording that is in the file, which must be empty or of [FormAgfold]. By default
	// they replace what is in the file, once the first event was received.
	Append bool
}

// Create opens a file to record runs in, creates it if it is not there, and locks it against other Writers, where the
// system has such locks. Without options.Append the file keeps what is in it until the first event comes, and a file in
// which nothing was recorded is removed again. The caller must close the Writer.
//
// The error is a *os.PathError, or matches ErrLocked, or, with Append, is that of [Open] or names the form of the
// recording that no run can be appended to.
func Create(name string, o *CreateOptions) (*Writer, error) {
	for {
		w, err := openWriter(name)
		if err != nil {
			return nil, err
		}
		if w.piped {
			return w, nil
		}
		err = w.take(o != nil && o.Append)
		if err == nil {
			return w, nil
		}
		w.file.Close()
		if err != errReplaced {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
}

// errReplaced says that the name is no longer that of the file. It never leaves the package.
var errReplaced = errors.New("another file has the name")

// openWriter opens the file, which is not locked yet.
func openWriter(name string) (*Writer, error) {
	flag := os.O_RDWR | os.O_CREATE
	info, err := os.Stat(name)
	piped := err == nil && !info.Mode().IsRegular() && !info.IsDir() // a pipe or a terminal, which has no past
	if piped {
		flag = os.O_WRONLY
	}
	file, err := os.OpenFile(name, flag, 0o666)
	if err != nil {
		return nil, err
	}
	return &Writer{w: file, file: file, piped: piped, created: info == nil}, nil
}

// take locks the Writer's file and finds out what is in it.
func (w *Writer) take(appends bool) error {
	if err := lock(w.file); err != nil {
		return err
	}
	if now, err := os.Stat(w.file.Name()); !w.is(now, err) {
		return errReplaced // by a Writer that removed it, before it was locked
	}
	size, err := w.file.Seek(0, io.SeekEnd)
	w.created = w.created && size == 0
	if err != nil || size == 0 {
		return err
	}
	if !appends {
		w.replace = true
		return nil
	}
	rec, err := Open(io.NewSectionReader(w.file, 0, size), nil)
	if err != nil {
		if _, cut := errors.AsType[*CutError](err); !cut {
			return err
		}
	} else if form := rec.Form(); form != FormAgfold && form != FormEmpty {
		return fmt.Errorf("no run can be appended to a recording of the form %q", form)
	}
	var last [1]byte
	_, err = w.file.ReadAt(last[:], size-1)
	w.torn = last[0] != '\n'
	return err
}

// replaceOld removes what was in the file before the first event, and writes the head of its run.
func (w *Writer) replaceOld() error {
	if !w.replace {
		return nil
	}
	_, err := w.file.Seek(0, io.SeekStart)
	if err == nil {
		err = w.file.Truncate(0)
	}
	if err != nil {
		w.err = cmp.Or(w.err, err)
		return err
	}
	w.replace = false
	if w.head == nil {
		return nil
	}
	return w.line(w.head)
}

// is reports whether info, unless there is an error, is about the Writer's file.
func (w *Writer) is(info fs.FileInfo, err error) bool {
	if err != nil {
		return false
	}
	own, err := w.file.Stat()
	return err == nil && os.SameFile(own, info)
}
