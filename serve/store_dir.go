package serve

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/agfold/agfold/client"
	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/reducer"
)

// NewDir returns a store that keeps threads as files in a directory, which it creates if need be. A thread has a
// file NAME.json with its JSON, and, while it is held, NAME.run with a recording of the runs since then, which
// agfold replay reads, and NAME.lock. So a process that is killed in the middle of a run loses at most the event that it
// was writing. On systems with file locks two processes may share the directory: the second one to ask for a thread gets a
// *HeldError. The files are readable by their owner only. NAME is made of the thread's id: see SECURITY.md.
func NewDir(path string) Store { return dir(path) }

type dir string

func (d dir) Open(_ context.Context, threadID string) (Stored, error) {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return nil, err
	}
	base := filepath.Join(string(d), fileName(threadID))
	lock, err := recording.Create(base+".lock", nil)
	if errors.Is(err, recording.ErrLocked) {
		return nil, &HeldError{}
	}
	if err != nil {
		return nil, err
	}
	f := &filed{base: base, lock: lock}
	if err := f.open(threadID); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// fileName returns a file name for a thread's id. Different ids have names that differ even where the case of letters does
// not count, and none leads out of the directory.
func fileName(id string) string {
	const longest = 120
	var b strings.Builder
	b.WriteString("t-")
	for i := 0; i < len(id); i++ {
		switch c := id[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-', c == '_':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	name := b.String()
	if len(name) <= longest {
		return name
	}
	sum := sha256.Sum256([]byte(id))
	return name[:longest/2] + "~" + hex.EncodeToString(sum[:]) // no other name has a tilde
}

// filed is a thread in files.
type filed struct {
	base   string
	lock   *recording.Writer
	run    *os.File
	writer *recording.Writer
	thread *reducer.Thread

	mu       sync.Mutex
	streams  int    // that are being recorded; one may outlive its run
	recorded uint64 // changes with each event, before and after the thread takes it
	unsaved  bool   // something was recorded that the saved thread may not hold
}

func (f *filed) Thread() *reducer.Thread { return f.thread }
func (f *filed) Lost() <-chan struct{}   { return nil }

// Record returns a middleware that records runs and keeps count of their streams.
func (f *filed) Record() client.Middleware {
	record := client.Record(f.writer)
	return func(next client.Agent) client.Agent {
		recorded := record(next)
		return client.AgentFunc(func(ctx context.Context, in event.RunInput) iter.Seq2[event.Event, error] {
			return func(yield func(event.Event, error) bool) {
				f.count(1)
				defer f.count(-1)
				for ev, err := range recorded.Run(ctx, in) {
					f.count(0)
					more := yield(ev, err)
					f.count(0) // now the thread holds it
					if !more {
						return
					}
				}
			}
		})
	}
}

// count notes that something was recorded, and that streams have begun or ended.
func (f *filed) count(streams int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.streams += streams
	if streams >= 0 {
		f.recorded++
		f.unsaved = true
	}
}

// open reads the thread and opens the file for its runs.
func (f *filed) open(threadID string) error {
	data, err := os.ReadFile(f.base + ".json")
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		f.thread = new(reducer.Thread)
		if err := f.thread.UnmarshalJSON(data); err != nil {
			return fmt.Errorf("%s.json: %w", f.base, err)
		}
		if f.thread.ID != threadID {
			return fmt.Errorf("%s.json holds the thread %q", f.base, f.thread.ID)
		}
	}
	f.run, err = os.OpenFile(f.base+".run", os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	info, err := f.run.Stat()
	if err == nil && info.Size() > 0 {
		f.unsaved = true
		err = f.recover()
	}
	f.writer = recording.NewWriter(f.run)
	return err
}

// recover adds the runs that were recorded after the thread was saved, and saves it.
func (f *filed) recover() error {
	th, err := continued(f.thread, f.run)
	if err != nil {
		return fmt.Errorf("%s.run: %w", f.base, err)
	}
	if th == nil { // no run had begun to be recorded
		f.unsaved = false
		return f.run.Truncate(0)
	}
	err = f.Save(context.Background(), func() *reducer.Thread { return th })
	f.thread = th
	return err
}

// continued returns the thread with the runs of a recording, as far as it does not have them. What cannot be read at the
// end was being written.
func continued(th *reducer.Thread, r io.Reader) (*reducer.Thread, error) {
	rec, err := recording.Open(r, nil)
	if _, cut := errors.AsType[*recording.CutError](err); cut {
		return th, nil
	}
	if err != nil {
		return nil, err
	}
	known := make(map[string]bool)
	if th != nil {
		for _, run := range th.Runs.All() {
			known[run.ID] = true
		}
	}
	var fold *reducer.Reducer
	skip := true
	for e, err := range rec.Entries() {
		if err != nil {
			if _, cut := errors.AsType[*recording.CutError](err); cut {
				break
			}
			return nil, err
		}
		switch {
		case e.Head != nil:
			skip = e.Head.Input == nil || known[e.Head.Input.RunID]
			switch {
			case skip:
			case fold == nil && th == nil:
				fold = reducer.New(&reducer.Options{Input: e.Head.Input})
			default:
				if fold == nil {
					fold = reducer.New(&reducer.Options{Thread: th})
				}
				fold.Next(&reducer.Options{Input: e.Head.Input})
			}
		case skip:
			if id, begins := begun(e.Event); begins && !known[id] { // the agent began it by itself, after the run that was asked for
				if fold == nil {
					fold = reducer.New(&reducer.Options{Thread: th})
				} else {
					fold.Next(nil)
				}
				skip = fold.Apply(e.Event) != nil
			}
		case e.Err != nil:
			fold.End(e.Err)
		default:
			_ = fold.Apply(e.Event) // the thread says if it is rejected
		}
	}
	if fold == nil {
		return th, nil
	}
	return fold.End(nil), nil
}

// begun returns the id of the run that an event begins.
func begun(f event.Frame) (runID string, begins bool) {
	if f.Type() != event.TypeRunStarted {
		return "", false
	}
	return f.Value().Get("runId").AsString()
}

// Save replaces the thread's file, and then empties that of its runs, unless something was recorded meanwhile.
func (f *filed) Save(_ context.Context, thread func() *reducer.Thread) (err error) {
	f.mu.Lock()
	recorded := f.recorded
	f.mu.Unlock()
	th := thread()
	tmp, err := os.CreateTemp(filepath.Dir(f.base), "save-*") // for its owner only
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(tmp.Name())
		}
	}()
	_, err = th.WriteTo(tmp)
	err = cmp.Or(err, tmp.Sync())
	if err = cmp.Or(err, tmp.Close()); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), f.base+".json"); err != nil {
		return err
	}
	f.thread = nil // it is the session's
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.recorded != recorded {
		return nil // the thread may not hold all of it
	}
	f.unsaved = false
	if f.streams > 0 {
		return nil // what follows needs the head of its run
	}
	return f.run.Truncate(0)
}

// Close closes the files. That of the runs stays only if there is something in it that was not saved.
func (f *filed) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var err error
	if f.run != nil {
		err = f.run.Close()
		if !f.unsaved {
			err = cmp.Or(err, os.Remove(f.base+".run"))
		}
	}
	_ = os.Remove(f.base + ".lock") // of a process that was killed, too; where an open file cannot be removed, it stays
	return cmp.Or(err, f.lock.Close())
}
