package sse

import (
	"bytes"
	"io"
	"math"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/internal/jsontext"
)

const (
	firstBuffer = 1 << 10  // the size to start with, and again after calmReads reads that would have fitted
	fullBuffer  = 16 << 10 // the size for a source that fills a smaller one
	calmReads   = 64
	keptBuffer  = 256 << 10 // a larger buffer is given up after the event that needed it
	minRead     = 512       // the least room to read into
	maxIdle     = 100       // consecutive reads without bytes and without an error
)

// Reader reads a stream of server-sent events. It is for one goroutine at a time. Its memory is
// one buffer, at most four times the largest event or the bound and a constant; its cost per byte does
// not depend on the size of events (P-SSE-2).
type Reader struct {
	src io.Reader
	max int
	err error // what src ended with

	buf      []byte
	pos, end int // buf[pos:end] is read and not yet parsed
	lf, cr   int // the first LF and the first CR in buf[pos:end], or end

	from, to int // buf[from:to] is the data of the event under assembly
	lines    int // its data lines
	first    int // the number of its first data line
	partial  bool

	calm     int  // reads in a row that would have fitted into half of firstBuffer
	line     int  // lines parsed
	begun    bool // past the place of a byte order mark
	afterCR  bool // the last byte read was a CR, so that an LF belongs to it
	skipping bool // within a line that carries no data and is not kept
}

// NewReader returns a Reader of src. An event whose data, joined, is longer than maxEventBytes ends the
// stream with a *event.TooLargeError; zero or less means no bound. Lines that carry no data are never kept and
// do not count.
func NewReader(src io.Reader, maxEventBytes int) *Reader {
	if maxEventBytes <= 0 {
		maxEventBytes = math.MaxInt
	}
	return &Reader{src: src, max: maxEventBytes}
}

// Next returns the data of the next event: the values of its data lines joined by newlines. An event without data
// lines, or whose data is only white space, is skipped (P-SSE-1).
//
// The data lies in the Reader's buffer and is valid until the next call; nothing is copied for an event
// of one line. The caller may change it in place. The end of the stream is io.EOF; an event that lacks
// only its blank line then is delivered first, see [Reader.Partial]. Any other error is a *event.TooLargeError
// or that of the source, unwrapped, and the event that the source cut off is dropped. After an error Next
// returns it again.
func (r *Reader) Next() ([]byte, error) {
	r.lines, r.from, r.to, r.partial = 0, 0, 0, false
	for {
		stop := min(r.lf, r.cr)
		if stop == r.end {
			if r.err != nil {
				return r.last()
			}
			r.more()
			continue
		}
		start := r.pos
		r.line++
		r.pos = stop + 1
		if stop == r.lf {
			r.lf = r.index('\n', r.pos)
		} else {
			r.endCR()
		}
		switch {
		case r.skipping:
			r.skipping = false
		case start < stop:
			r.add(start, stop)
		case r.lines > 0 && !r.blank():
			return r.buf[r.from:r.to], nil
		default:
			r.lines, r.from, r.to = 0, 0, 0
		}
	}
}

// blank reports whether the data of the event under assembly is only JSON's white space.
func (r *Reader) blank() bool { return jsontext.Space(r.buf[:r.to], r.from) == r.to }

// Partial reports whether the event that Next returned last was ended by the end of the stream and not
// by a blank line. Its data may then be cut off anywhere.
func (r *Reader) Partial() bool { return r.partial }

// Line returns the number, from 1, of the line where the data of the event that Next returned last
// begins.
func (r *Reader) Line() int { return r.first }

// index returns where c first is in buf[from:end], or end. Both line ends are looked for once per
// stretch of input, not once per line: a stream that never uses one of them costs one search a read.
func (r *Reader) index(c byte, from int) int {
	if i := bytes.IndexByte(r.buf[from:r.end], c); i >= 0 {
		return from + i
	}
	return r.end
}

// endCR steps over a line end that began with the CR at pos-1: an LF that follows belongs to it, even
// one that has yet to come.
func (r *Reader) endCR() {
	if r.pos == r.end {
		r.afterCR = true
	} else if r.buf[r.pos] == '\n' {
		r.pos++
		r.lf = r.index('\n', r.pos)
	}
	r.cr = r.index('\r', r.pos)
}

// add takes in the line buf[start:stop]. Data lines after the first move up to it, over their own field
// names, so that the event's data stays in one piece.
func (r *Reader) add(start, stop int) {
	n := valueAt(r.buf[start:stop])
	if n < 0 || !r.fits(stop-start-n, r.line) {
		return
	}
	if r.lines == 0 {
		r.first = r.line
		r.from, r.to = start+n, stop
	} else {
		r.buf[r.to] = '\n'
		r.to += 1 + copy(r.buf[r.to+1:], r.buf[start+n:stop])
	}
	r.lines++
}

// valueAt returns where the value of a data line begins, or -1 if the line is not a data line.
func valueAt(line []byte) int {
	switch {
	case len(line) < len("data:"):
		if string(line) == "data" {
			return len("data")
		}
		return -1
	case string(line[:len("data:")]) != "data:":
		return -1
	case len(line) > len("data:") && line[len("data:")] == ' ':
		return len("data: ")
	}
	return len("data:")
}

// mayBeData reports whether a line that begins like this may turn out to carry data.
func mayBeData(part []byte) bool {
	n := min(len(part), len("data:"))
	return string(part[:n]) == "data:"[:n]
}

// fits reports whether the event may grow by a line with n bytes of value. If not, it ends the stream.
func (r *Reader) fits(n, line int) bool {
	if r.lines > 0 {
		n += r.to - r.from + 1
		line = r.first
	}
	if n <= r.max {
		return true
	}
	r.err = &event.TooLargeError{Limit: r.max, Line: line}
	r.lines, r.from, r.to = 0, 0, 0
	r.drop()
	return false
}

// drop forgets what is read and not yet parsed.
func (r *Reader) drop() { r.pos, r.lf, r.cr = r.end, r.end, r.end }

// last returns what is left when the source has ended: an event that lacks its blank line, or the error.
func (r *Reader) last() ([]byte, error) {
	if r.err != io.EOF {
		return nil, r.err
	}
	start := r.pos
	r.drop()
	if start < r.end && !r.skipping {
		r.line++
		r.add(start, r.end)
	}
	if r.lines == 0 || r.blank() {
		return nil, r.err
	}
	r.partial = true
	return r.buf[r.from:r.to], nil
}

var byteOrderMark = []byte("\uFEFF")

// more reads more data when buf[pos:end] does not hold a complete line.
func (r *Reader) more() {
	if part := r.buf[r.pos:r.end]; r.begun && len(part) > 0 {
		if r.skipping || !mayBeData(part) {
			r.skipping = true
			r.drop()
		} else if len(part) >= len("data:") && !r.fits(len(part)-valueAt(part), r.line+1) {
			return // it is a data line for certain, and too long already
		}
	}
	r.makeRoom()
	at := r.end
	for range maxIdle {
		n, err := r.src.Read(r.buf[r.end:])
		if r.end += n; n > firstBuffer/2 {
			r.calm = 0
		} else {
			r.calm++
		}
		if r.err = err; n > 0 || err != nil {
			break
		}
	}
	if r.end == at && r.err == nil {
		r.err = io.ErrNoProgress
	}
	if r.afterCR && at < r.end {
		r.afterCR = false
		if r.buf[at] == '\n' {
			at++
			r.pos = at
		}
	}
	r.lf, r.cr = r.index('\n', at), r.index('\r', at)
	if r.begun {
		return
	}
	got := r.buf[r.pos:r.end]
	if bytes.HasPrefix(got, byteOrderMark) {
		r.pos += len(byteOrderMark)
		r.begun = true
	} else {
		r.begun = !bytes.HasPrefix(byteOrderMark, got)
	}
}

// makeRoom makes room to read at least minRead bytes, moving what is still needed to the front of buf.
// It moves at most as much as it makes room for, and quadruples a buffer that is more than half full, so
// that the cost per byte is constant.
func (r *Reader) makeRoom() {
	live := r.to - r.from + r.end - r.pos
	if live > 0 && len(r.buf)-r.end >= minRead {
		return
	}
	buf := r.buf
	switch size := len(buf); {
	case size == 0, live == 0 && size > firstBuffer && r.calm >= calmReads:
		buf = make([]byte, firstBuffer)
	case size < fullBuffer && r.end == size:
		buf = make([]byte, fullBuffer)
	case live > size/2:
		buf = make([]byte, max(2*size, min(4*size, 2*min(r.max, math.MaxInt/4)+fullBuffer)))
	case size > keptBuffer && live <= keptBuffer/2:
		buf = make([]byte, keptBuffer)
	}
	n := copy(buf, r.buf[r.from:r.to])
	r.from, r.to = 0, n
	n += copy(buf[n:], r.buf[r.pos:r.end])
	r.buf, r.pos, r.end = buf, r.to, n
}
