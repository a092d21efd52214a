package event

import (
	"github.com/agfold/agfold/internal/codec"
	"github.com/agfold/agfold/internal/jsontext"
	"github.com/agfold/agfold/state"
)

func walkPatch(p *state.Patch, c *codec.Codec) {
	if c.Encoding() {
		c.AppendRaw(p.Value().AppendJSON)
		return
	}
	codec.Elements(c, (*[]state.Op)(p), walkOp)
}

// operations are the operations of RFC 6902.
var operations = []state.OpKind{state.OpAdd, state.OpRemove, state.OpReplace, state.OpMove, state.OpCopy, state.OpTest}

func walkOp(op *state.Op, c *codec.Codec) {
	v := c.Value()
	codec.Object(c, op, operation)
	if c.Decoding() {
		op.Extra = extra(op, v)
	}
}

// operation walks a patch operation, an open object (P-ENF-2, P-ENF-3).
func operation(op *state.Op, c *codec.Codec) {
	if !codec.Tag(c, "op", &op.Kind, operations) {
		return
	}
	pointer(c, "path", &op.Path)
	switch op.Kind {
	case state.OpAdd, state.OpReplace, state.OpTest:
		c.Any("value", &op.Value)
	case state.OpMove, state.OpCopy:
		pointer(c, "from", &op.From)
		fallthrough
	case state.OpRemove:
		c.OptAnyOrNull("value", &op.Value)
	}
	c.Weigh(op.Extra)
	c.Rest()
}

// extra returns the members of v, an operation, that have no meaning, absent if there are none.
func extra(op *state.Op, v state.Value) state.Value {
	described := 2 // op and path
	if op.Value.Exists() {
		described++
	}
	moves := op.Kind == state.OpMove || op.Kind == state.OpCopy
	if moves {
		described++
	}
	if v.Len() <= described {
		return state.Value{}
	}
	v = v.Without("op").Without("path").Without("value")
	if moves {
		v = v.Without("from")
	}
	return v
}

func pointer(c *codec.Codec, key string, s *string) {
	if c.String(key, s); !c.Encoding() && !jsontext.ValidPointer(*s) {
		c.Reject(key, "a JSON pointer", codec.Quote(*s))
	}
}
