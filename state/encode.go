package state

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/agfold/agfold/internal/jsontext"
)

// AppendJSON appends the compact JSON text of v to dst. Members keep their order and numbers their digits;
// strings have only the escapes that RFC 8259 demands. An absent v appends nothing.
func (v Value) AppendJSON(dst []byte) []byte {
	switch v.Kind() {
	case KindAbsent:
		return dst
	case KindString:
		return jsontext.AppendString(dst, v.n.text)
	case KindArray:
		dst = append(dst, '[')
		for i, e := range v.n.c.items.All() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = e.AppendJSON(dst)
		}
		return append(dst, ']')
	case KindObject:
		dst = append(dst, '{')
		first := true
		for key, m := range v.Members() {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = append(jsontext.AppendString(dst, key), ':')
			dst = m.AppendJSON(dst)
		}
		return append(dst, '}')
	}
	return append(dst, v.n.text...)
}

// MarshalJSON implements [json.Marshaler] with [Value.AppendJSON]. An absent v becomes null. Unlike
// AppendJSON, encoding/json then escapes <, > and & in strings.
func (v Value) MarshalJSON() ([]byte, error) {
	if v.n == nil {
		return []byte("null"), nil
	}
	return v.AppendJSON(make([]byte, 0, v.size()+16)), nil
}

// UnmarshalJSON implements [json.Unmarshaler] with [Parse].
func (v *Value) UnmarshalJSON(data []byte) error {
	parsed, err := Parse(data)
	if err != nil {
		return err
	}
	*v = parsed
	return nil
}

// String returns the compact JSON text of v, or "" if v is absent.
func (v Value) String() string { return string(v.AppendJSON(nil)) }

// Unmarshal stores v in the variable that dst points to, as encoding/json does. An absent v is an error.
func (v Value) Unmarshal(dst any) error {
	if v.n == nil {
		return fmt.Errorf("cannot unmarshal an absent value into %T", dst)
	}
	return json.Unmarshal(v.AppendJSON(make([]byte, 0, v.size()+16)), dst)
}

// Of returns the Go value x as JSON, as encoding/json encodes it. A Value is returned as it is;
// json.RawMessage and json.Number keep their text. The error is that of encoding/json, or a
// [*SyntaxError] for a text that is not JSON or is nested too deeply.
func Of(x any) (Value, error) {
	switch x := x.(type) {
	case Value:
		return x, nil
	case nil:
		return Null(), nil
	case bool:
		return Bool(x), nil
	case string:
		return String(x), nil
	case int:
		return Int(int64(x)), nil
	case json.RawMessage:
		if x == nil {
			return Null(), nil
		}
		return Parse(x)
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(x); err != nil {
		return Value{}, err
	}
	return Parse(buf.Bytes())
}
