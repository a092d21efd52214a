package protobuf

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// wireType is how a field is laid out.
type wireType uint8

const (
	wireVarint wireType = 0
	wireFixed8 wireType = 1 // eight bytes
	wireBytes  wireType = 2
	wireGroup  wireType = 3
	wireEnd    wireType = 4 // of a group
	wireFixed4 wireType = 5 // four bytes
)

// maxGroups is how deep groups may nest. AG-UI has none.
const maxGroups = 64

// scanner reads the fields of a message, one after the other.
type scanner struct {
	rest []byte

	num    int // the number of the field
	typ    wireType
	number uint64 // of a varint or a fixed field
	bytes  []byte // of a field of bytes

	fault string // why the message is not well-formed, "" if it is so far
}

// next reads the next field and reports whether there was one. A group comes as one field without content.
func (s *scanner) next() bool {
	if len(s.rest) == 0 || s.fault != "" || !s.tag() {
		return false
	}
	if s.typ == wireEnd {
		return s.fail("the end of a group that was not opened")
	}
	if s.typ == wireGroup {
		return s.group()
	}
	return s.content()
}

func (s *scanner) fail(why string) bool {
	s.fault = why
	return false
}

func (s *scanner) tag() bool {
	tag, ok := s.varint()
	switch {
	case !ok:
		return false
	case tag > math.MaxUint32:
		return s.fail("a tag of more than 32 bits")
	case tag>>3 == 0:
		return s.fail("a field with the number 0")
	}
	s.num, s.typ = int(tag>>3), wireType(tag&7)
	return true
}

func (s *scanner) varint() (uint64, bool) {
	v, n := binary.Uvarint(s.rest)
	if n == 0 {
		return 0, s.fail("a number that is cut off")
	} else if n < 0 {
		return 0, s.fail("a number of more than 64 bits")
	}
	s.rest = s.rest[n:]
	return v, true
}

// take takes n bytes.
func (s *scanner) take(n uint64) (data []byte, ok bool) {
	if n > uint64(len(s.rest)) {
		return nil, s.fail("a field that is cut off")
	}
	data, s.rest = s.rest[:n], s.rest[n:]
	return data, true
}

// content reads what follows the tag of a field that is not a group.
func (s *scanner) content() (ok bool) {
	s.number, s.bytes = 0, nil
	switch s.typ {
	case wireVarint:
		s.number, ok = s.varint()
	case wireFixed8:
		var data []byte
		if data, ok = s.take(8); ok {
			s.number = binary.LittleEndian.Uint64(data)
		}
	case wireFixed4:
		_, ok = s.take(4)
	case wireBytes:
		var n uint64
		if n, ok = s.varint(); ok {
			s.bytes, ok = s.take(n)
		}
	default:
		return s.fail("a field of a type that does not exist")
	}
	return ok
}

// group steps over a group that has been opened.
func (s *scanner) group() bool {
	open := make([]int, 1, 4)
	open[0] = s.num
	first := s.num
	for len(open) > 0 {
		if len(s.rest) == 0 {
			return s.fail("a group without an end")
		}
		if !s.tag() {
			return false
		}
		switch s.typ {
		case wireGroup:
			if open = append(open, s.num); len(open) > maxGroups {
				return s.fail("groups that nest too deeply")
			}
		case wireEnd:
			if open[len(open)-1] != s.num {
				return s.fail("the end of another group than the open one")
			}
			open = open[:len(open)-1]
		default:
			if !s.content() {
				return false
			}
		}
	}
	s.num, s.typ, s.bytes = first, wireGroup, nil
	return true
}

// isMessage reports whether data is a well-formed message, whatever its fields mean.
func isMessage(data []byte) bool {
	s := scanner{rest: data}
	for s.next() {
	}
	return s.fault == ""
}

// appendTag appends the tag of a field.
func appendTag(dst []byte, num int, typ wireType) []byte {
	return binary.AppendUvarint(dst, uint64(num)<<3|uint64(typ))
}

// appendText appends a field of text.
func appendText(dst []byte, num int, text string) []byte {
	dst = binary.AppendUvarint(appendTag(dst, num, wireBytes), uint64(len(text)))
	return append(dst, text...)
}

// appendNumber appends a field that is a varint.
func appendNumber(dst []byte, num int, n int64) []byte {
	return binary.AppendUvarint(appendTag(dst, num, wireVarint), uint64(n))
}

// sizeOfNumber returns how many bytes a varint takes.
func sizeOfNumber(n uint64) int { return (bits.Len64(n|1) + 6) / 7 }

// closeField puts the length of what follows start before it. What the field holds was appended after the tag, without
// one. It moves the content, so it is for fields that do not nest deeply.
func closeField(dst []byte, start int) []byte {
	var length [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(length[:], uint64(len(dst)-start))
	dst = append(dst, length[:n]...)
	copy(dst[start+n:], dst[start:len(dst)-n])
	copy(dst[start:], length[:n])
	return dst
}
