package event

// Framer makes frames as [NewFrame] does, for transports with many small events: it allocates a block of
// them at a time. The zero Framer is ready for use, by one goroutine at a time; the frames are as any.
//
// Frames of one block keep each other, and their texts, in memory: at most 32 texts of 4 KiB, since a longer text
// gets a frame of its own.
type Framer struct{ free []frame }

const (
	framesPerBlock = 32
	maxBlockText   = 4 << 10
)

// Frame is [NewFrame].
func (fr *Framer) Frame(data []byte) (Frame, error) {
	if len(data) > maxBlockText {
		return NewFrame(data)
	}
	s, err := scanFrame(data)
	if err != nil {
		return Frame{}, err
	}
	if len(fr.free) == 0 {
		fr.free = make([]frame, framesPerBlock)
	}
	p := &fr.free[0]
	fr.free = fr.free[1:]
	p.fill(data, s)
	return Frame{p}, nil
}
