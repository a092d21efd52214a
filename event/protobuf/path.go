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

// maxWarnings bounds what is said about one event.
const maxWarnings = 100

// warn says something about the place.
func (p *place) warn(text string) {
	if len(p.warnings) >= maxWarnings {
		p.more++
		return
	}
	p.warnings = append(p.warnings, event.Warning{Rule: p.rule, Type: p.typ, Path: p.pointer(), Text: text})
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
