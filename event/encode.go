package event

import (
	"github.com/agfold/agfold/internal/wire"
	"github.com/agfold/agfold/messages"
)

// begin starts an event's object with its type.
func begin(dst []byte, t Type) []byte {
	dst = append(dst, `{"type":"`...)
	dst = append(dst, types[t].name...)
	return append(dst, '"')
}

// finish ends an event's object with the members that any event may have.
func (b *Base) finish(dst []byte, o messages.Owner) []byte {
	dst = appendOwner(dst, "subagentRunId", o)
	dst = appendOptInteger(dst, "timestamp", b.Timestamp)
	dst = wire.AppendValue(dst, "rawEvent", b.RawEvent)
	dst = wire.AppendValue(dst, "metadata", b.Metadata.Value())
	return append(dst, '}')
}

func appendOwner(dst []byte, key string, o messages.Owner) []byte {
	id, ok := o.RunID()
	if !ok {
		return dst
	}
	return wire.AppendString(dst, key, id)
}

func appendOpt(dst []byte, key string, o messages.Opt[string]) []byte {
	s, ok := o.Get()
	if !ok {
		return dst
	}
	return wire.AppendString(dst, key, s)
}

func appendOptInteger(dst []byte, key string, o messages.Opt[int64]) []byte {
	n, ok := o.Get()
	if !ok {
		return dst
	}
	return wire.AppendInteger(dst, key, n)
}

func appendOptBool(dst []byte, key string, o messages.Opt[bool]) []byte {
	b, ok := o.Get()
	if !ok {
		return dst
	}
	return wire.AppendBool(dst, key, b)
}

func appendContent(dst []byte, c messages.Content) []byte {
	if !c.Exists() {
		return dst
	}
	return c.AppendJSON(wire.AppendKey(dst, "content"))
}

func appendMessage(dst []byte, m *messages.Message) []byte { return m.AppendJSON(dst) }
