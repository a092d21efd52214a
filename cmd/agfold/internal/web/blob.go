package web

// blob keeps many texts in few pieces of memory.
type blob struct {
	chunks [][]byte
	size   int64 // of the texts
}

// ref names a text in a blob. The zero ref is the empty text.
type ref struct{ chunk, at, size uint32 }

// chunkSize is the size of a chunk; a longer text gets one of its own.
const chunkSize = 1 << 20

// add keeps a copy of text, which is shorter than 4 GiB.
func (b *blob) add(text []byte) ref {
	if len(text) == 0 {
		return ref{}
	}
	last := len(b.chunks) - 1
	if last < 0 || len(b.chunks[last])+len(text) > cap(b.chunks[last]) {
		b.chunks = append(b.chunks, make([]byte, 0, max(len(text), chunkSize)))
		last++
	}
	at := len(b.chunks[last])
	b.chunks[last] = append(b.chunks[last], text...)
	b.size += int64(len(text))
	return ref{uint32(last), uint32(at), uint32(len(text))}
}

// get returns a text, which must not be changed.
func (b *blob) get(r ref) []byte {
	if r.size == 0 {
		return nil
	}
	end := r.at + r.size
	return b.chunks[r.chunk][r.at:end:end]
}
