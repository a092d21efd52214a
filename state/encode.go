package state

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/agfold/agfold/internal/jsontext"
)

// AppendJSON appends the compact JSON text of v to dst: members in their order, numbers as they were
// written, in strings only the escapes that RFC 8259 demands. An absent v appends nothing.
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

// MarshalJSON implements [json.Marshaler] with [Value.AppendJSON]; an absent v gives null. Note that
// encoding/json, unlike AppendJSON, then escapes <, > and & in strings.
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

// String returns the compact JSON text of v, "" if v is absent.
func (v Value) String() string { return string(v.AppendJSON(nil)) }

// Unmarshal stores v in what dst points to, as encoding/json does. It fails on an absent v.
func (v Value) Unmarshal(dst any) error {
	if v.n == nil {
		return fmt.Errorf("state: unmarshal of an absent value into %T", dst)
	}
	return json.Unmarshal(v.AppendJSON(make([]byte, 0, v.size()+16)), dst)
}

// Of returns the JSON value of the Go value x, as encoding/json encodes it. A Value is returned as
// it is; json.RawMessage and json.Number keep what they spell. The error is that of encoding/json,
// or a [*SyntaxError] for a text that is not JSON or nested too deeply.
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
