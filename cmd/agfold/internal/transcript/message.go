package transcript

import (
	"fmt"
	"strings"

	"github.com/agfold/agfold/messages"
	"github.com/agfold/agfold/state"
)

// Message draws a message of the thread with its tool calls and their results. A tool message that answers
// a call of the thread is drawn with that call, and on its own gives "".
func (v *View) Message(m *messages.Message) string {
	if m.Role == messages.RoleTool && v.calls[m.ToolCallID] {
		return ""
	}
	p := v.page()
	depth := v.places[m.Owner].depth
	gutter := strings.Repeat(v.Paint(Dim, "│")+" ", depth)
	p.deeper(gutter, 2*depth, func() {
		p.line(v.heading(m))
		p.deeper("  ", 2, func() { v.body(p, m) })
	})
	return p.b.String()
}

// heading says who speaks.
func (v *View) heading(m *messages.Message) string {
	who, color := string(m.Role), Green
	switch m.Role {
	case messages.RoleUser:
		color = Blue
	case messages.RoleAssistant:
		color = Cyan
	case messages.RoleActivity:
		who, color = "activity "+CleanLine(m.ActivityType), Yellow
	case messages.RoleReasoning:
		color = Dim
	case messages.RoleTool:
		who = "tool result for " + CleanLine(m.ToolCallID)
	}
	if name, ok := m.Name.Get(); ok {
		who += " " + CleanLine(name)
	}
	who = v.Paint(color, who)
	if !m.Owner.IsParent() {
		who = v.Paint(Bold, v.owner(m.Owner)) + " › " + who
	}
	return who + v.Paint(Dim, " · "+CleanLine(m.ID))
}

func (v *View) body(p *page, m *messages.Message) {
	if m.Role == messages.RoleActivity {
		p.value(m.Activity, v.limit(maxLines))
	}
	if m.Role == messages.RoleTool {
		p.result(m)
	} else {
		p.content(m.Content, m.Role == messages.RoleReasoning)
	}
	for _, c := range m.ToolCalls.All() {
		v.call(p, c)
	}
	if secret, ok := m.EncryptedValue.Get(); ok {
		p.line(p.Paint(Dim, "(encrypted value, "+size(len(secret))+")"))
	}
	p.metadata(m.Metadata)
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
			p.line(p.Paint(Italic, medium(part)))
		}
		p.metadata(part.Metadata)
	}
}

// prose writes a text in full. Blank lines around it are left away.
func (p *page) prose(text string, faint bool) {
	text = strings.Trim(Clean(text), "\n")
	if text == "" {
		return
	}
	wrap(text, p.room(), func(line string) bool {
		if faint {
			line = p.Paint(Dim, line)
		}
		p.line(line)
		return true
	})
}

// medium says what a part is that cannot be drawn.
func medium(part messages.Part) string {
	s := part.Source
	from := ""
	switch s.Type {
	case messages.SourceData:
		from = size(len(s.Value)) + " of base64"
	case messages.SourceURL:
		from = cut(CleanLine(s.Value), 200)
	case messages.SourceFile:
		from = strings.TrimSpace(CleanLine(s.Provider.Or(""))+" file ") + " " + cut(CleanLine(s.Value), 200)
	}
	name := ""
	if filename, ok := part.Metadata.Get("filename").AsString(); ok {
		name = CleanLine(filename)
	}
	return fmt.Sprintf("[%s]", join(string(part.Type), name, CleanLine(s.MIMEType.Or("")), from))
}

// metadata writes metadata, if all is to be seen.
func (p *page) metadata(m messages.Metadata) {
	if !p.Full || m.Len() == 0 {
		return
	}
	p.line(p.Paint(Dim, "metadata"))
	p.deeper("  ", 2, func() { p.value(m.Value(), -1) })
}

// result writes the content of a tool message, as a value if it is a JSON object or array.
func (p *page) result(m *messages.Message) {
	if text, ok := m.Error.Get(); ok {
		p.block(p.Paint(Red, "error")+" "+Clean(text), p.limit(maxLines))
	}
	if m.Content.IsParts() {
		for _, part := range m.Content.Parts() {
			if part.Type == messages.PartText {
				p.text(part.Text)
			} else {
				p.line(p.Paint(Italic, medium(part)))
			}
		}
		return
	}
	p.text(m.Content.Text())
}

// text writes what a tool was given or gave, which is JSON more often than not.
func (p *page) text(s string) {
	if v := jsonOf(s); v.Exists() {
		p.value(v, p.limit(maxLines))
		return
	}
	if s = strings.Trim(Clean(s), "\n"); s != "" {
		p.block(s, p.limit(maxLines))
	}
}

// jsonOf returns the JSON object or array that a text is, absent if it is none or too long to look.
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

// count writes a number of things.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
