package event

import (
	"bytes"
	"slices"
	"unicode/utf8"
	"unsafe"

	"github.com/agfold/agfold/internal/jsontext"
	"github.com/agfold/agfold/messages"
)

// The events that make up most of a stream are decoded straight from their bytes when they hold nothing
// but strings and a timestamp that their type describes. Anything else (an unknown member, a wrong kind,
// an escaped or repeated key) falls back to the general decoder, the only one that reports errors. A fuzz test keeps
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

// spanOf returns where the span of a slot is kept. Slots that never occur together in an event of a hot type share one,
// so that a frame is small.
var spanOf = [numSlots]uint8{
	slotType: 0, slotDelta: 1, slotSubagentRunID: 2, slotTimestamp: 3, slotMessageID: 4, slotToolCallID: 4,
	slotRole: 5, slotToolCallName: 5, slotName: 6, slotParentMessageID: 6,
}

const numSpans = 7

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

// hotMembers are the members of an event that the hot path decodes.
type hotMembers struct {
	*found
	data []byte
}

// isHot reports whether the event has a hot type and the members of one.
func (p *frame) isHot() bool {
	hot := hotTypes[p.typ]
	return hot.allowed != 0 && p.data != nil && !p.found.odd && p.found.seen&hot.required == hot.required &&
		p.found.seen&^hot.allowed == 0
}

// decodeHot decodes the event, or returns nil if the general decoder has to decode it.
func (d *Decoder) decodeHot(p *frame) Event {
	if !p.isHot() {
		return nil
	}
	s := hotMembers{&p.found, p.data}
	base := Base{}
	if s.has(slotTimestamp) {
		n, ok := plainInteger(s.inside(slotTimestamp))
		if !ok {
			return nil
		}
		base.Timestamp = messages.Some(n)
	}
	var by Attribution
	if s.has(slotSubagentRunID) {
		by.SubagentRunID = messages.SubagentOwner(d.id(&s, slotSubagentRunID))
	}
	switch p.typ {
	case TypeTextMessageContent:
		e := TextMessageContent{base, by, d.id(&s, slotMessageID), d.delta(&s, p.lent)}
		return made(e, &d.lent.text, p.lent)
	case TypeToolCallArgs:
		e := ToolCallArgs{base, by, d.id(&s, slotToolCallID), d.delta(&s, p.lent)}
		return made(e, &d.lent.args, p.lent)
	case TypeReasoningMessageContent:
		e := ReasoningMessageContent{base, by, d.id(&s, slotMessageID), d.delta(&s, p.lent)}
		return made(e, &d.lent.reasoning, p.lent)
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

// lentEvents are made of lent frames, one after the other.
type lentEvents struct {
	text      *TextMessageContent
	args      *ToolCallArgs
	reasoning *ReasoningMessageContent
}

// made returns e in memory of its own or, if it is lent, in that of the one lent before.
func made[T any, P interface {
	*T
	Event
}](e T, last *P, lent bool) Event {
	p := *last
	if p == nil || !lent {
		p = new(T)
	}
	if lent {
		*last = p
	}
	*p = e
	return p
}

// chunksPerBlock is how many chunks are allocated at a time. They are rarely kept, because expansion makes other
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

func (s *hotMembers) has(at slot) bool { return s.seen&(1<<at) != 0 }

func (s *hotMembers) inside(at slot) []byte {
	sp := s.spans[spanOf[at]]
	return s.data[sp.start:sp.end]
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

// maxPlainDigits is how many digits any integer in range may have that the hot path reads.
const maxPlainDigits = 15

// plainInteger returns the integer that the number literal b is, and false if the general path has to judge it.
func plainInteger(b []byte) (n int64, ok bool) {
	digits := bytes.TrimPrefix(b, []byte("-"))
	if len(digits) > maxPlainDigits {
		return 0, false
	}
	for _, c := range digits {
		if c-'0' > 9 {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if len(digits) < len(b) {
		n = -n
	}
	return n, true
}

// maxScratch bounds, in bytes, the buffer that a decoder keeps between events.
const maxScratch = 64 << 10

// text returns the string in the slot, "" if there is none.
func (d *Decoder) text(s *hotMembers, at slot) string {
	b := s.inside(at)
	if s.needsUnescaping(at) {
		b = jsontext.AppendUnescaped(d.scratch[:0], b)
		if cap(b) <= maxScratch {
			d.scratch = b
		}
	}
	return string(b)
}

func (s *hotMembers) needsUnescaping(at slot) bool {
	if s.plain&(1<<at) != 0 {
		return false
	}
	b := s.inside(at)
	return jsontext.Plain(b, 0) < len(b) || !utf8.Valid(b)
}

// delta returns the string in the slot of the delta. If it has no escapes, it is a view of the
// frame's text, which never changes: a copy is not needed, because the fold makes its own. That of a lent frame is valid
// as long as the frame.
func (d *Decoder) delta(s *hotMembers, lent bool) string {
	b := s.inside(slotDelta)
	if !s.needsUnescaping(slotDelta) {
		return unsafe.String(unsafe.SliceData(b), len(b))
	}
	if lent && len(b) <= maxScratch/4 {
		d.scratch = jsontext.AppendUnescaped(d.scratch[:0], b)
		return unsafe.String(unsafe.SliceData(d.scratch), len(d.scratch))
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

func (d *Decoder) optDelta(s *hotMembers) messages.Opt[string] {
	if !s.has(slotDelta) {
		return messages.Opt[string]{}
	}
	return messages.Some(d.delta(s, false))
}

// id is text for strings that repeat: it returns the same string for each repetition.
func (d *Decoder) id(s *hotMembers, at slot) string {
	b := s.inside(at)
	if last := d.ids.last[at]; string(b) == last {
		return last
	}
	if len(b) > maxCachedID || s.needsUnescaping(at) {
		return d.text(s, at)
	}
	id := d.ids.intern(b)
	d.ids.last[at] = id
	return id
}

func (d *Decoder) optID(s *hotMembers, at slot) messages.Opt[string] {
	if !s.has(at) {
		return messages.Opt[string]{}
	}
	return messages.Some(d.id(s, at))
}

// idCache returns one string for equal ids. It keeps at most maxCachedIDs of at most maxCachedID bytes.
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
