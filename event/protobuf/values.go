package protobuf

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agfold/agfold/state"
)

// The fields of google.protobuf.Value, one of which is set; and those of Struct, its entries and ListValue.
const (
	valueNull   = 1
	valueNumber = 2
	valueText   = 3
	valueFlag   = 4
	valueObject = 5
	valueList   = 6

	structEntry = 1
	entryKey    = 1
	entryValue  = 2
	listElement = 1
)

// value appends the fields of a google.protobuf.Value.
func (e *encoder) value(v state.Value) {
	switch v.Kind() {
	case state.KindNumber:
		e.dst = appendTag(e.dst, valueNumber, wireFixed8)
		bits := math.Float64bits(e.float(v))
		for range 8 {
			e.dst = append(e.dst, byte(bits))
			bits >>= 8
		}
	case state.KindString:
		s, _ := v.AsString()
		e.dst = appendText(e.dst, valueText, e.clean(s))
	case state.KindBool:
		b, _ := v.AsBool()
		e.dst = appendFlag(e.dst, valueFlag, b)
	case state.KindObject:
		start := e.begin(valueObject)
		e.object(v)
		e.end(start)
	case state.KindArray:
		start := e.begin(valueList)
		for i, element := range v.Elements() {
			e.pushIndex(i)
			at := e.begin(listElement)
			e.value(element)
			e.end(at)
			e.pop()
		}
		e.end(start)
	default:
		e.dst = appendNumber(e.dst, valueNull, 0)
	}
}

// object appends the fields of a google.protobuf.Struct.
func (e *encoder) object(v state.Value) {
	for key, val := range v.Members() {
		e.push(key)
		start := e.begin(structEntry)
		if key != "" {
			e.dst = appendText(e.dst, entryKey, e.clean(key))
		}
		at := e.begin(entryValue)
		e.value(val)
		e.end(at)
		e.end(start)
		e.pop()
	}
}

func appendFlag(dst []byte, num int, b bool) []byte {
	if b {
		return appendNumber(dst, num, 1)
	}
	return appendNumber(dst, num, 0)
}

// exactDigits is how many characters any number literal without an exponent may have that a float64 holds exactly, in
// the sense that it prints the same.
const exactDigits = 15

// float returns the number v as the nearest float64, with a warning if that is not v.
func (e *encoder) float(v state.Value) float64 {
	n, _ := v.AsNumber()
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil { // out of range
		f = math.Copysign(math.MaxFloat64, f)
	}
	if len(n) > exactDigits || strings.ContainsAny(string(n), "eE") {
		if !numberOf(f).Equal(v) {
			e.warn("rounded: the wire has only numbers of 64 bits, and " + shorten(string(n)) + " needs more")
		}
	}
	return f
}

// maxExact is the largest integer up to which a float64 holds each one.
const maxExact = 1 << 53

// numberOf returns f, which is finite, as the JSON number with the fewest digits, written as JavaScript does.
func numberOf(f float64) state.Value {
	if math.Abs(f) < maxExact && f == math.Trunc(f) {
		return state.Int(int64(f))
	}
	format := byte('f')
	if abs := math.Abs(f); abs < 1e-6 || abs >= 1e21 {
		format = 'e'
	}
	v, _ := state.Parse(strconv.AppendFloat(make([]byte, 0, 24), f, format, -1, 64))
	return v
}

// clean returns s as UTF-8: half a surrogate pair, and each other byte that is not, becomes U+FFFD.
func (e *encoder) clean(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	e.warn("half a surrogate pair became U+FFFD: the wire has only UTF-8")
	return valid(s)
}

// valid returns s with U+FFFD in place of what is not UTF-8, one for half a surrogate pair.
func valid(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 && i+2 < len(s) && s[i] == 0xED && s[i+1]&0xE0 == 0xA0 && s[i+2]&0xC0 == 0x80 {
			n = 3
		}
		b.WriteRune(r)
		i += n
	}
	return b.String()
}

// textOf returns the text that data is, as UTF-8.
func textOf(data []byte) string {
	if utf8.Valid(data) {
		return string(data)
	}
	return valid(string(data))
}

// value returns the JSON that a google.protobuf.Value holds, absent if that is nothing or of a kind that is not known. If
// there are several, the last one counts.
func (d *decoder) value(data []byte, depth int) (v state.Value) {
	if !d.enter(depth) {
		return v
	}
	var nested []byte
	last := 0
	s := scanner{rest: data}
	for d.next(&s) {
		num := s.num
		switch {
		case num == valueNull && s.typ == wireVarint:
			v = state.Null()
		case num == valueNumber && s.typ == wireFixed8:
			v = d.number(math.Float64frombits(s.number))
		case num == valueText && s.typ == wireBytes:
			v = state.String(textOf(s.bytes))
		case num == valueFlag && s.typ == wireVarint:
			v = state.Bool(s.number != 0)
		case (num == valueObject || num == valueList) && s.typ == wireBytes:
			if last == num {
				nested = d.merge(nested, s.bytes)
			} else {
				nested = s.bytes
			}
		default:
			continue
		}
		last = num
	}
	if !d.scanned(&s) {
		return state.Value{}
	}
	switch last {
	case valueObject:
		return d.object(nested, depth)
	case valueList:
		return d.list(nested, depth)
	}
	return v
}

// number returns f, null if it is not finite.
func (d *decoder) number(f float64) state.Value {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		d.warn("a number that JSON does not have became null")
		return state.Null()
	}
	return numberOf(f)
}

// object returns the object that a google.protobuf.Struct is.
func (d *decoder) object(data []byte, depth int) state.Value {
	var members []state.Member
	s := scanner{rest: data}
	for d.next(&s) {
		if s.num == structEntry && s.typ == wireBytes {
			if m := d.entry(s.bytes, depth); m.Value.Exists() {
				members = append(members, m)
			}
		}
	}
	if !d.scanned(&s) {
		return state.Value{}
	}
	return state.Object(members...)
}

func (d *decoder) entry(data []byte, depth int) (m state.Member) {
	var val []byte
	has := false
	s := scanner{rest: data}
	for d.next(&s) {
		switch {
		case s.num == entryKey && s.typ == wireBytes:
			m.Key = textOf(s.bytes)
		case s.num == entryValue && s.typ == wireBytes:
			val, has = d.merge(val, s.bytes), true
		}
	}
	if d.scanned(&s) && has {
		d.push(m.Key)
		m.Value = d.value(val, depth+1)
		d.pop()
	}
	return m
}

// list returns the array that a google.protobuf.ListValue is.
func (d *decoder) list(data []byte, depth int) state.Value {
	var elements []state.Value
	s := scanner{rest: data}
	for d.next(&s) {
		if s.num == listElement && s.typ == wireBytes {
			d.pushIndex(len(elements))
			elements = append(elements, d.value(s.bytes, depth+1))
			d.pop()
		}
	}
	if !d.scanned(&s) {
		return state.Value{}
	}
	return state.Array(elements...)
}
