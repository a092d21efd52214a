package feed

import (
	"slices"
	"strconv"
	"strings"
	"weak"
)

// Options bounds a [Ring]. The zero value means the defaults.
type Options struct {
	Snapshots int // how many are kept; 0 means 256
	// MaxBytes bounds what the ring keeps alive besides its oldest and its newest snapshot, by the length of the changes
	// between them; 0 means 4 MiB. Beyond it the oldest snapshots go.
	MaxBytes int
}

// Ring keeps the last snapshots of one thread, for readers that have one of them and want what changed since. The
// snapshots share what did not change. It must be used by one goroutine at a time.
type Ring struct {
	name    string
	o       Options
	entries []*Entry
	bytes   int // the sum of fresh of all but the first

	// Encoded events that lead to the newest snapshot.
	changes map[source]*Event
	view    weak.Pointer[Event] // kept alive by those who write it

	Encoded int // how many events were encoded so far
}

// Entry is a snapshot of a ring. A reader may keep one that the ring has dropped.
type Entry struct {
	snapshot Snapshot
	era      uint64 // grows when the revision does not
	token    string
	fresh    int // the length of the changes since the entry before
}

// source is what changes are made from.
type source struct {
	from *Entry
	mode Mode
}

// NewRing returns an empty ring. name must be one that no other ring has had, here or in another process: its tokens
// begin with it. It is made of letters, digits, - and _.
func NewRing(name string, o Options) *Ring {
	if o.Snapshots <= 0 {
		o.Snapshots = 256
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = 4 << 20
	}
	return &Ring{name: name, o: o, changes: map[source]*Event{}}
}

// Newest returns the newest entry, nil if there is none.
func (r *Ring) Newest() *Entry {
	if len(r.entries) == 0 {
		return nil
	}
	return r.entries[len(r.entries)-1]
}

// Put adds a snapshot, unless it is the newest already, and returns its entry.
func (r *Ring) Put(s Snapshot) *Entry {
	last := r.Newest()
	if last != nil && last.snapshot.same(s) {
		return last
	}
	e := &Entry{snapshot: s}
	if last != nil {
		if e.era = last.era; s.thread().Revision <= last.snapshot.thread().Revision {
			e.era++
		}
	}
	e.token = r.name + "." + strconv.FormatUint(e.era, 36) + "." + strconv.FormatUint(s.thread().Revision, 36)
	clear(r.changes)
	r.view = weak.Pointer[Event]{}
	r.entries = append(r.entries, e)
	if last != nil {
		e.fresh = len(r.changesTo(e, last, Append).Text)
		r.bytes += e.fresh
	}
	for len(r.entries) > r.o.Snapshots || r.bytes > r.o.MaxBytes && len(r.entries) > 1 {
		r.entries[0] = nil
		r.entries = r.entries[1:]
		r.bytes -= r.entries[0].fresh
	}
	return e
}

// Find returns the entry with this token, nil if the ring does not hold it or never did.
func (r *Ring) Find(token string) *Entry {
	if i := slices.IndexFunc(r.entries, func(e *Entry) bool { return e.token == token }); i >= 0 {
		return r.entries[i]
	}
	return nil
}

// viewAhead is how long changes must be for a view to be worth a try instead.
const viewAhead = 64 << 10

// Event is an event of a feed as its readers get it.
type Event struct {
	Text []byte // all of its lines, and the blank one
	To   *Entry // what the reader has after it
}

// Event returns the event that leads a reader from an entry to the newest one: changes, or a view if that is shorter, or
// if from is nil. It is encoded once for all readers, who must not change it. The ring must not be empty.
func (r *Ring) Event(from *Entry, mode Mode) *Event {
	if from == nil {
		return r.newestView()
	}
	changes := r.changesTo(r.Newest(), from, mode)
	if len(changes.Text) > viewAhead {
		if view := r.newestView(); len(view.Text) < len(changes.Text) {
			return view
		}
	}
	return changes
}

// changesTo returns the event that leads from an entry to the newest one, which is to.
func (r *Ring) changesTo(to, from *Entry, mode Mode) *Event {
	key := source{from, mode}
	if e := r.changes[key]; e != nil {
		return e
	}
	text := append(make([]byte, 0, 224), "id: "...) // room for a token of arguments
	text = append(append(text, to.token...), "\ndata: "...)
	text = append(AppendChanges(text, from.snapshot, to.snapshot, mode), "\n\n"...)
	e := &Event{text, to}
	r.changes[key] = e
	r.Encoded++
	return e
}

func (r *Ring) newestView() *Event {
	if e := r.view.Value(); e != nil {
		return e
	}
	to := r.Newest()
	text := append([]byte(nil), "event: view\nid: "+to.token+"\ndata: "...)
	e := &Event{append(AppendView(text, to.snapshot), "\n\n"...), to}
	r.view = weak.Make(e)
	r.Encoded++
	return e
}

// maxToken is longer than any token.
const maxToken = 128

// Revision returns the thread's revision that a token names.
func Revision(token string) (uint64, bool) {
	n, err := strconv.ParseUint(token[strings.LastIndexByte(token, '.')+1:], 36, 64)
	return n, err == nil && len(token) <= maxToken
}
