package transcript

import (
	"strings"

	"github.com/agfold/agfold/internal/jsontext"
	"github.com/agfold/agfold/state"
)

// AppendValue appends v as JSON for people: what fits into width columns stays on one line, what does not
// is spread over lines indented by two. It is JSON all the same, with numbers as they were written. An
// absent v appends nothing.
func AppendValue(dst []byte, v state.Value, width int) []byte {
	return appendValue(dst, v, width, 0, 0)
}

// appendValue writes v at an indent, with used columns of the line taken before it.
func appendValue(dst []byte, v state.Value, width, indent, used int) []byte {
	if v.Len() == 0 || fits(v, width-indent-used) >= 0 || v.Kind() != state.KindArray && v.Kind() != state.KindObject {
		return appendFlat(dst, v)
	}
	inner := indent + 2
	first := true
	open, end := byte('['), byte(']')
	if v.Kind() == state.KindObject {
		open, end = '{', '}'
	}
	dst = append(dst, open)
	newLine := func() {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = appendIndent(dst, inner)
	}
	if v.Kind() == state.KindArray {
		for _, e := range v.Elements() {
			newLine()
			dst = appendValue(dst, e, width, inner, 1)
		}
	} else {
		for key, e := range v.Members() {
			newLine()
			start := len(dst)
			dst = append(appendText(dst, key), ": "...)
			dst = appendValue(dst, e, width, inner, len(dst)-start+1)
		}
	}
	return append(appendIndent(dst, indent), end)
}

func appendIndent(dst []byte, n int) []byte {
	dst = append(dst, '\n')
	for range n {
		dst = append(dst, ' ')
	}
	return dst
}

// appendFlat writes v on one line.
func appendFlat(dst []byte, v state.Value) []byte {
	first := true
	comma := func() {
		if !first {
			dst = append(dst, ", "...)
		}
		first = false
	}
	switch v.Kind() {
	case state.KindArray:
		dst = append(dst, '[')
		for _, e := range v.Elements() {
			comma()
			dst = appendFlat(dst, e)
		}
		return append(dst, ']')
	case state.KindObject:
		dst = append(dst, '{')
		for key, e := range v.Members() {
			comma()
			dst = append(appendText(dst, key), ": "...)
			dst = appendFlat(dst, e)
		}
		return append(dst, '}')
	case state.KindString:
		s, _ := v.AsString()
		return appendText(dst, s)
	}
	return v.AppendJSON(dst)
}

func appendText(dst []byte, s string) []byte {
	start := len(dst)
	dst = jsontext.AppendString(dst, s)
	for _, c := range dst[start:] {
		if c >= 0x7f {
			return CleanJSON(dst[:start], append([]byte(nil), dst[start:]...))
		}
	}
	return dst
}

// fits returns how much of room columns is left behind v on one line, a negative number if v does not fit.
// It looks at no more of v than fits.
func fits(v state.Value, room int) int {
	switch v.Kind() {
	case state.KindArray:
		room -= len("[]")
		for i, e := range v.Elements() {
			if i > 0 {
				room -= len(", ")
			}
			if room = fits(e, room); room < 0 {
				return room
			}
		}
	case state.KindObject:
		room -= len("{}")
		first := true
		for key, e := range v.Members() {
			if !first {
				room -= len(", ")
			}
			first = false
			if room = fitsText(key, room) - len(": "); room < 0 {
				return room
			}
			if room = fits(e, room); room < 0 {
				return room
			}
		}
	case state.KindString:
		s, _ := v.AsString()
		room = fitsText(s, room)
	default:
		room -= len(v.String())
	}
	return room
}

// fitsText is fits for a string.
func fitsText(s string, room int) int {
	room -= len(`""`)
	if len(s) > 4*max(room, 0) {
		return -1
	}
	for _, r := range s {
		room -= RuneColumns(r)
		if r == '"' || r == '\\' || r == '\n' {
			room--
		}
	}
	return room
}

// flat returns v on one line.
func flat(v state.Value) string { return string(appendFlat(nil, v)) }

// State draws a state, or any JSON value.
func (s Style) State(v state.Value) string {
	p := s.page()
	p.value(v, s.limit(maxStateLines))
	return p.b.String()
}

// value writes v in lines, at most limit of them; a negative limit means all.
func (p *page) value(v state.Value, limit int) {
	text := string(AppendValue(nil, v, p.room()))
	total, shown, lines := len(text), 0, 0
	for line := range strings.SplitSeq(text, "\n") {
		if lines == limit {
			p.line(p.paint(dim, "… "+size(total-shown)+" left out"))
			return
		}
		lines++
		shown += len(line) + 1
		if limit >= 0 {
			line = cut(line, 2*p.room())
		}
		p.line(line)
	}
}

// limit is how many lines of something are drawn, all with Full.
func (s Style) limit(lines int) int {
	if s.Full {
		return -1
	}
	return lines
}
