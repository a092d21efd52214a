package event

import (
	"slices"
	"unicode/utf8"
	"unsafe"

	"github.com/agfold/agfold/internal/jsontext"
	"github.com/agfold/agfold/messages"
)

// The events that make up most of a stream are decoded straight from their bytes when they hold nothing
// but strings and a timestamp that their type describes. Whatever else comes, an unknown member, a wrong
// kind, a key that is escaped or comes twice, goes the general way, which alone judges. A fuzz test keeps
// the two equal.

// slot is a member that the hot path knows.
type slot uint8

const (
	slotType slot = iota
	slotMessageID
	slotToolCallID
	slotToolCallName
	slotParentMessageID
	slotRole
	slotName
	slotDelta
	slotSubagentRunID
	slotTimestamp
	numSlots
)

type slots uint16

func slotsOf(list ...slot) (set slots) {
	for _, s := range list {
		set |= 1 << s
	}
	return set
}

// hotType says which members an event of a type must and may have.
type hotType struct{ required, allowed slots }

var hotTypes = func() (hot [numTypes]hotType) {
	common := slotsOf(slotType, slotSubagentRunID, slotTimestamp)
	add := func(t Type, required, optional slots) {
		hot[t] = hotType{required, common | required | optional}
	}
	add(TypeTextMessageContent, slotsOf(slotMessageID, slotDelta), 0)
	add(TypeToolCallArgs, slotsOf(slotToolCallID, slotDelta), 0)
	add(TypeReasoningMessageContent, slotsOf(slotMessageID, slotDelta), 0)
	add(TypeTextMessageChunk, 0, slotsOf(slotMessageID, slotRole, slotDelta, slotName))
	add(TypeToolCallChunk, 0, slotsOf(slotToolCallID, slotToolCallName, slotParentMessageID, slotDelta))
	add(TypeReasoningMessageChunk, 0, slotsOf(slotMessageID, slotDelta))
	return hot
}()

// span is where the inside of a string literal lies in the text.
type span struct{ start, end int }

// hotScan is what the hot path finds in the text of an event.
type hotScan struct {
	data      []byte
	seen      slots
	spans     [numSlots]span
	timestamp int64
}

// decodeHot decodes the event, or returns nil if it has to go the general way.
func (d *Decoder) decodeHot(p *frame) Event {
	hot := hotTypes[p.typ]
	if hot.allowed == 0 || p.data == nil {
		return nil
	}
	s := hotScan{data: p.data}
	if !s.scan() || s.seen&hot.required != hot.required || s.seen&^hot.allowed != 0 {
		return nil
	}
	base := Base{}
	if s.has(slotTimestamp) {
		base.Timestamp = messages.Some(s.timestamp)
	}
	var by Attribution
	if s.has(slotSubagentRunID) {
		by.SubagentRunID = messages.SubagentOwner(d.id(&s, slotSubagentRunID))
	}
	switch p.typ {
	case TypeTextMessageContent:
		return &TextMessageContent{base, by, d.id(&s, slotMessageID), d.delta(&s)}
	case TypeToolCallArgs:
		return &ToolCallArgs{base, by, d.id(&s, slotToolCallID), d.delta(&s)}
	case TypeReasoningMessageContent:
		return &ReasoningMessageContent{base, by, d.id(&s, slotMessageID), d.delta(&s)}
	case TypeTextMessageChunk:
		role := messages.Role(d.id(&s, slotRole))
		if s.has(slotRole) && !slices.Contains(textRoles, role) {
			return nil
		}
		e := next(&d.textChunks)
		*e = TextMessageChunk{base, by, d.optID(&s, slotMessageID), role, d.optDelta(&s), d.optID(&s, slotName)}
		return e
	case TypeToolCallChunk:
		e := next(&d.toolCallChunks)
		*e = ToolCallChunk{base, by, d.optID(&s, slotToolCallID), d.optID(&s, slotToolCallName),
			d.optID(&s, slotParentMessageID), d.optDelta(&s)}
		return e
	case TypeReasoningMessageChunk:
		e := next(&d.reasoningChunks)
		*e = ReasoningMessageChunk{base, by, d.optID(&s, slotMessageID), d.optDelta(&s)}
		return e
	}
	return nil
}

// chunksPerBlock is how many chunks are allocated at a time. Hardly anybody keeps one, since expansion makes other
// events of them.
const chunksPerBlock = 16

// next takes the next chunk of a block, and makes a block if there is none.
func next[T any](block *[]T) *T {
	if len(*block) == 0 {
		*block = make([]T, chunksPerBlock)
	}
	e := &(*block)[0]
	*block = (*block)[1:]
	return e
}

func (s *hotScan) has(at slot) bool { return s.seen&(1<<at) != 0 }

func (s *hotScan) inside(at slot) []byte { return s.data[s.spans[at].start:s.spans[at].end] }

// scan finds the members. It reports false for anything but known keys, each once, with values of their
// kind. The text is that of a frame, so it is known to be JSON.
func (s *hotScan) scan() bool {
	data := s.data
	i := jsontext.Space(data, 0)
	for {
		i = jsontext.Space(data, i+1) // after the brace or comma
		if i >= len(data) || data[i] != '"' {
			return false // an empty object
		}
		start := i + 1
		i = jsontext.Plain(data, start)
		at, known := slotOf(data[start:i])
		if !known || data[i] != '"' || s.has(at) {
			return false
		}
		s.seen |= 1 << at
		i = jsontext.Space(data, i+1) // the colon
		i = jsontext.Space(data, i+1) // the value
		if at == slotTimestamp {
			if i = s.integer(i); i < 0 {
				return false
			}
		} else {
			if data[i] != '"' {
				return false
			}
			start := i + 1
			i = jsontext.Plain(data, start)
			for data[i] == '\\' {
				i = jsontext.Plain(data, i+2)
			}
			s.spans[at] = span{start, i}
			i++
		}
		i = jsontext.Space(data, i)
		if data[i] == '}' {
			return true
		}
	}
}

func slotOf(key []byte) (slot, bool) {
	switch string(key) {
	case "type":
		return slotType, true
	case "messageId":
		return slotMessageID, true
	case "toolCallId":
		return slotToolCallID, true
	case "toolCallName":
		return slotToolCallName, true
	case "parentMessageId":
		return slotParentMessageID, true
	case "role":
		return slotRole, true
	case "name":
		return slotName, true
	case "delta":
		return slotDelta, true
	case "subagentRunId":
		return slotSubagentRunID, true
	case "timestamp":
		return slotTimestamp, true
	}
	return 0, false
}

// maxPlainDigits is how many digits any integer in range may have that is read without a second look.
const maxPlainDigits = 15

// integer reads the plain integer at i and returns the index after it, -1 if it needs a second look.
func (s *hotScan) integer(i int) int {
	negative := s.data[i] == '-'
	if negative {
		i++
	}
	start := i
	for ; s.data[i]-'0' <= 9; i++ {
		s.timestamp = s.timestamp*10 + int64(s.data[i]-'0')
	}
	if i == start || i-start > maxPlainDigits || s.data[i] == '.' || s.data[i]|0x20 == 'e' {
		return -1
	}
	if negative {
		s.timestamp = -s.timestamp
	}
	return i
}

// maxScratch bounds, in bytes, the buffer that a decoder keeps between events.
const maxScratch = 64 << 10

// text returns the string in the slot, "" if there is none.
func (d *Decoder) text(s *hotScan, at slot) string {
	b := s.inside(at)
	if needsUnescaping(b) {
		b = jsontext.AppendUnescaped(d.scratch[:0], b)
		if cap(b) <= maxScratch {
			d.scratch = b
		}
	}
	return string(b)
}

func needsUnescaping(b []byte) bool {
	return jsontext.Plain(b, 0) < len(b) || !utf8.Valid(b)
}

// delta returns the string in the slot of the delta. If it stands in the frame as it is, it is a view of the
// frame's text, which never changes: a copy would be made for nothing, since the fold makes its own.
func (d *Decoder) delta(s *hotScan) string {
	b := s.inside(slotDelta)
	if !needsUnescaping(b) {
		return unsafe.String(unsafe.SliceData(b), len(b))
	}
	if len(b) > maxBlockText/4 {
		return d.text(s, slotDelta)
	}
	// Short ones share a block, like the frames of a Framer. Unescaping may make a text longer only where it
	// was not valid UTF-8, by less than three times.
	if cap(d.block)-len(d.block) < 3*len(b) {
		d.block = make([]byte, 0, maxBlockText)
	}
	start := len(d.block)
	d.block = jsontext.AppendUnescaped(d.block, b)
	text := d.block[start:]
	return unsafe.String(unsafe.SliceData(text), len(text))
}

func (d *Decoder) optDelta(s *hotScan) messages.Opt[string] {
	if !s.has(slotDelta) {
		return messages.Opt[string]{}
	}
	return messages.Some(d.delta(s))
}

// id is text for strings that come again and again: it returns the same string for them.
func (d *Decoder) id(s *hotScan, at slot) string {
	b := s.inside(at)
	if last := d.ids.last[at]; string(b) == last {
		return last
	}
	if len(b) > maxCachedID || needsUnescaping(b) {
		return d.text(s, at)
	}
	id := d.ids.intern(b)
	d.ids.last[at] = id
	return id
}

func (d *Decoder) optID(s *hotScan, at slot) messages.Opt[string] {
	if !s.has(at) {
		return messages.Opt[string]{}
	}
	return messages.Some(d.id(s, at))
}

// idCache hands out one string for equal ids. It keeps at most maxCachedIDs of at most maxCachedID bytes.
type idCache struct {
	last  [numSlots]string // the latest in each slot
	known map[string]string
}

const (
	maxCachedIDs = 1024
	maxCachedID  = 128
)

func (c *idCache) intern(b []byte) string {
	if id, ok := c.known[string(b)]; ok {
		return id
	}
	if c.known == nil || len(c.known) >= maxCachedIDs {
		c.known = make(map[string]string)
	}
	id := string(b)
	c.known[id] = id
	return id
}
