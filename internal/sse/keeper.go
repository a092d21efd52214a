package sse

// Keeper copies short pieces of data into blocks that several of them share, which saves an allocation
// for each. The zero Keeper is ready for use, by one goroutine at a time.
type Keeper struct {
	free []byte
	size int // of the block that free is of
}

const (
	firstBlock  = 256     // bytes; each block is twice as large as the one before, up to keeperBlock
	keeperBlock = 4 << 10 // small, because one piece that is kept keeps its whole block
	keeperShare = 1 << 10 // a longer piece gets its own allocation
)

// Keep returns a copy of data, which the caller may keep. It has no room to append in place.
func (k *Keeper) Keep(data []byte) []byte {
	n := len(data)
	if n > keeperShare {
		own := make([]byte, n)
		copy(own, data)
		return own
	}
	if n > len(k.free) {
		k.size = min(max(2*k.size, firstBlock, n), keeperBlock)
		k.free = make([]byte, k.size)
	}
	kept := k.free[:n:n]
	k.free = k.free[n:]
	copy(kept, data)
	return kept
}
