package reducer

import (
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"

	"github.com/agfold/agfold/internal/jsontext"
)

// buffer is text that only ever grows. The strings that it gave out share its memory, which later appends
// never write to, so a snapshot's text costs no copy however long it is.
type buffer struct {
	b []byte
	// half is the first half of a surrogate pair that a producer split between two deltas; 0 when there is
	// none. It waits for the second half, so that the text is valid UTF-8 at any time.
	half rune
}

func newBuffer(text string) buffer {
	t := buffer{b: make([]byte, 0, len(text)+len(text)/4+32)}
	t.append(text)
	return t
}

// String returns the text so far, without a copy.
func (t *buffer) String() string { return unsafe.String(unsafe.SliceData(t.b), len(t.b)) }

// append adds a delta.
func (t *buffer) append(delta string) {
	if t.half == 0 && utf8.ValidString(delta) {
		t.b = append(t.b, delta...)
		return
	}
	for i := 0; i < len(delta); {
		c, size := utf8.DecodeRuneInString(delta[i:])
		if c == utf8.RuneError && size == 1 {
			if half, ok := jsontext.LoneSurrogate(delta[i:]); ok {
				c, size = half, 3
			}
		}
		i += size
		if pair := utf16.DecodeRune(t.half, c); pair != utf8.RuneError {
			c, t.half = pair, 0
		}
		t.flush()
		if 0xD800 <= c && c < 0xDC00 {
			t.half = c
			continue
		}
		t.b = utf8.AppendRune(t.b, c) // a lone low half becomes U+FFFD
	}
}

// flush gives up waiting for the second half of a pair.
func (t *buffer) flush() {
	if t.half != 0 {
		t.b = utf8.AppendRune(t.b, utf8.RuneError)
		t.half = 0
	}
}

// clip gives back the room that appends left, if it is worth a copy, and reports whether it did.
func (t *buffer) clip() bool {
	if slack := cap(t.b) - len(t.b); slack < 64 || slack < len(t.b)/8 {
		return false
	}
	t.b = append(make([]byte, 0, len(t.b)), t.b...)
	return true
}
