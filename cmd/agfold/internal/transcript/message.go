package transcript

import (
	"strings"

	"github.com/agfold/agfold/cmd/agfold/internal/term"
	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/reducer"
	"github.com/agfold/agfold/state"
)

// Message draws a message of the thread with its tool calls. A tool message that directly follows the message whose
// call it answers is drawn with that call, so Message returns nothing for it; any other tool message is drawn on its own.
func (v *View) Message(m *messages.Message) term.Text {
	if v.nested[m] {
		return term.Text{}
	}
	return v.message(m)
}

func (v *View) message(m *messages.Message) term.Text {
	return v.under(m, func(p *page) { v.body(p, m) })
}

// under draws something below the heading of a message.
func (v *View) under(m *messages.Message, draw func(*page)) term.Text {
	p := v.page()
	p.deeper(v.gutter(m.Owner), func() {
		p.wrap(v.heading(m))
		p.deeper(tab, func() { draw(p) })
	})
	return p.b.Text()
}

// gutter returns what precedes the lines of an owner's messages.
func (v *View) gutter(o messages.Owner) term.Text {
	return v.paint(term.Dim, term.Lit("│")).Plus(term.Lit(" ")).Repeat(v.place(o).depth)
}

// heading says who speaks.
func (v *View) heading(m *messages.Message) term.Text {
	who, color := name(string(m.Role)), term.Green
	switch m.Role {
	case messages.RoleUser:
		color = term.Blue
	case messages.RoleAssistant:
		color = term.Cyan
	case messages.RoleActivity:
		who, color = term.Sprintf("activity %s", name(m.ActivityType)), term.Yellow
	case messages.RoleReasoning:
		color = term.Dim
	case messages.RoleTool:
		who = term.Lit("tool result for ").Plus(v.callName(m.ToolCallID))
	}
	if n, ok := m.Name.Get(); ok {
		who = who.Plus(term.Lit(" "), name(n))
	}
	who = v.paint(color, who)
	if !m.Owner.IsParent() {
		who = v.paint(term.Bold, v.place(m.Owner).name).Plus(term.Lit(" › "), who)
	}
	return who.Plus(v.paint(term.Dim, dot.Plus(name(m.ID))))
}

func (v *View) body(p *page, m *messages.Message) {
	switch m.Role {
	case messages.RoleActivity:
		p.value(m.Activity, v.limit(maxLines))
	case messages.RoleTool:
		p.result(m)
	default:
		p.content(m.Content, m.Role == messages.RoleReasoning)
	}
	if m.Cut {
		p.cutOff()
	}
	for _, c := range m.ToolCalls.All() {
		v.call(p, c)
	}
	p.encrypted(m.EncryptedValue)
	p.metadata(m.Metadata)
}

// cutOff says that a text was cut off.
func (p *page) cutOff() { p.line(p.paint(term.Yellow, term.Lit("… cut off here"))) }

// over reports whether the thread's last run has ended.
func (v *View) over() bool {
	return v.thread != nil && v.thread.Status() != reducer.Running && v.thread.Status() != reducer.Empty
}

func (p *page) encrypted(value messages.Opt[string]) {
	if secret, ok := value.Get(); ok {
		p.line(p.paint(term.Dim, term.Sprintf("(encrypted value, %s)", size(len(secret)))))
	}
}

// content writes what a message says.
func (p *page) content(c messages.Content, faint bool) {
	if !c.IsParts() {
		p.prose(c.Text(), faint)
		return
	}
	for _, part := range c.Parts() {
		if part.Type == messages.PartText {
			p.prose(part.Text, faint)
		} else {
			p.wrap(p.paint(term.Italic, medium(part)))
		}
		p.metadata(part.Metadata)
	}
}

// prose writes a text in full. Blank lines around it are left out.
func (p *page) prose(text string, faint bool) {
	text = strings.Trim(text, "\n")
	if text == "" {
		return
	}
	for line := range term.Clean(text).Wrap(p.room()) {
		if faint {
			line = p.paint(term.Dim, line)
		}
		p.line(line)
	}
}

// medium describes a part that cannot be drawn.
func medium(part messages.Part) term.Text {
	const long = 200
	s := part.Source
	var from term.Text
	switch s.Type {
	case messages.SourceData:
		from = size(len(s.Value)).Plus(term.Lit(" of base64"))
	case messages.SourceURL:
		from = term.URL(s.Value).Clip(long)
	case messages.SourceFile:
		from = term.Join(term.Lit(" "), name(s.Provider.Or("")), term.Lit("file"), term.Line(s.Value).Clip(long))
	}
	var filename term.Text
	if s, ok := part.Metadata.Get("filename").AsString(); ok {
		filename = name(s)
	}
	return term.Sprintf("[%s]", term.Join(dot, name(string(part.Type)), filename, name(s.MIMEType.Or("")), from))
}

// metadata writes metadata, if Full is set.
func (p *page) metadata(m messages.Metadata) {
	if !p.Full || m.Len() == 0 {
		return
	}
	p.line(p.paint(term.Dim, term.Lit("metadata")))
	p.deeper(tab, func() { p.value(m.Value(), -1) })
}

// result writes the content of a tool message, as a value if it is a JSON object or array.
func (p *page) result(m *messages.Message) {
	if text, ok := m.Error.Get(); ok {
		p.block(p.paint(term.Red, term.Lit("error")).Plus(term.Lit(" ")), text)
	}
	if !m.Content.IsParts() {
		p.text(m.Content.Text())
		return
	}
	for _, part := range m.Content.Parts() {
		if part.Type == messages.PartText {
			p.text(part.Text)
		} else {
			p.wrap(p.paint(term.Italic, medium(part)))
		}
	}
}

// text writes the arguments or the result of a tool, which are usually JSON.
func (p *page) text(s string) {
	if v := jsonOf(s); v.Exists() {
		p.value(v, p.limit(maxLines))
	} else if s = strings.Trim(s, "\n"); s != "" {
		p.block(term.Text{}, s)
	}
}

// block writes a text after a label. Unless Full is set it writes at most maxLines lines and maxBytes, and says how
// much it left out.
func (p *page) block(label term.Text, text string) {
	shown, limit := text, p.limit(maxLines)
	if limit >= 0 && len(shown) > maxBytes {
		shown = strings.ToValidUTF8(shown[:maxBytes], "")
	}
	lines, drawn := 0, 0
	whole := true
	for line := range label.Plus(term.Clean(shown)).Wrap(p.room()) {
		if lines == limit {
			whole = false
			break
		}
		lines++
		drawn += len(line.String()) + 1
		p.line(line)
	}
	if whole {
		drawn = len(shown)
	}
	if left := len(text) - drawn; left > 0 {
		p.leftOut(size(left))
	}
}

func (p *page) leftOut(size term.Text) {
	p.line(p.paint(term.Dim, term.Sprintf("… %s left out", size)))
}

// jsonOf returns the JSON object or array that a text is, absent if it is neither or is too long to parse.
func jsonOf(s string) state.Value {
	s = strings.TrimSpace(s)
	if len(s) < 2 || len(s) > maxResultBytes || s[0] != '{' && s[0] != '[' {
		return state.Value{}
	}
	v, err := state.Parse([]byte(s))
	if err != nil {
		return state.Value{}
	}
	return v
}
