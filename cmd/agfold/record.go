package main

import (
	"fmt"
	"os"

	"github.com/agfold/agfold/recording"
)

// openRecord opens the file that --record names.
func (f *runFlags) openRecord(t *terminal) (*recording.Writer, error) {
	w, err := recording.Create(f.Record, &recording.CreateOptions{Append: f.appends(t)})
	if err != nil {
		return nil, fmt.Errorf("--record: %w", err)
	}
	return w, nil
}

// appends reports whether --record names the file that --continue reads.
func (f *runFlags) appends(t *terminal) bool { return f.Continue != "" && f.records(f.Continue, t) }

// records reports whether --record and name mean the same file. name may be "-".
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
