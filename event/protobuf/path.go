package protobuf

import (
	"strconv"

	"github.com/agfold/agfold/event"
	"github.com/agfold/agfold/state"
)

// place is where an encoder or decoder is in an event, and what it warns about.
type place struct {
	typ      string // of the event
	rule     string // that warnings are under
	steps    []step
	warnings []event.Warning
	warned   int // bytes of their paths and texts
	more     int // warnings that are not listed
}

// step leads into a member, or an element if name is "" and it is one.
type step struct {
	name    string
	index   int
	element bool
}

func (p *place) push(name string) { p.steps = append(p.steps, step{name: name}) }
func (p *place) pushIndex(i int)  { p.steps = append(p.steps, step{index: i, element: true}) }
func (p *place) pop()             { p.steps = p.steps[:len(p.steps)-1] }

// pointer returns the place as a JSON pointer.
func (p *place) pointer() string {
	tokens := make([]string, len(p.steps))
	for i, s := range p.steps {
		tokens[i] = s.name
		if s.element {
			tokens[i] = strconv.Itoa(s.index)
		}
	}
	return state.Pointer(tokens...)
}

// What is said about one event is bounded by the number of warnings, and by the bytes of their paths and texts: the warning
// that reaches either bound is the last one that is listed.
const (
	maxWarnings = 100
	maxWarned   = 64 << 10
)

// warn says something about the place.
func (p *place) warn(text string) {
	if len(p.warnings) >= maxWarnings || p.warned >= maxWarned {
		p.more++
		return
	}
	w := event.Warning{Rule: p.rule, Type: p.typ, Path: p.pointer(), Text: text}
	p.warned += len(w.Path) + len(w.Text)
	p.warnings = append(p.warnings, w)
}

// all returns the warnings; the last one says how many are not listed.
func (p *place) all() []event.Warning {
	if p.more > 0 {
		return append(p.warnings, event.Warning{Rule: p.rule, Type: p.typ, Text: strconv.Itoa(p.more) + " more, which are not listed"})
	}
	return p.warnings
}

// shorten cuts what a producer wrote to a length that is fit for a line.
func shorten(s string) string {
	const longest = 40
	if len(s) <= longest {
		return s
	}
	return s[:longest] + "…"
}
