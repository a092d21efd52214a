package event

// Framer makes frames for transports with many small events: it allocates a block of them at a time. The zero Framer
// is ready for use, by one goroutine at a time.
//
// Frames of one block keep each other, and their texts, in memory: at most 32 texts of 4 KiB, since a longer text
// gets its own frame.
type Framer struct {
	free []frame
	size int   // of the block that free is of
	lent frame // by Lend
}

const (
	firstBlock     = 2 // frames; each block is larger than the one before, up to framesPerBlock
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

// Lend is Frame for a reader that reuses data and has done with an event before it goes on to the next one. A content or
// arguments event, unless there is something unusual about it, is not kept: the frame, what a [Decoder] makes of it and
// their texts are valid until data changes or Lend is called again, and that makes no garbage. Of any other event keep
// makes the copy to keep, and the frame is one as Frame returns it.
func (fr *Framer) Lend(data []byte, keep func(data []byte) []byte) Frame {
	p := &fr.lent
	*p = frame{}
	p.keep(data)
	if p.isHot() && p.typ.isContent() {
		p.lent = true
		return Frame{p}
	}
	own := fr.next(len(data))
	*own = *p
	own.data = keep(data)
	return Frame{own}
}

// isContent reports whether events of the type consist of a delta for what has been opened before.
func (t Type) isContent() bool {
	return t == TypeTextMessageContent || t == TypeToolCallArgs || t == TypeReasoningMessageContent
}

// next returns a new frame for a text of this size.
func (fr *Framer) next(size int) *frame {
	if size > maxBlockText {
		return &frame{}
	}
	if len(fr.free) == 0 {
		fr.size = min(max(2*fr.size, firstBlock), framesPerBlock)
		fr.free = make([]frame, fr.size)
	}
	p := &fr.free[0]
	fr.free = fr.free[1:]
	return p
}
