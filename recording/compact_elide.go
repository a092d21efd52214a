package recording

import (
	"bytes"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
)

// elide drops what the run's last MESSAGES_SNAPSHOT restates, as much of it as leaves the thread as it is: everything
// about messages, else the texts, else only earlier snapshots. What is open when the snapshot comes stays.
func (c *compactor) elide() {
	if c.restated == nil {
		return
	}
	all, texts, snapshots := c.restatedItems()
	actual := comparable(c.folder.Thread())
	for _, gone := range []map[*item]bool{all, texts, snapshots} {
		if len(gone) > 0 && bytes.Equal(c.try(gone), actual) {
			for it := range gone {
				c.drop(it)
			}
			return
		}
	}
}

// restatedItems returns the items before the last MESSAGES_SNAPSHOT that it may make superfluous.
func (c *compactor) restatedItems() (all, texts, snapshots map[*item]bool) {
	all, texts, snapshots = make(map[*item]bool), make(map[*item]bool), make(map[*item]bool)
	var carries [messages.KindActivity + 1]bool
	for _, m := range c.restated.ev.(*event.MessagesSnapshot).Messages {
		carries[m.Kind()] = true
	}
	open := make(map[entity][]*item)
	for it := c.first; it != c.restated; it = it.next {
		key, isEnd, ok := opened(it.ev)
		if ok && (key.kind != messages.KindReasoning || carries[messages.KindReasoning]) {
			open[key] = append(open[key], it)
			if isEnd {
				for _, part := range open[key] {
					all[part] = true
					if part.text != nil {
						texts[part] = true
					}
				}
				delete(open, key)
			}
			continue
		}
		switch it.ev.(type) {
		case *event.MessagesSnapshot:
			all[it], texts[it], snapshots[it] = true, true, true
		case *event.ToolCallResult, *event.ReasoningEncryptedValue:
			all[it] = true
		case *event.ActivitySnapshot, *event.ActivityDelta:
			if carries[messages.KindActivity] {
				all[it] = true
			}
		}
	}
	return all, texts, snapshots
}

// opened returns what an event opens, continues or ends.
func opened(ev event.Event) (key entity, isEnd, ok bool) {
	switch e := ev.(type) {
	case *event.TextMessageStart:
		return entity{messages.KindText, e.MessageID}, false, true
	case *event.TextMessageContent:
		return entity{messages.KindText, e.MessageID}, false, true
	case *event.TextMessageEnd:
		return entity{messages.KindText, e.MessageID}, true, true
	case *event.ReasoningMessageStart:
		return entity{messages.KindReasoning, e.MessageID}, false, true
	case *event.ReasoningMessageContent:
		return entity{messages.KindReasoning, e.MessageID}, false, true
	case *event.ReasoningMessageEnd:
		return entity{messages.KindReasoning, e.MessageID}, true, true
	case *event.ToolCallStart:
		return entity{messages.KindNone, e.ToolCallID}, false, true
	case *event.ToolCallArgs:
		return entity{messages.KindNone, e.ToolCallID}, false, true
	case *event.ToolCallEnd:
		return entity{messages.KindNone, e.ToolCallID}, true, true
	}
	return entity{}, false, false
}

// try returns the thread that the run makes without some of its items, nil if the stream is then rejected.
func (c *compactor) try(gone map[*item]bool) []byte {
	r := reducer.New(&reducer.Options{Thread: c.base, Input: c.input})
	for it := c.first; it != nil; it = it.next {
		ev := c.made(it)
		if gone[it] && ev != nil {
			if ev = nil; it.carries {
				ev = carrier(it.ev.Owner())
			}
		}
		if ev != nil && r.Apply(ev) != nil {
			return nil
		}
	}
	return comparable(r.Thread())
}

// comparable returns the thread as text without its revision.
func comparable(th *reducer.Thread) []byte {
	c := *th
	c.Revision = 0
	return c.AppendJSON(nil)
}
