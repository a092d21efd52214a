package web

import (
	"errors"
	"io"
	"sync"
	"time"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/feed"
	"github.com/agfold/agfold/recording"
	"github.com/agfold/agfold/reducer"
)

// checkpointEvery is how many positions lie between two kept snapshots.
const checkpointEvery = 256

// endType is the type of the row of a stream that ended without its run's end.
const endType = "END"

// errFull is why a log does not grow any more.
var errFull = errors.New("the limit of --max-memory is reached: what comes after this event is not shown")

// log is what was delivered, position by position. All methods may be called concurrently.
type log struct {
	id, name, mode string
	open           func() (io.ReadCloser, error) // opens the file anew; nil for a live log
	maxBytes       int64
	maxEvent       int // bounds one event of the file, in bytes

	mu          sync.RWMutex
	entries     []entry // of position i+1
	events      blob    // as they came, and as they were delivered if that differs in type
	changes     blob
	checkpoints []feed.Snapshot // at 0, checkpointEvery, …
	warnings    map[int][]event.Warning
	noted       int64          // about what the warnings take
	ends        map[int]string // why a stream ended, of positions that are ends
	last        feed.Snapshot  // at the last position
	shape       *shape
	trouble     *trouble
	timed       bool
	done        bool
	err         error           // what the log ended with
	end         *reducer.Thread // the final thread, once done
	grown       chan struct{}   // closed when the log has grown
	scratch     []byte
	runs        int
	start       time.Time // of a live log's first run
}

// entry is what is kept of a position.
type entry struct {
	ordinal, line, run int32
	warnings           int32
	at                 int64 // in microseconds since the log's begin, -1 if it is not known
	raw, delivered     ref   // delivered is empty if raw tells it
	changes            ref
	nothing, end       bool // nothing was delivered; a stream ended here
}

// entrySize is about what an entry takes besides its texts.
const entrySize = 96

// warningSize is about what a warning takes besides its path and text.
const warningSize = 112

// step is one position of a log, as it is made.
type step struct {
	n        int              // the position, from 1
	delivery reducer.Delivery // without Event if nothing was delivered; its warnings are valid during the call
	raw      event.Frame      // the event as it came; the zero Frame at an end
	at       time.Duration    // since the log's begin, less than 0 if it is not known
	line     int              // in the file, from 1; 0 in a live log
	head     *recording.Head  // a run's stream begins with this step
	thread   *reducer.Thread  // right after it
	before   *reducer.Thread  // right before it
	end      error            // the stream ended here, without its run's end
}

func newLog(id, name, mode string, maxBytes int64) *log {
	return &log{
		id: id, name: name, mode: mode, maxBytes: maxBytes, warnings: make(map[int][]event.Warning), ends: make(map[int]string),
		shape: newShape(), trouble: newTrouble(), grown: make(chan struct{}),
	}
}

// read runs f with the lock held for reading.
func (l *log) read(f func()) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	f()
}

// change runs f with the lock held for writing, and wakes those who wait for growth.
func (l *log) change(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
	close(l.grown)
	l.grown = make(chan struct{})
}

// begin says what the thread is before the first delivery. The lock is held.
func (l *log) begin(th *reducer.Thread) {
	if len(l.checkpoints) == 0 {
		l.last = feed.Snapshot{Thread: th}
		l.checkpoints = append(l.checkpoints, l.last)
	}
}

// add appends a position, whose number and thread before it fills in. It returns errFull once the log is full. The lock
// is held.
func (l *log) add(st step) error {
	if l.err != nil {
		return l.err
	}
	l.begin(st.thread)
	st.n, st.before = len(l.entries)+1, l.last.Thread
	if st.head != nil || l.runs == 0 {
		l.runs++
	}
	now := feed.Snapshot{Thread: st.thread}
	l.scratch = feed.AppendChanges(l.scratch[:0], l.last, now, feed.Append)
	e := entry{
		ordinal: int32(st.delivery.Ordinal), line: int32(st.line), run: int32(l.runs), at: -1, warnings: int32(len(st.delivery.Warnings)),
		nothing: st.delivery.Event == nil, end: st.end != nil,
	}
	if string(l.scratch) != "[]" {
		e.changes = l.changes.add(l.scratch)
	}
	if st.at >= 0 {
		e.at = st.at.Microseconds()
	}
	e.raw = l.rawOf(st)
	if ev := st.delivery.Event; ev != nil && ev.Type() != st.raw.Type() {
		e.delivered = l.events.add(event.Append(nil, ev))
	}
	if len(st.delivery.Warnings) > 0 {
		l.warnings[st.n] = append([]event.Warning(nil), st.delivery.Warnings...)
		for _, w := range st.delivery.Warnings {
			l.noted += warningSize + int64(len(w.Path)+len(w.Text))
		}
	}
	if st.end != nil {
		l.ends[st.n] = st.end.Error()
	}
	l.entries = append(l.entries, e)
	l.last = now
	if st.n%checkpointEvery == 0 {
		l.checkpoints = append(l.checkpoints, now)
	}
	l.shape.step(st)
	l.trouble.step(st)
	if l.maxBytes > 0 && l.size() > l.maxBytes {
		l.err = errFull
	}
	return l.err
}

// rawOf keeps the event as it came, once for all its deliveries.
func (l *log) rawOf(st step) ref {
	if n := len(l.entries); n > 0 && st.end == nil && int(l.entries[n-1].ordinal) == st.delivery.Ordinal {
		return l.entries[n-1].raw
	}
	return l.events.add(st.raw.Data())
}

// size is about the memory that the log takes.
func (l *log) size() int64 {
	return l.events.size + l.changes.size + l.noted + int64(len(l.entries))*entrySize
}

// finish says that the log does not grow any more.
func (l *log) finish(th *reducer.Thread, err error) {
	l.change(func() {
		l.begin(th)
		l.done, l.end = true, th
		if l.err == nil {
			l.err = err
		}
		l.trouble.end(th, l.err)
	})
}
