package state

import (
	"errors"
	"fmt"

	"github.com/agfold/agfold/internal/jsontext"
)

// DefaultMaxDepth is the most levels of arrays and objects, the outermost included, in a text that [Parse]
// accepts and in a value that [Value.Apply] returns.
const DefaultMaxDepth = 512

// SyntaxError is the error for a text that is not JSON (RFC 8259) or is nested too deeply.
type SyntaxError struct {
	Offset int    // of the first invalid byte, from 0
	Reason string // what was found or is missing there
}

// Error implements error.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("invalid JSON at byte %d: %s", e.Offset, e.Reason)
}

// syntaxError converts an error of the scanner.
func syntaxError(err error) error {
	var e *jsontext.SyntaxError
	if errors.As(err, &e) {
		return &SyntaxError{e.Offset, e.Reason}
	}
	return err
}

// Parse parses data, which must hold one JSON value. It neither changes nor keeps data. Arrays and objects
// may nest [DefaultMaxDepth] levels deep. The error is a [*SyntaxError].
//
// Where RFC 8259 leaves a choice: if several members have the same key, the last value counts, at the
// place of the first; bytes in strings that are not UTF-8 become U+FFFD; a surrogate escape without its
// partner is kept, and encoded as the same escape.
func Parse(data []byte) (Value, error) { return ParseDepth(data, DefaultMaxDepth) }

// ParseDepth is like [Parse], but arrays and objects may nest depth levels deep. Everything that walks a
// very deep value needs a lot of stack.
func ParseDepth(data []byte, depth int) (Value, error) {
	p := parser{data: data}
	v, err := p.value(depth)
	if err == nil {
		if p.i = jsontext.Space(data, p.i); p.i < len(data) {
			err = jsontext.Unexpected(data, p.i, "the end")
		}
	}
	if err != nil {
		return Value{}, syntaxError(err)
	}
	return v, nil
}

// parser reads one value from data. With partial set it gives, besides the error, what could be made
// of the text before the fault.
type parser struct {
	data    []byte
	i       int
	partial bool
	values  []Value  // elements of the open arrays
	members []Member // members of the open objects
	keys    [64]string
	slab
}

func (p *parser) value(depth int) (Value, error) {
	p.i = jsontext.Space(p.data, p.i)
	if p.i >= len(p.data) {
		return Value{}, jsontext.Unexpected(p.data, p.i, "a value")
	}
	switch c := p.data[p.i]; c {
	case '"':
		return p.string()
	case '{':
		if depth <= 0 {
			return Value{}, jsontext.TooDeep(p.i)
		}
		return p.object(depth - 1)
	case '[':
		if depth <= 0 {
			return Value{}, jsontext.TooDeep(p.i)
		}
		return p.array(depth - 1)
	case 't':
		return p.literal("true", Value{trueNode})
	case 'f':
		return p.literal("false", Value{falseNode})
	case 'n':
		return p.literal("null", Value{nullNode})
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return p.number()
	}
	return Value{}, jsontext.Unexpected(p.data, p.i, "a value")
}

func (p *parser) literal(word string, v Value) (Value, error) {
	end, err := jsontext.SkipLiteral(p.data, p.i, word)
	if err != nil {
		return Value{}, err
	}
	p.i = end
	return v, nil
}

func (p *parser) number() (Value, error) {
	end, err := jsontext.SkipNumber(p.data, p.i)
	if err != nil {
		if p.partial {
			return p.numberPrefix(end), err
		}
		return Value{}, err
	}
	v := p.digits(p.data[p.i:end])
	p.i = end
	return v, nil
}

func (p *parser) string() (Value, error) {
	end, err := jsontext.SkipString(p.data, p.i)
	if err != nil {
		if p.partial {
			return p.stringPrefix(end), err
		}
		return Value{}, err
	}
	v := Value{emptyString}
	if raw := p.data[p.i+1 : end-1]; len(raw) > 0 {
		v = p.scalar(KindString, p.text(raw))
	}
	p.i = end
	return v, nil
}

// name returns the name that raw is. Names recur, so the last ones are kept and shared.
func (p *parser) name(raw []byte) string {
	if len(raw) == 0 || len(raw) > 32 {
		return jsontext.Text(raw)
	}
	known := &p.keys[(int(raw[0])+int(raw[len(raw)-1])<<1+len(raw)<<3)%len(p.keys)]
	if *known != string(raw) {
		s := p.text(raw)
		if s != string(raw) {
			return s // it has escapes: the name is not what is written
		}
		*known = s
	}
	return *known
}

func (p *parser) array(depth int) (Value, error) {
	first := len(p.values)
	err := p.elements(depth)
	var v Value
	if err == nil || p.partial {
		v = emptyArray
		if len(p.values) > first {
			v = newArray(p.values[first:])
		}
	}
	p.values = p.values[:first]
	return v, err
}

// elements reads an array and puts its elements on the stack.
func (p *parser) elements(depth int) error {
	p.i = jsontext.Space(p.data, p.i+1)
	if p.i < len(p.data) && p.data[p.i] == ']' {
		p.i++
		return nil
	}
	for {
		v, err := p.value(depth)
		if v.Exists() {
			p.values = append(p.values, v)
		}
		if err != nil {
			return err
		}
		p.i = jsontext.Space(p.data, p.i)
		switch {
		case p.i < len(p.data) && p.data[p.i] == ',':
			p.i++
		case p.i < len(p.data) && p.data[p.i] == ']':
			p.i++
			return nil
		default:
			return jsontext.Unexpected(p.data, p.i, "a comma or ]")
		}
	}
}

func (p *parser) object(depth int) (Value, error) {
	first := len(p.members)
	err := p.pairs(depth)
	var v Value
	if err == nil || p.partial {
		v = emptyObject
		if len(p.members) > first {
			v = newObject(p.members[first:])
		}
	}
	p.members = p.members[:first]
	return v, err
}

// pairs reads an object and puts its members on the stack.
func (p *parser) pairs(depth int) error {
	m := jsontext.Members{Data: p.data, From: p.i}
	for m.NextName() {
		key := p.name(m.Name())
		p.i = m.Start
		v, err := p.value(depth)
		if v.Exists() {
			p.members = append(p.members, Member{key, v})
		}
		if err != nil {
			return err
		}
		m.EndValue(p.i)
	}
	p.i = m.End
	return m.Err
}

// emptyArray is every empty array that is parsed.
var emptyArray = newArray(nil)
