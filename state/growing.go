package state

import (
	"strings"
	"unsafe"

	"github.com/agfold/agfold/internal/jsontext"
)

// PartialParser is [ParsePartial] for a text that grows: a call costs what came since the last one (and, for each array
// and object that is open, one change of it), not what there is. The values share what did not change. A number that is
// still open is the exception: it costs its length. The zero PartialParser is ready for use, by one goroutine at a time.
type PartialParser struct {
	text  string // as of the last call; text[:at] is behind us
	at    int
	last  Value // of the last call
	want  want
	open  []openContainer
	value Value // the whole one, once it is complete

	inString bool // text[at:] continues a string
	decoded  strings.Builder
}

// openContainer is an array or object whose end has not come.
type openContainer struct {
	value Value  // with the children that are complete
	key   string // of the member whose value comes next
}

// want is what may come next.
type want uint8

const (
	wantValue want = iota
	wantFirst      // an element, or the end of the array
	wantKey
	wantFirstKey // a member name, or the end of the object
	wantColon
	wantNext // a comma, or the end
	wantNothing
)

// Parse returns what ParsePartial(text) returns. If text continues that of the last call, only what is new is parsed. A
// beginning of the text of the last call is parsed in full and changes nothing; any other text starts anew. Parse keeps
// text until the next call.
func (p *PartialParser) Parse(text string) Value {
	switch {
	case len(text) < len(p.text) && strings.HasPrefix(p.text, text):
		return ParsePartial(text)
	case !strings.HasPrefix(text, p.text): // one comparison of pointers if text has grown in place
		*p = PartialParser{}
	case len(text) == len(p.text) && text != "":
		return p.last
	}
	p.text = text
	v := p.advance(unsafe.Slice(unsafe.StringData(text), len(text)))
	for i := len(p.open) - 1; i >= 0; i-- {
		v = p.open[i].with(v)
	}
	if p.want == wantNothing {
		v = p.value
	}
	p.last = v
	return v
}

// with returns the container with a child more, or as it is if the child is absent.
func (c *openContainer) with(child Value) Value {
	switch {
	case !child.Exists():
		return c.value
	case c.value.n.kind == KindObject:
		return c.value.withMember(c.key, child)
	}
	return c.value.insertElement(c.value.Len(), child)
}

// advance takes in what is complete, up to the end of data or a fault, and returns the incomplete scalar there, absent if
// there is none.
func (p *PartialParser) advance(data []byte) Value {
	for {
		if p.inString {
			if v, closed := p.string(data); !closed {
				if p.want == wantKey {
					return Value{}
				}
				return v
			}
			continue
		}
		p.at = jsontext.Space(data, p.at)
		if p.at == len(data) {
			return Value{}
		}
		c := data[p.at]
		switch p.want {
		case wantValue, wantFirst:
			if c == ']' && p.want == wantFirst {
				p.end()
				continue
			}
			if v, ok := p.begin(data, c); !ok {
				return v
			}
		case wantKey, wantFirstKey:
			switch {
			case c == '"':
				p.want = wantKey
				p.beginString()
			case c == '}' && p.want == wantFirstKey:
				p.end()
			default:
				return Value{}
			}
		case wantColon:
			if c != ':' {
				return Value{}
			}
			p.at, p.want = p.at+1, wantValue
		case wantNext:
			object := p.open[len(p.open)-1].value.n.kind == KindObject
			switch {
			case c == ',' && object:
				p.at, p.want = p.at+1, wantKey
			case c == ',':
				p.at, p.want = p.at+1, wantValue
			case c == '}' && object, c == ']' && !object:
				p.end()
			default:
				return Value{}
			}
		case wantNothing:
			return Value{}
		}
	}
}

// begin takes in a scalar that is complete or begins a string, an array or an object. If it can do neither, it returns
// false and what there is of a number.
func (p *PartialParser) begin(data []byte, c byte) (Value, bool) {
	switch c {
	case '"':
		p.want = wantValue
		p.beginString()
	case '{', '[':
		if len(p.open) == DefaultMaxDepth {
			return Value{}, false
		}
		p.at++
		if c == '{' {
			p.open, p.want = append(p.open, openContainer{value: emptyObject}), wantFirstKey
		} else {
			p.open, p.want = append(p.open, openContainer{value: emptyArray}), wantFirst
		}
	case 't':
		return p.literal(data, "true", Value{trueNode})
	case 'f':
		return p.literal(data, "false", Value{falseNode})
	case 'n':
		return p.literal(data, "null", Value{nullNode})
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		end, err := jsontext.SkipNumber(data, p.at)
		if err != nil {
			one := parser{data: data, i: p.at}
			return one.numberPrefix(end), false
		}
		v := number(string(data[p.at:end]))
		if end == len(data) { // more digits may follow
			return v, false
		}
		p.at = end
		p.complete(v)
	default:
		return Value{}, false
	}
	return Value{}, true
}

func (p *PartialParser) literal(data []byte, word string, v Value) (Value, bool) {
	end, err := jsontext.SkipLiteral(data, p.at, word)
	if err != nil {
		return Value{}, false
	}
	p.at = end
	p.complete(v)
	return Value{}, true
}

// complete puts a value in its place.
func (p *PartialParser) complete(v Value) {
	n := len(p.open)
	if n == 0 {
		p.value, p.want = v, wantNothing
		return
	}
	p.open[n-1].value, p.want = p.open[n-1].with(v), wantNext
}

// end closes the innermost container.
func (p *PartialParser) end() {
	n := len(p.open) - 1
	v := p.open[n].value
	p.open[n] = openContainer{}
	p.at, p.open = p.at+1, p.open[:n]
	p.complete(v)
}

func (p *PartialParser) beginString() {
	p.at, p.inString = p.at+1, true
	p.decoded = strings.Builder{}
}

// string goes on with a string. What is decoded ends before an escape, a pair of surrogates or a UTF-8 sequence that may
// be cut, so that the rest can be decoded by itself.
func (p *PartialParser) string(data []byte) (v Value, closed bool) {
	end, err := jsontext.SkipString(data, p.at-1)
	if err != nil {
		raw := withoutCut(data[p.at:end])
		p.decode(raw)
		p.at += len(raw)
		return String(p.decoded.String()), false
	}
	p.decode(data[p.at : end-1])
	p.at, p.inString = end, false
	text := p.decoded.String()
	if room := p.decoded.Cap() - len(text); room > 64 && room > len(text)/8 {
		text = strings.Clone(text)
	}
	p.decoded = strings.Builder{}
	if p.want == wantKey {
		p.open[len(p.open)-1].key, p.want = text, wantColon
	} else {
		p.complete(String(text))
	}
	return Value{}, true
}

// decode adds raw, a piece of the inside of a string literal, to the string that is open.
func (p *PartialParser) decode(raw []byte) {
	if jsontext.IsText(raw) {
		p.decoded.Write(raw)
		return
	}
	p.decoded.WriteString(jsontext.Text(raw))
}
