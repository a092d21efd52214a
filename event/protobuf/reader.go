package protobuf

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/agfold/agfold/event"
)

const (
	headerSize  = 4
	firstBuffer = 1 << 10   // the size to start with
	fullBuffer  = 16 << 10  // the size for a source that fills a smaller one
	keptBuffer  = 256 << 10 // a larger buffer is given up after the event that needed it
	maxIdle     = 100       // consecutive reads without bytes and without an error
)

// Reader reads the frames of an answer (P-PB-2). It is for one goroutine at a time. Its memory is one buffer, at most
// twice the largest event that came and a constant, whatever the length that a frame announces.
type Reader struct {
	src io.Reader
	max int
	err error // that src ended with

	ended error // that Next has returned

	buf      []byte
	pos, end int // buf[pos:end] is read and not yet taken

	frames int   // taken
	offset int64 // of buf[pos] in the stream
	ids    idCache
}

// NewReader returns a Reader of src. A frame that holds more than maxEventBytes ends the stream with a
// [*event.TooLargeError]; zero or less means no bound.
func NewReader(src io.Reader, maxEventBytes int) *Reader {
	if maxEventBytes <= 0 {
		maxEventBytes = math.MaxInt
	}
	return &Reader{src: src, max: maxEventBytes}
}

// Next returns the next event, which does not depend on the Reader any more. An event that is only ids and texts, of a type
// that most of a stream consists of, is a typed event; any other one is a frame made from a value. An event in an arm that
// AG-UI 1.0 does not have is an [event.Notice] with a warning (P-PB-4). Bytes that are no event are a malformed frame, which
// says the number of the frame and the offset in the stream, and which enforcement rejects (P-PB-3).
//
// The end of the stream is io.EOF, and io.ErrUnexpectedEOF if it ends in the middle of a frame (P-PB-2). Any other error is a
// *event.TooLargeError or that of the source, unwrapped. After an error Next returns it again.
func (r *Reader) Next() (event.Event, error) {
	if r.ended != nil {
		return nil, r.ended
	}
	ev, err := r.next()
	r.ended = err
	return ev, err
}

func (r *Reader) next() (event.Event, error) {
	header, err := r.take(headerSize)
	if err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(header)
	r.frames++
	if uint64(size) > uint64(r.max) {
		return nil, &event.TooLargeError{Limit: r.max, Frame: r.frames}
	}
	at := r.offset
	data, err := r.take(int(size))
	if err == io.EOF {
		return nil, io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	if ev := decodeHot(data, &r.ids); ev != nil {
		return ev, nil
	}
	d := decoder{data: data, place: place{rule: "P-PB-4"}}
	ev, fault := d.decode()
	if fault != "" {
		why := fmt.Sprintf("%s; frame %d, byte %d of the answer", fault, r.frames, at+int64(d.offset))
		return event.Undecodable(append([]byte(nil), data...), why), nil
	}
	return ev, nil
}

// take returns the next n bytes, which are valid until the next call. If the stream ends before, the error is io.EOF when
// nothing is left, else io.ErrUnexpectedEOF, or that of the source.
func (r *Reader) take(n int) ([]byte, error) {
	for r.end-r.pos < n {
		if r.err != nil {
			if r.err == io.EOF && r.end > r.pos {
				return nil, io.ErrUnexpectedEOF
			}
			return nil, r.err
		}
		r.more(n)
	}
	data := r.buf[r.pos : r.pos+n]
	r.pos += n
	r.offset += int64(n)
	return data, nil
}

// more reads more, into a buffer that grows with what has come and not with what is announced.
func (r *Reader) more(n int) {
	live := r.end - r.pos
	buf := r.buf
	switch size := len(buf); {
	case size == 0:
		buf = make([]byte, firstBuffer)
	case live == size:
		buf = make([]byte, max(min(2*size, n), fullBuffer))
	case size < fullBuffer && r.end == size:
		buf = make([]byte, fullBuffer)
	case size > keptBuffer && live <= keptBuffer/2 && n <= keptBuffer/2:
		buf = make([]byte, keptBuffer)
	}
	if len(buf) != len(r.buf) || r.end == len(r.buf) {
		r.end = copy(buf, r.buf[r.pos:r.end])
		r.buf, r.pos = buf, 0
	}
	for range maxIdle {
		got, err := r.src.Read(r.buf[r.end:])
		r.end += got
		if r.err = err; got > 0 || err != nil {
			return
		}
	}
	r.err = io.ErrNoProgress
}
