package state

import (
	"strings"

	"github.com/agfold/agfold/internal/jsontext"
)

const (
	slabNodes = 16  // scalars that share an allocation
	slabNode  = 64  // the longest text, in bytes, of a scalar that does
	slabText  = 256 // bytes of text that share an allocation
	slabPart  = 32  // the longest text, in bytes, that does
)

// slab allocates the small scalars of one text together, which makes parsing and garbage collection cheaper.
// A scalar that outlives the others keeps its neighbors alive: a few kilobytes at the very most.
type slab struct {
	nodes []node // not in use yet
	texts strings.Builder
}

func (s *slab) scalar(kind Kind, text string) Value {
	if len(text) > slabNode {
		return Value{&node{kind: kind, text: text}}
	}
	if len(s.nodes) == 0 {
		s.nodes = make([]node, slabNodes)
	}
	n := &s.nodes[0]
	s.nodes = s.nodes[1:]
	n.kind, n.text = kind, text
	return Value{n}
}

// digits returns the number with the literal raw.
func (s *slab) digits(raw []byte) Value {
	switch n := len(raw); {
	case n == 1:
		return Value{digitNodes[raw[0]-'0']}
	case n > shortNumber:
		return number(string(raw))
	}
	return s.scalar(KindNumber, s.share(raw))
}

// text decodes raw, the inside of a string literal.
func (s *slab) text(raw []byte) string {
	if len(raw) > slabPart || !jsontext.IsText(raw) {
		return jsontext.Text(raw)
	}
	return s.share(raw)
}

func (s *slab) share(raw []byte) string {
	if len(raw) > slabPart {
		return string(raw)
	}
	start := s.texts.Len()
	if start+len(raw) > s.texts.Cap() {
		s.texts = strings.Builder{}
		s.texts.Grow(slabText)
		start = 0
	}
	s.texts.Write(raw)
	return s.texts.String()[start:]
}
