package event

// Framer makes frames for transports with many small events: it allocates a block of them at a time. The zero Framer
// is ready for use, by one goroutine at a time.
//
// Frames of one block keep each other, and their texts, in memory: at most 32 texts of 4 KiB, since a longer text
// gets its own frame.
type Framer struct{ free []frame }

const (
	framesPerBlock = 32
	maxBlockText   = 4 << 10
)

// Frame returns the frame of data, which it keeps, as [NewFrame] does. Data that is not an event makes a malformed
// frame, see [Frame.Err]. It takes its place in the stream, passes middleware, and is rejected by enforcement
// (P-PIPE-2).
func (fr *Framer) Frame(data []byte) Frame {
	p := fr.next(len(data))
	p.keep(data)
	return Frame{p}
}

// next returns a new frame for a text of this size.
func (fr *Framer) next(size int) *frame {
	if size > maxBlockText {
		return &frame{}
	}
	if len(fr.free) == 0 {
		fr.free = make([]frame, framesPerBlock)
	}
	p := &fr.free[0]
	fr.free = fr.free[1:]
	return p
}
