package web

import (
	"context"
	"errors"
	"io"
	"sort"

	"github.com/agfold/agfold/compare"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/recording"
)

// errLive is why the events of a conversation are not compared.
var errLive = errors.New("the events of a live conversation are not compared, only what came of them")

// divergence is the first place at which the events of two logs part. A and B are the positions, 0 if the side has ended.
type divergence struct {
	A    int      `json:"a"`
	B    int      `json:"b"`
	Run  int      `json:"run"`
	Type string   `json:"type"`
	Path string   `json:"path"`
	InA  *extract `json:"inA"`
	InB  *extract `json:"inB"`
}

// parted finds the first place at which the events of two sides part, nil if there is none.
func parted(ctx context.Context, a, b *side, o compareOptions) (*divergence, error) {
	x, err := a.events(ctx)
	if err != nil {
		return nil, err
	}
	defer x.close()
	y, err := b.events(ctx)
	if err != nil {
		return nil, err
	}
	defer y.close()
	// An error of reading counts as the end of its side, which the log shows.
	d, _ := compare.Streams(x.rec, y.rec, &o.Options)
	if d == nil {
		return nil, ctx.Err()
	}
	out := &divergence{A: x.position(d.LineA), B: y.position(d.LineB), Run: d.Run, Path: d.Path}
	inA, _ := d.A.Lookup(d.Path)
	inB, _ := d.B.Lookup(d.Path)
	out.InA, out.InB = extracts(inA, inB)
	shown := d.A
	if !shown.Exists() {
		shown = d.B
	}
	typ, _ := shown.Get("type").AsString()
	out.Type = short(typ)
	left, leftIsText := inA.AsString()
	right, rightIsText := inB.AsString()
	if d.Path == "/delta" && leftIsText && rightIsText {
		same := commonPrefix(left, right)
		out.A, out.B = a.deltaAt(ctx, out.A, same), b.deltaAt(ctx, out.B, same)
	}
	return out, ctx.Err()
}

func commonPrefix(a, b string) int {
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	return same
}

// eventsOf is the events of a side, read again.
type eventsOf struct {
	side     *side
	rec      *recording.Recording
	file     io.Closer
	numbered bool // the line of an event is its ordinal, and one
	pipe     *io.PipeReader
	written  chan struct{} // closed when nothing writes into the pipe any more
}

// events opens the events of a side.
func (s *side) events(ctx context.Context) (*eventsOf, error) {
	if s.open == nil {
		return nil, errLive
	}
	file, err := s.open()
	if err != nil {
		return nil, err
	}
	rec, err := recording.Open(untilDone{ctx, file}, &recording.Options{MaxEventBytes: s.log.maxEvent})
	if err != nil {
		file.Close()
		return nil, err
	}
	e := &eventsOf{side: s, rec: rec, file: file}
	switch rec.Form() {
	case recording.FormArray, recording.FormObject, recording.FormValues: // several events may be on one line
		if err := e.number(); err != nil {
			e.close()
			return nil, err
		}
	}
	return e, nil
}

// number rewrites the recording as it is read, with each event on a line of its own.
func (e *eventsOf) number() (err error) {
	read, write := io.Pipe()
	e.numbered, e.pipe, e.written = true, read, make(chan struct{})
	from := e.rec
	go func() {
		defer close(e.written)
		write.CloseWithError(recording.Write(write, recording.FormAgfold, from.Input(), from.Entries()))
	}()
	e.rec, err = recording.Open(read, &recording.Options{MaxEventBytes: e.side.log.maxEvent})
	return err
}

func (e *eventsOf) close() {
	if e.pipe != nil {
		e.pipe.Close()
		<-e.written
	}
	e.file.Close()
}

// position returns the position of the event that begins in a line, 0 for line 0.
func (e *eventsOf) position(line int) int {
	switch {
	case line == 0:
		return 0
	case e.numbered:
		return e.side.places.position(line-1, e.side.Length)
	}
	return e.side.atLine(line)
}

// atLine returns the first position whose event begins in a line or after it.
func (s *side) atLine(line int) (n int) {
	s.log.read(func() {
		n = 1 + sort.Search(len(s.log.entries), func(i int) bool { return int(s.log.entries[i].line) >= line })
	})
	return min(n, s.Length)
}

// ordinalAt returns the ordinal of the event at a position.
func (s *side) ordinalAt(n int) (ordinal int) {
	s.log.read(func() { ordinal = int(s.log.entries[n-1].ordinal) })
	return ordinal
}

// deltaAt returns the position at which a text that begins at position n is longer than same bytes.
func (s *side) deltaAt(ctx context.Context, n, same int) int {
	if n == 0 {
		return 0
	}
	file, err := s.open()
	if err != nil {
		return n
	}
	defer file.Close()
	rec, err := recording.Open(untilDone{ctx, file}, &recording.Options{MaxEventBytes: s.log.maxEvent})
	if err != nil {
		return n
	}
	first, what := s.ordinalAt(n), deltaOf{}
	for d, err := range recording.NewFolder(rec, nil).Deliveries() {
		if err != nil || ctx.Err() != nil {
			break
		}
		if d.Ordinal < first || d.Change.Delta == "" {
			continue
		}
		of := deltaOf{d.Change.MessageKind, d.Change.MessageID, d.Change.ToolCallID}
		if what == (deltaOf{}) {
			what = of
		}
		if of != what {
			continue
		}
		if same -= len(d.Change.Delta); same < 0 {
			return s.places.position(d.Ordinal, s.Length)
		}
	}
	return n
}

// deltaOf is what a delta is appended to.
type deltaOf struct {
	kind                messages.Kind
	messageID, toolCall string
}

// untilDone reads until a context is done.
type untilDone struct {
	ctx context.Context
	r   io.Reader
}

func (u untilDone) Read(p []byte) (int, error) {
	if err := context.Cause(u.ctx); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}
