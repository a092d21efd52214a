package jsontext

// Members is a cursor over the members of the object that starts at Data[From], after white space:
//
//	for m := (Members{Data: data, Depth: depth}); m.Next(); {
type Members struct {
	Data  []byte
	From  int
	Depth int // how many containers may be open at once in a value

	Start     int   // where the value starts
	End       int   // where it ends, and after the last member where the object does
	Plain     bool  // the value is a string, ASCII without escapes
	PlainName bool  // the name is ASCII without escapes
	Broken    bool  // what is wrong is inside the value that starts at Start
	Err       error // what is wrong after the last member, a [*SyntaxError]

	begun, done        bool
	next               int // where the next name starts, or the object ends
	nameStart, nameEnd int // what is between the quotes
}

// Next goes to the next member and reports whether there is one.
func (m *Members) Next() bool {
	if !m.NextName() {
		return false
	}
	end, plain, err := m.Start, false, error(nil)
	if end < len(m.Data) && m.Data[end] == '"' {
		end, plain, err = SkipText(m.Data, end)
	} else {
		end, err = Skip(m.Data, end, m.Depth)
	}
	if err != nil {
		m.Broken = true
		return m.fail(err)
	}
	m.Plain = plain
	m.EndValue(end)
	return true
}

// NextName goes to the next name and the start of its value, and reports whether there is one. Then the caller reads the
// value and calls EndValue. Use it instead of Next.
func (m *Members) NextName() bool {
	data, i := m.Data, m.next
	switch {
	case m.done:
		m.End = i
		return false
	case !m.begun:
		m.begun = true
		if i = Space(data, m.From); i >= len(data) || data[i] != '{' {
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
	m.Start = Space(data, i+1)
	return true
}

// EndValue says where the value ends.
func (m *Members) EndValue(end int) {
	m.End = end
	switch i := Space(m.Data, end); {
	case i < len(m.Data) && m.Data[i] == ',':
		m.next = Space(m.Data, i+1)
	case i < len(m.Data) && m.Data[i] == '}':
		m.next, m.done = i+1, true
	default:
		m.next = i
		m.fail(Unexpected(m.Data, i, "a comma or }"))
	}
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
