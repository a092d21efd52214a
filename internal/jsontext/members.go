package jsontext

// Members is a cursor over the members of the object that Data starts with, after white space:
//
//	for m := (Members{Data: data, Depth: depth}); m.Next(); {
type Members struct {
	Data  []byte
	Depth int // how many containers may be open at once in a value

	Start     int   // where the value starts
	End       int   // where it ends, and after the last member where the object does
	Plain     bool  // the value is a string, ASCII without escapes
	PlainName bool  // the name is ASCII without escapes
	Broken    bool  // what is wrong is inside the value that starts at Start
	Err       error // what is wrong after the last member, a [*SyntaxError]

	done               bool
	next               int // where the next name starts, or the object ends
	nameStart, nameEnd int // what is between the quotes
}

// Next goes to the next member and reports whether there is one.
func (m *Members) Next() bool {
	data, i := m.Data, m.next
	switch {
	case m.done:
		m.End = i
		return false
	case i == 0:
		if i = Space(data, 0); i >= len(data) || data[i] != '{' {
			return m.fail(Unexpected(data, i, "an object"))
		}
		if i = Space(data, i+1); i < len(data) && data[i] == '}' {
			m.End, m.next, m.done = i+1, i+1, true
			return false
		}
	}
	if i >= len(data) || data[i] != '"' {
		return m.fail(Unexpected(data, i, "a member name"))
	}
	end, plain, err := SkipText(data, i)
	if err != nil {
		return m.fail(err)
	}
	m.nameStart, m.nameEnd, m.PlainName = i+1, end-1, plain
	if i = Space(data, end); i >= len(data) || data[i] != ':' {
		return m.fail(Unexpected(data, i, "a colon"))
	}
	i = Space(data, i+1)
	m.Start = i
	if i < len(data) && data[i] == '"' {
		i, plain, err = SkipText(data, i)
	} else {
		plain = false
		i, err = Skip(data, i, m.Depth)
	}
	if err != nil {
		m.Broken = true
		return m.fail(err)
	}
	m.End, m.Plain = i, plain
	switch i = Space(data, i); {
	case i < len(data) && data[i] == ',':
		m.next = Space(data, i+1)
	case i < len(data) && data[i] == '}':
		m.next, m.done = i+1, true
	default:
		m.next = i
		m.fail(Unexpected(data, i, "a comma or }"))
	}
	return true
}

func (m *Members) fail(err error) bool {
	m.Err, m.done = err, true
	return false
}

// Name returns what is between the quotes of the name.
func (m *Members) Name() []byte { return m.Data[m.nameStart:m.nameEnd] }

// Value returns the text of the value.
func (m *Members) Value() []byte { return m.Data[m.Start:m.End] }

// Named reports whether the member's name is name, which is plain ASCII.
func (m *Members) Named(name string) bool {
	raw := m.Name()
	if m.PlainName || len(raw) <= len(name) {
		return string(raw) == name
	}
	return len(raw) <= 6*len(name) && string(AppendUnescaped(nil, raw)) == name
}
