package transcript

import (
	"unicode/utf8"

	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/internal/jsontext"
	"github.com/agfold/agfold/state"
)

// maxIndent is the most columns that lines are indented. What is deeper flows: each line holds as much as fits, so that
// indents do not multiply the size of deeply nested values.
const maxIndent = 32

// WriteValue writes v as JSON for people: what fits into width columns stays on one line, what does not is spread over
// lines indented by two. The output is valid JSON, with numbers as they were written. It holds one line at a time, since a
// document whose parts share memory may be far longer than what it takes in memory. It writes nothing if v is absent.
func WriteValue(w *term.Writer, v state.Value, width int) error {
	var err error
	formatLines(v, width, 0, func(line []byte, _ int) bool {
		err = w.JSON(line)
		return err == nil
	})
	return err
}

// formatter breaks a value into lines and passes on each when it is complete.
type formatter struct {
	width   int
	most    int // bytes read of a string, key or number; 0 means all
	buf     []byte
	skipped int // bytes of the line that were left out because of most
	line    func(line []byte, skipped int) bool
	stopped bool // line wanted no more
}

// formatLines calls line with each line of v and how many bytes it is short of by most, until line returns
// false. The bytes are good until line returns.
func formatLines(v state.Value, width, most int, line func(line []byte, skipped int) bool) {
	f := formatter{width: width, most: most, line: line}
	f.value(v, 0, 0)
	if !f.stopped && v.Exists() {
		f.end()
	}
}

// end passes on the line.
func (f *formatter) end() {
	f.stopped = !f.line(f.buf, f.skipped)
	f.buf, f.skipped = f.buf[:0], 0
}

// newLine ends the line and indents the next.
func (f *formatter) newLine(indent int) {
	f.end()
	for range min(indent, maxIndent) {
		f.buf = append(f.buf, ' ')
	}
}

// value writes v at an indent, with used columns of the line taken before it.
func (f *formatter) value(v state.Value, indent, used int) {
	room := f.width - min(indent, maxIndent) - used
	if indent > maxIndent {
		room = f.width - len(f.buf) - 1
	}
	switch kind := v.Kind(); {
	case kind != state.KindArray && kind != state.KindObject:
		f.scalar(v)
	case v.Len() == 0 || fits(v, room) >= 0:
		f.buf = appendFlat(f.buf, v)
	case kind == state.KindArray:
		f.buf = append(f.buf, '[')
		for i, e := range v.Elements() {
			if f.next(i == 0, indent); f.stopped {
				return
			}
			f.value(e, indent+2, 1)
		}
		f.close(']', indent)
	default:
		f.buf = append(f.buf, '{')
		first := true
		for key, e := range v.Members() {
			if f.next(first, indent); f.stopped {
				return
			}
			first = false
			start := len(f.buf)
			f.text(key)
			f.buf = append(f.buf, ": "...)
			f.value(e, indent+2, len(f.buf)-start+1)
		}
		f.close('}', indent)
	}
}

// next begins the line of a child of the value at indent.
func (f *formatter) next(first bool, indent int) {
	if f.stopped {
		return
	}
	if !first {
		f.buf = append(f.buf, ',')
	}
	if !f.flows(indent) {
		f.newLine(indent + 2)
	} else if !first {
		f.buf = append(f.buf, ' ')
	}
}

// flows reports whether the children of a value at indent continue the line.
func (f *formatter) flows(indent int) bool {
	const nearEnd = 8 // columns
	return indent+2 > maxIndent && len(f.buf) < f.width-nearEnd
}

func (f *formatter) close(end byte, indent int) {
	if f.stopped {
		return
	}
	if !f.flows(indent) {
		f.newLine(indent)
	}
	f.buf = append(f.buf, end)
}

// scalar writes a value that is neither an array nor an object.
func (f *formatter) scalar(v state.Value) {
	if s, ok := v.AsString(); ok {
		f.text(s)
		return
	}
	if n, ok := v.AsNumber(); ok && f.most > 0 && len(n) > f.most {
		f.buf = append(append(f.buf, n[:f.most]...), "…"...)
		f.skipped += len(n) - f.most
		return
	}
	f.buf = v.AppendJSON(f.buf)
}

// text writes a string.
func (f *formatter) text(s string) {
	if f.most == 0 || len(s) <= f.most {
		f.buf = appendText(f.buf, s)
		return
	}
	n := f.most
	for n > f.most-utf8.UTFMax && !utf8.RuneStart(s[n]) {
		n--
	}
	f.buf = appendText(f.buf, s[:n])
	f.buf = append(f.buf[:len(f.buf)-1], `…"`...)
	f.skipped += len(s) - n
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

func appendText(dst []byte, s string) []byte { return jsontext.AppendString(dst, s) }

// fits returns how much of room columns is left after v on one line, a negative number if v does not fit.
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
	case state.KindNumber:
		n, _ := v.AsNumber()
		room -= len(n)
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
		if r == '"' || r == '\\' || r == '\n' {
			room--
		}
	}
	return room - term.Line(s).Columns()
}

// flat draws v on one line.
func flat(v state.Value) term.Text { return term.JSON(appendFlat(nil, v)) }

// brief draws the beginning of v, on few lines once it is wrapped.
func (p *page) brief(v state.Value) term.Text { return flat(v).Clip(4 * p.room()) }

// State draws a state, or any JSON value.
func (s Style) State(v state.Value) term.Text {
	p := s.page()
	p.value(v, s.limit(maxStateLines))
	return p.b.Text()
}

// Limits on what is drawn of a value or a text.
const (
	maxBytes       = 4 << 10  // of a tool result, arguments or an activity, unless Style.Full is set
	maxLines       = 14       // of the same
	maxStateLines  = 40       // of the state, unless Style.Full is set
	maxResultBytes = 1 << 20  // of a tool result that is looked at for JSON
	maxFull        = 16 << 20 // bytes that are drawn with Style.Full
	maxCounted     = 64_000   // bytes that are counted of what is left out
)

// value writes v in lines, at most limit of them; a negative limit means all, up to maxFull. It looks at little more of v
// than it writes, since a document may be far longer than what it takes in memory.
func (p *page) value(v state.Value, limit int) {
	most := maxBytes
	if limit < 0 {
		most = 0
	}
	lines, shown, left := 0, 0, 0
	formatLines(v, p.room(), most, func(line []byte, skipped int) bool {
		if limit >= 0 && lines >= limit || shown > maxFull {
			left += len(line) + 1 + skipped
			return left <= maxCounted
		}
		shown += len(p.indent.String()) + len(line) + 1
		text := term.JSON(line)
		if limit >= 0 {
			text = text.Clip(2 * p.room())
		}
		for row := range text.Wrap(p.room()) {
			lines++
			p.line(row)
		}
		return true
	})
	switch {
	case left > maxCounted:
		p.leftOut(term.Lit("more than ").Plus(size(maxCounted)))
	case left > 0:
		p.leftOut(size(left - 1))
	}
}

// limit is how many lines of something are drawn: all with Full.
func (s Style) limit(lines int) int {
	if s.Full {
		return -1
	}
	return lines
}
