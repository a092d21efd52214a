package protobuf

import (
	"slices"
	"unicode/utf8"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
)

// The events that make up most of a stream are decoded straight to typed events if they hold only texts, ids and a
// timestamp, and encoded straight from them. Anything else takes the general way. Tests keep the two equal.

// part is what a field of such an event is.
type part uint8

const (
	partNone part = iota
	partID
	partDelta
	partOwner
	partName
	partRole
	partParent
	numParts
)

// layout is what each field of an event of a hot type is, from field 2 on.
type layout [5]part

var layouts = [len(arms)]layout{
	2:  {partID, partDelta, partOwner},
	5:  {partID, partDelta, partOwner},
	17: {partID, partRole, partDelta, partName, partOwner},
	18: {partID, partName, partParent, partDelta, partOwner},
	27: {partOwner, partID, partDelta},
	29: {partOwner, partID, partDelta},
}

// maxTimestamp is the largest timestamp that may be in an event; a larger one is for enforcement to judge.
const maxTimestamp = 1<<53 - 1

// hot are the parts of an event.
type hot struct {
	seen      [numParts]bool
	bytes     [numParts][]byte
	timestamp messages.Opt[int64]
}

// read reads the event in data, the payload of an arm. It returns false if the general way has to judge it.
func (h *hot) read(data []byte, form *layout, enum int64) bool {
	based := false
	s := scanner{rest: data}
	for s.next() {
		switch {
		case s.typ != wireBytes || s.num > 6:
			return false
		case s.num == baseField:
			if based || !h.base(s.bytes, enum) {
				return false
			}
			based = true
		default:
			p := form[s.num-2]
			if p == partNone {
				return false
			}
			h.seen[p], h.bytes[p] = true, s.bytes
		}
	}
	return based && s.fault == ""
}

func (h *hot) base(data []byte, enum int64) bool {
	var typ int64
	s := scanner{rest: data}
	for s.next() {
		if s.typ != wireVarint {
			return false
		}
		n := int64(s.number)
		switch s.num {
		case baseType:
			typ = n
		case baseTimestamp:
			if n < -maxTimestamp || n > maxTimestamp {
				return false
			}
			h.timestamp = messages.Some(n)
		default:
			return false
		}
	}
	return s.fault == "" && typ == enum
}

// idCache returns one string for ids that repeat.
type idCache [numParts]string

func (c *idCache) text(h *hot, p part) string {
	b := h.bytes[p]
	if string(b) == c[p] {
		return c[p]
	}
	id := textOf(b)
	if len(id) <= maxCachedID {
		c[p] = id
	}
	return id
}

// maxCachedID bounds, in bytes, the ids that are kept to be used again.
const maxCachedID = 128

func (c *idCache) opt(h *hot, p part) messages.Opt[string] {
	if !h.seen[p] {
		return messages.Opt[string]{}
	}
	return messages.Some(c.text(h, p))
}

func (h *hot) delta() messages.Opt[string] {
	if !h.seen[partDelta] {
		return messages.Opt[string]{}
	}
	return messages.Some(textOf(h.bytes[partDelta]))
}

var textRoles = []messages.Role{messages.RoleDeveloper, messages.RoleSystem, messages.RoleAssistant, messages.RoleUser}

// decodeHot returns the event that data is, nil if the general way has to judge it.
func decodeHot(data []byte, ids *idCache) event.Event {
	s := scanner{rest: data}
	if !s.next() || len(s.rest) > 0 || s.typ != wireBytes || s.num >= len(arms) {
		return nil
	}
	form := &layouts[s.num]
	var h hot
	if form[0] == partNone || !h.read(s.bytes, form, arms[s.num].enum) {
		return nil
	}
	base := event.Base{Timestamp: h.timestamp}
	var by event.Attribution
	if h.seen[partOwner] {
		by = event.By(messages.SubagentOwner(ids.text(&h, partOwner)))
	}
	switch arms[s.num].typ {
	case event.TypeTextMessageContent:
		return &event.TextMessageContent{Base: base, Attribution: by, MessageID: ids.text(&h, partID), Delta: h.delta().Or("")}
	case event.TypeToolCallArgs:
		return &event.ToolCallArgs{Base: base, Attribution: by, ToolCallID: ids.text(&h, partID), Delta: h.delta().Or("")}
	case event.TypeReasoningMessageContent:
		return &event.ReasoningMessageContent{Base: base, Attribution: by, MessageID: ids.text(&h, partID), Delta: h.delta().Or("")}
	case event.TypeTextMessageChunk:
		role := messages.Role(h.bytes[partRole])
		if h.seen[partRole] && !slices.Contains(textRoles, role) {
			return nil
		}
		return &event.TextMessageChunk{Base: base, Attribution: by, MessageID: ids.opt(&h, partID), Role: role, Delta: h.delta(), Name: ids.opt(&h, partName)}
	case event.TypeToolCallChunk:
		return &event.ToolCallChunk{
			Base: base, Attribution: by, ToolCallID: ids.opt(&h, partID), ToolCallName: ids.opt(&h, partName),
			ParentMessageID: ids.opt(&h, partParent), Delta: h.delta(),
		}
	case event.TypeReasoningMessageChunk:
		return &event.ReasoningMessageChunk{Base: base, Attribution: by, MessageID: ids.opt(&h, partID), Delta: h.delta()}
	}
	return nil
}

// appendHot appends a content or arguments event that holds only texts, an id and a timestamp. It returns false for any
// other one.
func appendHot(dst []byte, ev event.Event) ([]byte, bool) {
	var base *event.Base
	var id, delta string
	switch e := ev.(type) {
	case *event.TextMessageContent:
		if e != nil {
			base, id, delta = &e.Base, e.MessageID, e.Delta
		}
	case *event.ToolCallArgs:
		if e != nil {
			base, id, delta = &e.Base, e.ToolCallID, e.Delta
		}
	case *event.ReasoningMessageContent:
		if e != nil {
			base, id, delta = &e.Base, e.MessageID, e.Delta
		}
	}
	if base == nil || base.RawEvent.Exists() || base.Metadata.Exists() {
		return dst, false
	}
	owner, owned := ev.Owner().RunID()
	if !utf8.ValidString(id) || !utf8.ValidString(delta) || !utf8.ValidString(owner) {
		return dst, false
	}
	num := armOf[ev.Type()]
	start := len(appendTag(dst, num, wireBytes))
	dst = appendTag(dst, num, wireBytes)
	at := len(dst) + 1
	dst = appendTag(dst, baseField, wireBytes)
	dst = appendNumber(dst, baseType, arms[num].enum)
	if t, ok := base.Timestamp.Get(); ok {
		dst = appendNumber(dst, baseTimestamp, t)
	}
	dst = closeField(dst, at)
	for i, p := range layouts[num] {
		switch {
		case p == partID && id != "":
			dst = appendText(dst, i+2, id)
		case p == partDelta && delta != "":
			dst = appendText(dst, i+2, delta)
		case p == partOwner && owned:
			dst = appendText(dst, i+2, owner)
		}
	}
	return closeField(dst, start), true
}
