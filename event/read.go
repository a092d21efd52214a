package event

import (
	"github.com/agfold/agfold/internal/wire"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// read reads what every event may carry (P-VOC-1).
func (b *Base) read(o *wire.Object) {
	b.Timestamp = readOptInteger(o, "timestamp", -wire.MaxInteger)
	b.RawEvent = o.OptAny("rawEvent")
	b.Metadata = messages.ReadMetadata(o)
}

func readOptInteger(o *wire.Object, key string, lowest int64) messages.Opt[int64] {
	if n, ok := o.OptInteger(key, lowest); ok {
		return messages.Some(n)
	}
	return messages.Opt[int64]{}
}

func readOptBool(o *wire.Object, key string) messages.Opt[bool] {
	if b, ok := o.OptBool(key); ok {
		return messages.Some(b)
	}
	return messages.Opt[bool]{}
}

// readTextRole reads the role of a text message; an unknown one is removed, which makes it the
// assistant's (P-ENF-5).
func readTextRole(o *wire.Object) messages.Role {
	return messages.Role(o.OptEnum("role", textRoles...))
}

// readToolRole reads the role of a tool result, which is fixed (P-ENF-4).
func readToolRole(o *wire.Object) messages.Role {
	if o.Fixed("role", string(messages.RoleTool), false) {
		return messages.RoleTool
	}
	return ""
}

// readOp reads a patch operation, an open object (P-ENF-2, P-ENF-3).
func readOp(r *wire.Reader, v state.Value) state.Op {
	var op state.Op
	o := r.Object(v)
	kind, ok := o.Tag("op", "add", "remove", "replace", "move", "copy", "test")
	if !ok {
		return op
	}
	op.Kind = state.OpKind(kind)
	op.Path = readPointer(&o, "path")
	op.Value = v.Get("value")
	described := 2 // op and path
	if op.Value.Exists() {
		described++
	}
	switch op.Kind {
	case state.OpAdd, state.OpReplace, state.OpTest:
		o.Any("value")
	case state.OpMove, state.OpCopy:
		op.From = readPointer(&o, "from")
		described++
	}
	if v.Len() > described {
		op.Extra = v.Without("op").Without("path").Without("value")
		if op.Kind == state.OpMove || op.Kind == state.OpCopy {
			op.Extra = op.Extra.Without("from")
		}
	}
	return op
}

func readPointer(o *wire.Object, key string) string {
	s := o.String(key)
	if !state.ValidPointer(s) {
		o.Reject(key, "a JSON pointer", wire.Quote(s))
	}
	return s
}
