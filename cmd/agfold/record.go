package main

import (
	"fmt"
	"os"
)

// recordFile is the file that --record names. It keeps the first error of writing.
type recordFile struct {
	*os.File
	err error
}

// Write implements io.Writer.
func (r *recordFile) Write(b []byte) (int, error) {
	n, err := r.File.Write(b)
	if err != nil && r.err == nil {
		r.err = err
	}
	return n, err
}

// openRecord opens the file that --record names.
func (f *runFlags) openRecord(t *terminal) (*recordFile, error) {
	mode := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if f.appends(t) {
		mode = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	}
	file, err := os.OpenFile(f.Record, mode, 0o666)
	if err != nil {
		return nil, fmt.Errorf("--record: %w", err)
	}
	return &recordFile{File: file}, nil
}

// appends reports whether --record names the file that --continue reads.
func (f *runFlags) appends(t *terminal) bool { return f.Continue != "" && f.records(f.Continue, t) }

// records reports whether --record names the file that name stands for, which may be "-".
func (f *runFlags) records(name string, t *terminal) bool {
	record, err := os.Stat(f.Record)
	if err != nil {
		return false
	}
	var file os.FileInfo
	if stdin, ok := t.stdin.(*os.File); name == "-" && ok {
		file, err = stdin.Stat()
	} else {
		file, err = os.Stat(name)
	}
	return err == nil && os.SameFile(record, file)
}
