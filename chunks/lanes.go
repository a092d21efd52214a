package chunks

import (
	"iter"

	"github.com/agfold/agfold/messages"
)

// kind is one of the three things that chunks assemble, each a namespace of ids.
type kind uint8

const (
	text kind = iota
	toolCall
	reasoning
	numKinds
)

// String returns the kind's name in words.
func (k kind) String() string {
	return [numKinds]string{"text message", "tool call", "reasoning message"}[k]
}

// idMember returns the member of a chunk that holds the id.
func (k kind) idMember() string {
	if k == toolCall {
		return "toolCallId"
	}
	return "messageId"
}

// opening is what the first chunk of a stream says once for all: what a continuation may repeat but not
// change (P-CHK-5).
type opening struct {
	role            messages.Role        // text; "" when absent
	name            messages.Opt[string] // text
	toolCallName    messages.Opt[string] // tool call
	parentMessageID messages.Opt[string] // tool call
}

// stream is one stream under assembly.
type stream struct {
	entity
	opening
	owner      messages.Owner
	order      uint64  // later streams have greater ones
	prev, next *stream // of the same kind, in opening order
}

// entity is what a stream is known by.
type entity struct {
	kind kind
	id   string
}

// lanes holds the streams under assembly, at most one an owner and one an entity. Every question it
// answers takes constant time, and closing all of them linear time, whatever a hostile stream opens.
type lanes struct {
	byOwner  map[messages.Owner]*stream
	byEntity map[entity]*stream
	// kinds lists the streams of each kind in opening order. One list for all would find the oldest
	// stream as fast, but not the only one of a kind (P-CHK-6).
	kinds  [numKinds]struct{ first, last *stream }
	opened uint64
}

// sole returns the only stream of the kind. Without one it returns nil and whether there are several.
func (l *lanes) sole(k kind) (s *stream, several bool) {
	list := &l.kinds[k]
	if list.first != list.last {
		return nil, true
	}
	return list.first, false
}

// add adds s, whose owner and entity no other stream has, after all others.
func (l *lanes) add(s *stream) {
	if l.byOwner == nil {
		l.byOwner = make(map[messages.Owner]*stream)
		l.byEntity = make(map[entity]*stream)
	}
	l.opened++
	s.order = l.opened
	l.byOwner[s.owner] = s
	l.byEntity[s.entity] = s
	list := &l.kinds[s.kind]
	s.prev = list.last
	if s.prev == nil {
		list.first = s
	} else {
		s.prev.next = s
	}
	list.last = s
}

// remove removes s, which must be present.
func (l *lanes) remove(s *stream) {
	delete(l.byOwner, s.owner)
	delete(l.byEntity, s.entity)
	list := &l.kinds[s.kind]
	if s.prev == nil {
		list.first = s.next
	} else {
		s.prev.next = s.next
	}
	if s.next == nil {
		list.last = s.prev
	} else {
		s.next.prev = s.prev
	}
}

// all yields the streams in opening order by merging the lists of the kinds. They must not change
// meanwhile.
func (l *lanes) all() iter.Seq[*stream] {
	return func(yield func(*stream) bool) {
		var heads [numKinds]*stream
		for k := range heads {
			heads[k] = l.kinds[k].first
		}
		for {
			var oldest *stream
			for _, s := range heads {
				if s != nil && (oldest == nil || s.order < oldest.order) {
					oldest = s
				}
			}
			if oldest == nil || !yield(oldest) {
				return
			}
			heads[oldest.kind] = oldest.next
		}
	}
}
